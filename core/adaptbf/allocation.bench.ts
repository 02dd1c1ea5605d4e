import { randomStream } from '../base/random.ts'
import { TokenAllocator } from './allocation.ts'
import { AdapTbfController } from './controller.ts'
import type { PeriodJob } from './job-ledger.ts'

/** One measurement, to be repeated by the runner; `now` in ms. */
export interface Bench {
  readonly id: string
  readonly unit: string
  run(now: () => number): number
}

const PERIODS = 8

/** Periods of lenders and borrowers; the same jobs in each, in an order of their own. */
function periodsOf(count: number): PeriodJob[][] {
  const draw = randomStream(7, `bench/${count}`)
  const nodes = Array.from({ length: count }, () => 1 + draw.below(64))
  return Array.from({ length: PERIODS }, () =>
    nodes.map((n, at) => ({ id: `job-${at}.node${at % 97}`, nodes: n, demand: 1 + draw.below(40) })),
  )
}

function benchAllocator(count: number): Bench {
  const periods = periodsOf(count)
  const allocator = new TokenAllocator()
  const maxRatePerSec = 200 * count
  return {
    id: `adaptbf.allocate.${count}`,
    unit: 'ns/job',
    run(now) {
      const start = now()
      for (const jobs of periods) allocator.step({ maxRatePerSec, dtSeconds: 0.1, jobs })
      return ((now() - start) * 1e6) / (PERIODS * count)
    },
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
    run(now) {
      const start = now()
      for (const observation of observations) controller.step(observation)
      return ((now() - start) * 1e6) / (PERIODS * count)
    },
  }
}

/** ns per job and period: the allocator alone, and the whole controller step. */
export const benches: readonly Bench[] = [
  ...[1_000, 10_000, 100_000].map(benchAllocator),
  ...[1_000, 10_000, 100_000].map(benchController),
]
