/** A small scenario and variants of it. */
import { parseScenario, type Scenario } from '#core/emulator/scenario.ts'
import { aggregate } from '#core/sandbox/aggregate.ts'
import type { Verdict } from '#core/sandbox/comparison.ts'
import { digestOf, planOf } from '#core/sandbox/run-digest.ts'
import { runVariant, type RunTask } from '#core/sandbox/run.ts'
import type { JobReport, RunReport } from '#core/sandbox/run-report.ts'
import type { Variant } from '#core/sandbox/variant.ts'

/** The unchanged scenario, from its start. */
export const AS_IT_IS: Variant = {
  name: 'baseline',
  controller: 'none',
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

/** Two OSSes of two OSTs, and the jobs, one YAML flow map each. */
export function scenarioOf(jobs: readonly string[], more: { control?: string; rest?: string } = {}): Scenario {
  const ost = (n: number): string =>
    `{ name: s-OST000${n}, disk: { bandwidth_mb_s: 1000, per_op_us: 6000, channels: 2 } }`
  const read = parseScenario(`title: Small
clients: { count: 8 }
oss:
  - { name: oss01, osts: [${ost(0)}, ${ost(1)}] }
  - { name: oss02, osts: [${ost(2)}, ${ost(3)}] }
control: ${more.control ?? '{ max_rate: 300 }'}
${more.rest ?? ''}
jobs:
${jobs.map((j) => `  - ${j}`).join('\n')}
`)
  if (!read.ok) throw new Error(`${read.error.what}: ${read.error.why}`)
  return read.value
}

/** One job that takes all it gets, one with four nodes that requests less, one with bursts. */
export const HOG_AND_OTHERS = [
  '{ id: 1.hog.u1, clients: [1], processes: 16, outstanding: 4, op: write, size_kib: 64, pattern: { kind: continuous } }',
  '{ id: 2.calm.u2, clients: [2, 3, 4, 5], processes: 4, outstanding: 8, op: read, size_kib: 64, pattern: { kind: poisson, rate: 60 } }',
  '{ id: 3.burst.u3, clients: [6, 7], processes: 4, outstanding: 8, op: write, size_kib: 64, pattern: { kind: bursts, rpcs: 60, every_s: 2, jitter: 0.2 } }',
]

export function runOf(scenario: Scenario, variant: Partial<Variant> = {}, task: Partial<RunTask> = {}): RunReport {
  const all = { index: 0, seed: 1, seconds: 8, sloWaitMs: 100, ...task, variant: { ...AS_IT_IS, ...variant } }
  const done = runVariant(scenario, all)
  if (!done.ok) throw new Error(`${done.error.what}: ${done.error.why}`)
  return done.value
}

export function jobOf(report: RunReport, jobId: string): JobReport {
  const job = report.jobs.find((j) => j.jobId === jobId)
  if (!job) throw new Error(`no job ${jobId}`)
  return job
}

/** Verdict of variants of a scenario over two seeds. */
export function verdictOfRuns(scenario: Scenario, variants: readonly Partial<Variant>[], seconds: number): Verdict {
  const all = variants.map((v, i) => ({ ...AS_IT_IS, name: `V${i}`, ...v }))
  const reports = [1, 2].flatMap((seed) => all.map((v, index) => runOf(scenario, v, { seconds, seed, index })))
  const plan = planOf(reports[0]!)
  return aggregate({ scenario, variants: all, plan, runs: reports.map((r) => digestOf(r, plan)) }).verdict
}
