/**
 * What was observed of a cluster as a scenario: an experiment that begins where the cluster stood. What cannot be observed is assumed,
 * and every assumption is listed in the scenario itself.
 */
import { fail, ok, type Result } from '../base/result.ts'
import { utc } from '../emulator/calendar.ts'
import { readScenarioText, type JobScenario, type Scenario } from '../emulator/scenario.ts'
import { clientNumbers, type ClientNumbers } from './fork-clients.ts'
import { fitDevice, type FittedDevice } from './fork-device.ts'
import { fold, type Folded } from './fork-fold.ts'
import type { ForkInputs, ForkJob } from './fork-inputs.ts'
import { forkJob, round3, weightOf, type JobText } from './fork-jobs.ts'
import { knowledgeOf } from './fork-knowledge.ts'
import { fittedSizes } from './model-range.ts'
import { hostNameOf, serverNames, targetNames } from './fork-names.ts'
import { outstandingOf } from './fork-outstanding.ts'
import { carriedSections, type CarriedSections } from './fork-sections.ts'
import { commonPolicy, serverTexts, takenRules, type Names } from './fork-servers.ts'
import { meanOr0 } from './fork-series.ts'
import { forkText } from './fork-text.ts'

/** RPCs that one run may simulate. */
export const RPC_BUDGET = 40_000
/** Simulated seconds that the budget is for, where the stretch is shorter. */
const RUN_S = 60
const JOBS_MAX = 2_000
const NETWORK_MB_S = 2_500
const SLOTS = { least: 8, open: 64, most: 256 } as const
/** As a scenario takes it. */
const THINNING_MAX = 1e6
const PERIOD_MS = { least: 50, most: 10_000 } as const

export interface Fork {
  readonly text: string
  readonly scenario: Scenario
  readonly thinning: number
  readonly devices: ReadonlyMap<string, FittedDevice>
}

/**
 * Makes the scenario.
 *
 * Failures: FORK_EMPTY: nothing did anything; FORK_NO_TARGETS: no OST is known; FORK_INVALID: what came out is no scenario, which
 * is a fault of this program.
 */
export function forkScenario(inputs: ForkInputs, options: { readonly jobsMax?: number } = {}): Result<Fork> {
  const folded = fold(playable(inputs), options.jobsMax ?? JOBS_MAX)
  if (folded.jobs.length === 0) {
    return fail({
      code: 'FORK_EMPTY',
      what: 'There is nothing to fork',
      why: `no job did anything in the ${Math.round(inputs.spanS)} s before`,
      unaffected: 'The cluster goes on as it is.',
      next: 'Wait for a job, move the cursor to a busier minute, or open a scenario of the gallery.',
    })
  }
  if (inputs.targets.length === 0) {
    const what = 'There is nothing to fork'
    return fail({ code: 'FORK_NO_TARGETS', what, why: 'no OST was read', next: 'Wait until a server answers.' })
  }
  const full = make(inputs, folded, true)
  if (full.ok) return full
  // What an emulated source adds may not fit what was observed of it; the rest stands without it.
  return inputs.scenario ? make(inputs, folded, false) : full
}

/** ISO 8601 in UTC; before 1970 there was no cluster. */
function isoOf(unixMs: number): string {
  const ms = Math.max(0, Math.floor(unixMs))
  const { date, time } = utc(Math.floor(ms / 1000))
  return `${date}T${time}.${String(ms % 1000).padStart(3, '0')}Z`
}

/** Metadata of a cluster whose MDTs are not read cannot be played. */
const playable = ({ jobs, mdts }: ForkInputs): readonly ForkJob[] =>
  mdts.length > 0 ? jobs : jobs.map((j) => ({ ...j, mdops: j.mdops.map(() => 0) }))

