/** IV-G: cost of the allocation and of the framework, in time and memory. The only AdapTBF experiment that depends on a clock. */
import { randomStream, type RandomStream } from '../../base/random.ts'
import { invariant } from '../../base/result.ts'
import { median } from '../../base/statistics.ts'
import { NS_PER_S } from '../../base/units.ts'
import { TokenAllocator } from '../../adaptbf/allocation.ts'
import { AdapTbfController } from '../../adaptbf/controller.ts'
import { DEFAULT_LOOP_OPTIONS } from '../../adaptbf/loop-options.ts'
import { JobLedger } from '../../adaptbf/job-ledger.ts'
import { ControlSteps } from '../../control/control-step.ts'
import { LIVE_FENCES } from '../../control/fences.ts'
import { ADAPTBF } from '../../controllers/registry.ts'
import { NrsService } from '../../tbf/nrs-service.ts'
import type { Experiment, Host } from '../experiment.ts'
import { claimsOf, numbered } from './expectations.ts'

const JOBS = 1000
/** Number of jobs in all experiments of the paper. */
const FEW_JOBS = 4
/** Periods before and in each of the measurements; their median counts. */
const WARM_UP = 200
const PERIODS = 50
const MEASUREMENTS = 9
/** Periods of the framework: before the measurement, and measured. */
const FRAMEWORK_PERIODS = { warmUp: 25, measured: 11 } as const

/** Results in the order of the claims. */
type Costs = readonly number[]

export const ivG: Experiment<Costs> = {
  id: 'adaptbf.IV-G',
  system: ADAPTBF,
  title: 'Overhead of the token allocation and the framework',
  setup: [
    'Allocation: all three steps for 1000 active jobs that lend and borrow, on this machine, compiled code warm; collecting, ' +
      'writing rules and the ledger of pairs are not part of it.',
    'Framework: decision with the ledger of pairs, plan against the rules in force, and the text of its commands, for 4 and for ' +
      '1000 jobs whose rates change, the shortest of 11 periods; reading job_stats and running lctl on the server are not part of it.',
    'Memory: values that an allocator saves for each job, and bytes of its columns in the ledger with a JobID of 16 characters.',
  ],
  expectations: claimsOf('IV-G'),
  parts: [
    { id: 'adaptbf/IV-G/allocation', run: (seed, { now }) => [microsecondsPerJob(seed, now)] },
    { id: 'adaptbf/IV-G/framework', run: frameworkCosts },
    { id: 'adaptbf/IV-G/memory', isSeedless: true, run: () => [valuesPerJob(), bytesPerJob()] },
  ],
  measure(runs) {
    const of = (part: string): Costs => runs.get(`adaptbf/IV-G/${part}`) ?? []
    const [allocationUs = NaN] = of('allocation')
    const [fewMs = NaN, manyMs = NaN] = of('framework')
    const [values = NaN, bytes = NaN] = of('memory')
    return numbered('IV-G', { 1: allocationUs, 2: manyMs, 3: manyMs / fewMs, 4: values, 5: bytes, 6: fewMs })
  },
  figures: () => [],
}

const jobId = (at: number): string => `${100_000 + at}.app.u1000`

function microsecondsPerJob(seed: number, now: () => number): number {
  const draw = randomStream(seed, 'overhead')
  const nodes = Array.from({ length: JOBS }, () => 1 + draw.below(64))
  const periods = Array.from({ length: 8 }, () =>
    nodes.map((n, at) => ({ id: `job-${at}`, nodes: n, demand: 1 + draw.below(40) })),
  )
  const allocator = new TokenAllocator()
  const run = (count: number): void => {
    for (let period = 0; period < count; period++) {
      allocator.step({ maxRatePerSec: 200 * JOBS, dtSeconds: 0.1, jobs: periods[period % periods.length]! })
    }
  }
  run(WARM_UP)
  const costs = Array.from({ length: MEASUREMENTS }, () => {
    const start = now()
    run(PERIODS)
    return ((now() - start) * 1000) / (PERIODS * JOBS)
  })
  return median(costs)
}

/** Time of a period of the framework for few and for many jobs, ms: the shortest, as other processes only add to it. */
function frameworkCosts(seed: number, host: Host): Costs {
  const draw = randomStream(seed, 'framework')
  return [FEW_JOBS, JOBS].map((jobs) => frameworkMs(jobs, draw, host))
}

/** Time from the counts of a period to the text of its rule commands, ms. */
function frameworkMs(count: number, draw: RandomStream, { now }: Host): number {
  const { demand } = DEFAULT_LOOP_OPTIONS
  const controller = new AdapTbfController({ maxRatePerSec: 200 * count, demand })
  const nrs = new NrsService({ cpts: 1, hp: false })
  invariant(nrs.writePolicies('tbf jobid').ok, 'the service runs tbf jobid')
  const fences = { ...LIVE_FENCES, shadowNs: 0 }
  const steps = new ControlSteps({ controller: ADAPTBF, fences, periodNs: NS_PER_S, deadbandPercent: 0 }, 'enforce', 0)
  const nodes = Array.from({ length: count }, () => 1 + draw.below(64))
  const costs: number[] = []
  for (let period = 1; period <= FRAMEWORK_PERIODS.warmUp + FRAMEWORK_PERIODS.measured; period++) {
    const atNs = period * NS_PER_S
    const jobs = nodes.map((n, at) => ({ jobId: jobId(at), nodes: n, served: 1 + draw.below(400) }))
    const rules = nrs.rules()
    const start = now()
    const served = new Map(jobs.map((job) => [job.jobId, job.served]))
    const seen = {
      server: 'oss01',
      rules,
      targets: [{ target: 'OST0000', deltas: jobs }],
      servedPerSec: (id: string) => served.get(id) ?? 0,
      isSystem: () => false,
    }
    const decide = (): ReturnType<typeof controller.step>[] => [
      controller.step({ target: 'OST0000', atNs, periodNs: NS_PER_S, jobs }),
    ]
    const { commands } = steps.take(seen, { decide, hold: () => [] }, atNs).plan
    const text = commands.map(({ value }) => value).join('\n')
    if (period > FRAMEWORK_PERIODS.warmUp) costs.push(now() - start)
    for (const line of text.split('\n')) if (line !== '') nrs.writeRule(line)
  }
  return Math.min(...costs)
}

/** Values that one job needs from one period to the next: the fields of its saved state. */
function valuesPerJob(): number {
  const allocator = new TokenAllocator()
  allocator.step({ maxRatePerSec: 1000, dtSeconds: 0.1, jobs: [{ id: jobId(0), nodes: 1, demand: 1 }] })
  return Object.keys(allocator.save().jobs[0]!).length
}

/** Bytes of one job in the ledger: an element of each of its columns, the mark of the last list, and the JobID in Latin-1. */
function bytesPerJob(): number {
  const columns = Object.values(new JobLedger()).filter((column) => column instanceof Float64Array)
  const ofColumns = (columns.length + 1) * Float64Array.BYTES_PER_ELEMENT
  return ofColumns + jobId(0).length
}
