/** IV-G: cost of the allocation. The only AdapTBF experiment that depends on a clock. */
import { randomStream } from '../../base/random.ts'
import { TokenAllocator } from '../../adaptbf/allocation.ts'
import { ADAPTBF } from '../../controllers/registry.ts'
import type { Experiment } from '../experiment.ts'
import { claimsOf, numbered, publishedAs } from './expectations.ts'

const JOBS = 1000
/** Periods before and in each of the measurements; their median counts. */
const WARM_UP = 200
const PERIODS = 50
const MEASUREMENTS = 9

export const ivG: Experiment<number> = {
  id: 'adaptbf.IV-G',
  system: ADAPTBF,
  title: 'Overhead of the token allocation',
  setup: [
    'All three steps of the allocation for 1000 active jobs that lend and borrow, on this machine, compiled code warm; ' +
      'collecting, writing rules and the ledger of pairs are not part of it.',
  ],
  expectations: claimsOf('IV-G'),
  published: publishedAs({ 1: { value: 30 } }),
  parts: [{ id: 'adaptbf/IV-G/allocation', run: (seed, { now }) => microsecondsPerJob(seed, now) }],
  measure: (runs) => numbered('IV-G', { 1: runs.get('adaptbf/IV-G/allocation') ?? NaN }),
  figures: () => [],
}

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
  return costs.toSorted((a, b) => a - b)[MEASUREMENTS >> 1]!
}
