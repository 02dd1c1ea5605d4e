/** Cost per job and period of AdapTBF: the allocator alone and its growth, the pair ledger alone, the whole controller step. */
import type { Bench, Growth } from '../../bench/measure.ts'
import { randomStream } from '../base/random.ts'
import { TokenAllocator } from './allocation.ts'
import { AdapTbfController } from './controller.ts'
import type { PeriodJob } from './job-ledger.ts'
import { PairLedger } from './pair-ledger.ts'

const PERIODS = 8
/** Job-periods of one measurement: enough to time compiled code instead of the compiler; fewer where each costs more. */
const ALLOCATOR_JOB_PERIODS = 400_000
const OTHER_JOB_PERIODS = 50_000
const SIZES: readonly number[] = [1_000, 3_000, 10_000, 30_000, 100_000]

const made = new Map<number, PeriodJob[][]>()

/** Periods with lenders and borrowers; the same jobs in each, in the same order. Built on first use. */
function periodsOf(count: number): PeriodJob[][] {
  const known = made.get(count)
  if (known) return known
  const draw = randomStream(7, `bench/${count}`)
  const nodes = Array.from({ length: count }, () => 1 + draw.below(64))
  const periods = Array.from({ length: PERIODS }, () =>
    nodes.map((n, at) => ({ id: `job-${at}.node${at % 97}`, nodes: n, demand: 1 + draw.below(40) })),
  )
  made.set(count, periods)
  return periods
}

/** Time of `step`, ns per job and period, over a full measurement. */
function timed(jobPeriods: number, count: number, now: () => number, step: (period: number) => void): number {
  const rounds = Math.max(1, Math.round(jobPeriods / count))
  const start = now()
  for (let round = 0; round < rounds; round++) step(round % PERIODS)
  return ((now() - start) * 1e6) / (rounds * count)
}

/** A run for one size. */
function allocatorRun(count: number): (now: () => number) => number {
  const allocator = new TokenAllocator()
  return (now) => {
    const all = periodsOf(count)
    const maxRatePerSec = 200 * count
    return timed(ALLOCATOR_JOB_PERIODS, count, now, (period) =>
      allocator.step({ maxRatePerSec, dtSeconds: 0.1, jobs: all[period]! }),
    )
  }
}

/** Lower bound of an allocator: adds up demand and nodes of the same jobs and divides by nodes. */
function sharesRun(count: number): (now: () => number) => number {
  const shares = new Float64Array(count)
  return (now) => {
    const all = periodsOf(count)
    return timed(ALLOCATOR_JOB_PERIODS, count, now, (period) => {
      const jobs = all[period] ?? []
      let nodes = 0
      let demand = 0
      for (const job of jobs) {
        nodes += job.nodes ?? 1
        demand += job.demand
      }
      for (const [i, job] of jobs.entries()) shares[i] = Math.min(demand, 20 * count) * ((job.nodes ?? 1) / nodes)
    })
  }
}

/** Growth of a whole period with the number of jobs. */
function growthOf(id: string, run: (count: number) => (now: () => number) => number, note: string): Growth {
  const runs = new Map(SIZES.map((count) => [count, run(count)]))
  return {
    id,
    unit: 'exponent',
    sizes: SIZES,
    axis: 'size',
    must: { most: 1.15 },
    note,
    paper: 'linear in active jobs',
    cost: (now, count) => count * (runs.get(count)?.(now) ?? NaN),
    limit: 'linear work; the records of the largest sizes no longer fit the caches',
  }
}

/** The pair ledger alone: attributes the tokens lent and reclaimed in a period. */
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
    note: `who owes whom after a period in which all of ${count} jobs lend or borrow`,
    limit:
      'what each borrower has of each lender is apportioned to whole tokens, and what is owed is paid pair by pair',
    run: (now) => timed(OTHER_JOB_PERIODS, count, now, (period) => pairs.enter((atNs += 1e8), ids, [periods[period]!])),
  }
}

function benchController(count: number): Bench {
  const observed = () =>
    periodsOf(count).map((jobs) => ({
      target: 'bench-OST0000',
      atNs: 0,
      periodNs: 1e8,
      jobs: jobs.map(({ id, nodes, demand }) => ({ jobId: id, nodes, served: demand })),
    }))
  let observations: ReturnType<typeof observed> | undefined
  const controller = new AdapTbfController({ maxRatePerSec: 200 * count })
  return {
    id: `adaptbf.control.${count}`,
    unit: 'ns/job',
    note: 'observation, allocation, ledger and pairs of one period',
    paper: 'under 30,000 ns a job (arXiv 2602.22409)',
    limit: 'the ledger of pairs is most of it',
    run: (now) => {
      const all = (observations ??= observed())
      return timed(OTHER_JOB_PERIODS, count, now, (period) => controller.step(all[period]!))
    },
  }
}

export const benches: readonly (Bench | Growth)[] = [
  ...SIZES.map((count) => ({
    id: `adaptbf.allocate.${count}`,
    unit: 'ns/job',
    run: allocatorRun(count),
    baseline: sharesRun(count),
    ...(count === 1000 && { must: { most: 500 } }),
    note: 'initial shares, redistribution, reclaim and remainders of one period',
    beside: 'shares by nodes alone: no lending, no remainders, no records',
    paper: 'under 30,000 ns a job (arXiv 2602.22409)',
    limit: 'a job is looked up by its name, then passes through the three steps and the carry of remainders',
  })),
  growthOf(
    'adaptbf.allocate.growth',
    allocatorRun,
    `time of a period over ${SIZES[0]} to ${SIZES.at(-1)} jobs; the bound is our own target`,
  ),
  ...[100, 1_000, 10_000].map(benchPairs),
  ...[1_000, 10_000, 100_000].map(benchController),
]