function make(inputs: ForkInputs, folded: Folded, withSections: boolean): Result<Fork> {
  const devices = new Map(inputs.targets.map((t) => [t.name, fitDevice(t, inputs.control.maxRate)]))
  const names = {
    servers: serverNames(inputs.servers),
    targets: targetNames([...inputs.targets, ...inputs.mdts].map((t) => t.name)),
  }
  const sections = carriedSections(withSections ? inputs.scenario : undefined)
  const clients = clientNumbers(folded.jobs, sections.clients)
  const jobs = jobTexts(inputs, folded, names, clients, sections)
  const rules = takenRules(inputs, names)
  const rate = folded.jobs.reduce((n, j) => n + weightOf(j), 0)
  const lengthS = inputs.binAtS.length * inputs.binS
  const wanted = Math.ceil((rate * (inputs.isReplay ? lengthS : RUN_S)) / RPC_BUDGET)
  const thinning = Math.min(THINNING_MAX, Math.max(1, wanted))
  const known = knowledgeOf(inputs, {
    ...{ devices, folded, thinning, sections: sections.said },
    refusedRules: inputs.rules.length - rules.length,
  })
  const rpcsOf = new Map(folded.jobs.map((j) => [j.jobId, meanOr0(j.rpcs)]))
  const sizes = fittedSizes(jobs.map((j) => ({ kib: j.size_kib ?? 0, rpcs: rpcsOf.get(j.id) ?? 0 })))
  const text = forkText({
    title: `Fork of ${inputs.cluster}`.slice(0, 80),
    cluster: hostNameOf(inputs.cluster, 'fork'),
    seed: 1,
    epoch_s: Math.max(0, Math.floor(inputs.atMs / 1000)),
    policy: commonPolicy(inputs.servers),
    thinning,
    fork: {
      cluster: inputs.cluster.slice(0, 128) || 'cluster',
      at: isoOf(inputs.atMs),
      span_s: Math.max(0.001, lengthS),
      workload: inputs.workload,
      ...(sizes ? { size_kib: sizes } : {}),
      unknown: known.unknown,
      in_range: known.inRange,
    },
    clients: {
      count: clients.count,
      network_mb_s: NETWORK_MB_S,
      max_rpcs_in_flight: inputs.workload === 'open' ? SLOTS.open : slotsFor(jobs, inputs.targets.length),
    },
    ...serverTexts(inputs, devices, names),
    control: controlText(inputs),
    ...(rules.length > 0 ? { rules } : {}),
    ...sections.texts,
    jobs,
  })
  const read = readScenarioText(text)
  if (read.ok) return ok({ text, scenario: read.value, thinning, devices })
  const [first] = read.error
  return fail({
    code: 'FORK_INVALID',
    what: 'The fork is no scenario',
    why: `line ${first?.line ?? 0}: ${first?.message ?? ''}`,
    unaffected: 'The cluster goes on as it is.',
    next: 'Report it with this line.',
  })
}

function jobTexts(
  inputs: ForkInputs,
  folded: Folded,
  names: Names,
  clients: ClientNumbers,
  { staged }: CarriedSections,
): JobText[] {
  const outstanding = outstandingOf({ jobs: folded.jobs, targets: inputs.targets })
  const perOp = inputs.mdts.map((m) => m.perOpUs).filter((us) => !Number.isNaN(us))
  const metadataS = (perOp.length > 0 ? perOp.reduce((a, b) => a + b, 0) / perOp.length : 220) / 1e6
  const known = { ost: new Set(inputs.targets.map((t) => t.name)), mdt: new Set(inputs.mdts.map((t) => t.name)) }
  return folded.jobs.map((job) => {
    const place = {
      clients: clients.of.get(job.jobId) ?? [1],
      outstanding: outstanding.get(job.jobId) ?? 0,
      metadataS,
    }
    // A kind that it needs and was not seen on is all of that kind.
    const kinds = [
      { all: known.ost, rate: meanOr0(job.rpcs) },
      { all: known.mdt, rate: meanOr0(job.mdops) },
    ].filter((k) => k.rate > 0)
    const mine = kinds.map(({ all }) => {
      const own = job.targets.filter((t) => all.has(t))
      return own.length > 0 ? own : [...all]
    })
    const isAll = kinds.every(({ all }, i) => mine[i]?.length === all.size)
    const text = forkJob(job, place, inputs, isAll ? [] : mine.flat().map((t) => names.targets.get(t) as string))
    const model = staged.get(job.jobId)
    return model ? stagedText(text, model) : text
  })
}

/** A job behind stages does what its scenario says, at the pace that was observed. */
function stagedText(text: JobText, { op, stages, targets, size_kib }: JobScenario): JobText {
  const most = text.clients.length * (stages?.per_client ?? 1)
  const { targets: _, size_kib: __, ...rest } = text
  return {
    ...rest,
    op,
    ...(targets.length > 0 ? { targets } : {}),
    ...(size_kib > 0 ? { size_kib } : {}),
    processes: Math.max(text.processes, most),
    stages,
  }
}

/** Slots of a client to a target that what was under way needs. */
function slotsFor(jobs: readonly JobText[], targets: number): number {
  const needed = jobs.map((j) => {
    const spread = Math.min(j.processes, j.clients.length) * Math.max(1, j.targets?.length ?? targets)
    return Math.ceil((j.processes * j.outstanding) / spread)
  })
  return Math.min(SLOTS.most, Math.max(SLOTS.least, ...needed))
}

function controlText({ control }: ForkInputs): Record<string, unknown> {
  const { controller, mode, maxRate, periodMs, options, metadata } = control
  return {
    controller,
    mode,
    max_rate: round3(Math.min(1e9, maxRate)),
    period_ms: Math.min(PERIOD_MS.most, Math.max(PERIOD_MS.least, Math.round(periodMs))),
    adaptbf: {
      demand: options.demand,
      deadband_percent: options.deadbandPercent,
      coefficient: options.coefficient,
      overdraft: options.overdraft,
      auto_t: options.autoT,
    },
    ...(metadata === undefined ? {} : { metadata }),
  }
}
