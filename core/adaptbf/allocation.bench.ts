import { randomStream } from '../base/random.ts'
import { TokenAllocator } from './allocation.ts'
import { AdapTbfController } from './controller.ts'
import type { PeriodJob } from './job-ledger.ts'
import { PairLedger } from './pair-ledger.ts'

/** One measurement, to be repeated by the runner; `now` in ms. */
export interface Bench {
  readonly id: string
  readonly unit: string
  readonly note?: string
  run(now: () => number): number
}

const PERIODS = 8
/** Job-periods of one measurement: enough that compiled code and not the compiler is timed; fewer where each costs more. */
const ALLOCATOR_JOB_PERIODS = 400_000
const OTHER_JOB_PERIODS = 50_000
const SIZES = [1_000, 3_000, 10_000, 30_000, 100_000] as const

/** Periods of lenders and borrowers; the same jobs in each, listed in the same order. */
function periodsOf(count: number): PeriodJob[][] {
  const draw = randomStream(7, `bench/${count}`)
  const nodes = Array.from({ length: count }, () => 1 + draw.below(64))
  return Array.from({ length: PERIODS }, () =>
    nodes.map((n, at) => ({ id: `job-${at}.node${at % 97}`, nodes: n, demand: 1 + draw.below(40) })),
  )
}

/** ns per job and period of `step`, over as many periods as make a measurement. */
function timed(jobPeriods: number, count: number, now: () => number, step: (period: number) => void): number {
  const rounds = Math.max(1, Math.round(jobPeriods / count))
  const start = now()
  for (let round = 0; round < rounds; round++) step(round % PERIODS)
  return ((now() - start) * 1e6) / (rounds * count)
}

/** A run for one size; its jobs are made when it is first called. */
function allocatorRun(count: number): (now: () => number) => number {
  let periods: PeriodJob[][] | undefined
  const allocator = new TokenAllocator()
  return (now) => {
    const all = (periods ??= periodsOf(count))
    const maxRatePerSec = 200 * count
    return timed(ALLOCATOR_JOB_PERIODS, count, now, (period) =>
      allocator.step({ maxRatePerSec, dtSeconds: 0.1, jobs: all[period]! }),
    )
  }
}

/** The exponent k of cost = c * jobs^k, fitted through all sizes on logarithmic axes: 1 is linear. */
function benchExponent(): Bench {
  const runs = SIZES.map((count) => ({ count, run: allocatorRun(count) }))
  return {
    id: 'adaptbf.allocate.exponent',
    unit: 'exponent',
    note: `cost = c * jobs^k, ${SIZES[0]} to ${SIZES.at(-1)!} jobs`,
    run(now) {
      const points = runs.map(({ count, run }) => ({ x: Math.log(count), y: Math.log(count * run(now)) }))
      const mean = (of: (p: { x: number; y: number }) => number): number =>
        points.reduce((sum, p) => sum + of(p), 0) / points.length
      const [x0, y0] = [mean(({ x }) => x), mean(({ y }) => y)]
      return mean(({ x, y }) => (x - x0) * (y - y0)) / mean(({ x }) => (x - x0) ** 2)
    },
  }
}

/** The ledger of pairs alone: what a period lends and reclaims, attributed. */
function benchPairs(count: number): Bench {
  const draw = randomStream(7, `pairs/${count}`)
  const ids = Array.from({ length: count }, (_, at) => `job-${at}`)
  const periods = Array.from({ length: PERIODS }, () => {
    const deltas = Float64Array.from(ids, () => draw.below(31) - 15)
    deltas[0]! -= deltas.reduce((sum, delta) => sum + delta, 0)
    return deltas
  })
  const pairs = new PairLedger()
  let atNs = 0
  return {
    id: `adaptbf.pairs.${count}`,
    unit: 'ns/job',
    run: (now) => timed(OTHER_JOB_PERIODS, count, now, (period) => pairs.enter((atNs += 1e8), ids, [periods[period]!])),
  }
}

function benchController(count: number): Bench {
  const observations = periodsOf(count).map((jobs) => ({
    target: 'bench-OST0000',
    atNs: 0,
    periodNs: 1e8,
    jobs: jobs.map(({ id, nodes, demand }) => ({ jobId: id, nodes, served: demand })),
  }))
  const controller = new AdapTbfController({ maxRatePerSec: 200 * count })
  return {
    id: `adaptbf.control.${count}`,
    unit: 'ns/job',
    run: (now) => timed(OTHER_JOB_PERIODS, count, now, (period) => controller.step(observations[period]!)),
  }
}

/** ns per job and period: the allocator alone and how it grows, the ledger of pairs alone, the whole controller step. */
export const benches: readonly Bench[] = [
  ...SIZES.map((count) => ({ id: `adaptbf.allocate.${count}`, unit: 'ns/job', run: allocatorRun(count) })),
  benchExponent(),
  ...[100, 1_000, 10_000].map(benchPairs),
  ...[1_000, 10_000, 100_000].map(benchController),
]
