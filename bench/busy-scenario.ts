/** Scenario with a given number of jobs, of every pattern, with equal demand. */
import { parseScenario, type Scenario } from '#core/emulator/scenario.ts'

const PATTERNS = [
  '{ kind: continuous, think_ms: 300 }',
  '{ kind: bursts, rpcs: 30, every_s: 5, jitter: 0.3 }',
  '{ kind: poisson, rate: 4 }',
  '{ kind: phases, phases: [{ for_s: 5, rate: 8 }, { for_s: 5, rate: 0 }] }',
]

/** Jobs of one to four nodes with a process on each, a quarter of each pattern; one OST per 25 jobs. */
export function busyScenario(count: number): Scenario {
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
