/**
 * One run of the sandbox as in comparisons, 60 s of 200 jobs on 8 OSTs of 4 OSSes, about 2,000 RPC/s; for comparison
 * the same world without a policy. Also the growth of time with the number of jobs of constant demand each.
 */
import type { Bench, Growth } from '../../bench/measure.ts'
import { busyScenario } from '../../bench/busy-scenario.ts'
import { ADAPTBF } from '../controllers/registry.ts'
import type { Scenario } from '../emulator/scenario.ts'
import { runVariant } from './run.ts'
import type { Variant } from './variant.ts'

const SECONDS = 60
const SCENARIOS = new Map([50, 200, 800].map((n) => [n, busyScenario(n)]))
const LIMIT =
  'Four events an RPC, each touching another part of the model; rules that start and stop with the jobs are the rest.'
let seed = 0

/** Time of one run, ms. */
function timed(now: () => number, jobs: number, controller: Variant['controller']): { ms: number; rpcs: number } {
  const variant: Variant = {
    name: controller,
    controller,
    maxRate: null,
    periodMs: null,
    adaptbf: {},
    rules: [],
    metadata: null,
    metadataLimits: [],
    haechi: 'scenario',
    tokens: {},
    locks: null,
    lockOptions: {},
    onS: 0,
  }
  const scenario = SCENARIOS.get(jobs) as Scenario
  const began = now()
  const done = runVariant(scenario, { variant, index: 0, seed: ++seed, seconds: SECONDS, sloWaitMs: 100 })
  const ms = now() - began
  if (!done.ok) throw new Error(done.error.what)
  return { ms, rpcs: done.value.throughputRpcs }
}

export const benches: readonly (Bench | Growth)[] = [
  {
    id: 'sandbox.run',
    unit: 'ms',
    runs: 5,
    run: (now: () => number) => timed(now, 200, ADAPTBF).ms,
    baseline: (now: () => number) => timed(now, 200, 'none').ms,
    note: `One run as comparisons make them: ${SECONDS} s of 200 jobs, every RPC, under AdapTBF.`,
    beside: 'The same world without a policy.',
    limit: LIMIT,
  },
  {
    id: 'sandbox.rpc',
    unit: 'us/RPC',
    runs: 5,
    run: (now: () => number) => {
      const { ms, rpcs } = timed(now, 200, ADAPTBF)
      return (ms * 1000) / (rpcs * SECONDS)
    },
    note: 'Time of one simulated RPC, control included.',
    limit: LIMIT,
  },
  {
    id: 'sandbox.growth',
    unit: 'exponent',
    sizes: [50, 200, 800],
    axis: 'size',
    runs: 5,
    cost: (now: () => number, jobs: number) => timed(now, jobs, ADAPTBF).ms,
    note: `${SECONDS} s by the number of jobs, each asking for as much as before, a target for every 25 of them; 1 is linear.`,
    limit:
      'RPCs grow with the jobs; but there are more targets too, each serves all jobs and decides over them in every period, so that decisions grow with the product.',
  },
]
