/**
 * One run of the sandbox as comparisons make them, 60 s of 200 jobs on 8 OSTs of 4 OSSes, about 2,000 RPC/s; beside it the same
 * world without a policy. And how the time grows with the number of jobs when each asks for as much as before.
 */
import { parseScenario, type Scenario } from '../emulator/scenario.ts'
import { runVariant } from './run.ts'
import type { Variant } from './variant.ts'

const SECONDS = 60
const PATTERNS = [
  '{ kind: continuous, think_ms: 300 }',
  '{ kind: bursts, rpcs: 30, every_s: 5, jitter: 0.3 }',
  '{ kind: poisson, rate: 4 }',
  '{ kind: phases, phases: [{ for_s: 5, rate: 8 }, { for_s: 5, rate: 0 }] }',
]

/** Jobs of one to four nodes with a process on each, a quarter of each pattern; an OST for every 25 of them. */
export function scenarioOf(count: number): Scenario {
  const osts = Math.max(1, Math.ceil(count / 25))
  const servers = Array.from({ length: Math.ceil(osts / 2) }, (_, s) => ({
    name: `oss${s}`,
    osts: Array.from({ length: Math.min(2, osts - 2 * s) }, (__, t) => ({
      name: `b-OST${String(2 * s + t).padStart(4, '0')}`,
      disk: { bandwidth_mb_s: 500, per_op_us: 400 },
    })),
  }))
  const jobs = Array.from({ length: count }, (_, j) => {
    const nodes = 1 + (j % 4)
    const clients = Array.from({ length: nodes }, (__, n) => 1 + ((j + n) % count))
    const pattern = PATTERNS[Math.floor(j / 4) % PATTERNS.length] as string
    const op = j % 3 === 0 ? 'read' : 'write'
    return `  - { id: ${7000 + j}.app.u${j % 40}, clients: [${clients.join(', ')}], processes: ${nodes}, outstanding: 4, op: ${op}, size_kib: 1024, pattern: ${pattern} }`
  })
  const read = parseScenario(`title: Bench
clients: { count: ${Math.max(4, count)} }
oss: ${JSON.stringify(servers)}
control: { max_rate: 300 }
jobs:
${jobs.join('\n')}
`)
  if (!read.ok) throw new Error(`${read.error.what}: ${read.error.why}`)
  return read.value
}

const SCENARIOS = new Map([50, 200, 800].map((n) => [n, scenarioOf(n)]))
let seed = 0

/** Time of one run, ms. */
function timed(now: () => number, jobs: number, controller: Variant['controller']): { ms: number; rpcs: number } {
  const variant: Variant = {
    ...{ name: controller, controller, maxRate: null, periodMs: null, adaptbf: {}, rules: [] },
    ...{ metadata: null, haechi: 'scenario', locks: null, onS: 0 },
  }
  const scenario = SCENARIOS.get(jobs) as Scenario
  const began = now()
  const done = runVariant(scenario, { variant, index: 0, seed: ++seed, seconds: SECONDS, sloWaitMs: 100 })
  const ms = now() - began
  if (!done.ok) throw new Error(done.error.what)
  return { ms, rpcs: done.value.throughputRpcs }
}

/** Slope of log time over log jobs, by least squares. */
function exponent(now: () => number): number {
  const points = [...SCENARIOS.keys()].map((n) => [Math.log(n), Math.log(timed(now, n, 'adaptbf').ms)] as const)
  const mean = (at: 0 | 1): number => points.reduce((s, p) => s + p[at], 0) / points.length
  const [x, y] = [mean(0), mean(1)]
  const over = points.reduce((s, p) => s + (p[0] - x) * (p[1] - y), 0)
  return over / points.reduce((s, p) => s + (p[0] - x) ** 2, 0)
}

export const benches = [
  {
    ...{ id: 'sandbox.run', unit: 'ms' },
    run: (now: () => number) => timed(now, 200, 'adaptbf').ms,
    baseline: (now: () => number) => timed(now, 200, 'none').ms,
    note: `${SECONDS} s of 200 jobs; the baseline has no policy`,
  },
  {
    ...{ id: 'sandbox.rpc', unit: 'us/RPC' },
    run: (now: () => number) => {
      const { ms, rpcs } = timed(now, 200, 'adaptbf')
      return (ms * 1000) / (rpcs * SECONDS)
    },
    note: 'time of one simulated RPC, control included',
  },
  { id: 'sandbox.growth', unit: 'exponent', run: exponent, note: 'of 50, 200 and 800 jobs' },
] as const
