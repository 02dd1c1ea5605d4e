/**
 * Comparison as an operator runs it: 60 s of 200 jobs with 20 seeds, under AdapTBF, on the threads of the sandbox including their
 * start, and aggregated. Baseline: the same runs one after another in this thread.
 */
import { ADAPTBF } from '#core/controllers/registry.ts'
import { busyScenario } from '../../bench/busy-scenario.ts'
import { runVariant } from '#core/sandbox/run.ts'
import { BASE } from '#tests/kits/core/sandbox/digests.ts'
import type { Bench } from '../../bench/measure.ts'
import { compare } from './comparison-run.ts'

const SECONDS = 60
const SEEDS = Array.from({ length: 20 }, (_, i) => i + 1)
const VARIANT = { ...BASE, controller: ADAPTBF } as const
const scenario = busyScenario(200)

/** Compressed as the console forks a cluster of that size: about 40,000 RPCs a run. */
const compressed = { ...scenario, thinning: 5 }

async function pooled(now: () => number, world = scenario): Promise<number> {
  const began = now()
  const done = await compare({ scenario: world, variants: [VARIANT], seeds: SEEDS, seconds: SECONDS, sloWaitMs: 500 })
  if (done.kind === 'failed') throw new Error(done.failure.why ?? done.failure.what)
  return (now() - began) / 1000
}

function alone(now: () => number): number {
  const began = now()
  for (const seed of SEEDS) {
    const done = runVariant(scenario, { variant: VARIANT, index: 0, seed, seconds: SECONDS, sloWaitMs: 500 })
    if (!done.ok) throw new Error(done.error.what)
  }
  return (now() - began) / 1000
}

export const benches: readonly Bench[] = [
  {
    id: 'sandbox.60s-20seeds-200jobs',
    unit: 's',
    run: (now: () => number) => pooled(now),
    baseline: alone,
    runs: 5,
    must: { most: 10 },
    note: `${SECONDS} s of 200 jobs with ${SEEDS.length} seeds, every RPC, through the threads of the sandbox with their start.`,
    beside: 'The same runs one after the other in one thread.',
    limit:
      'Every RPC is four events, and rules start and stop with the jobs. Each thread compiles the model itself: its first runs take longer than the later ones.',
  },
  {
    id: 'sandbox.60s-20seeds-200jobs-compressed',
    unit: 's',
    run: (now: () => number) => pooled(now, compressed),
    runs: 5,
    must: { most: 10 },
    note: `The same with time compressed ${compressed.thinning} times, as a fork of a cluster is; that the same bound holds is our own target.`,
    limit: 'As without compression: fewer RPCs, and as many periods of the controllers.',
  },
]
