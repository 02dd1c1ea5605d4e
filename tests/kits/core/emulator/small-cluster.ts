/** Small cluster with jobs of a test's choice, and its queries. */
import { EmulatedCluster } from '#core/emulator/cluster.ts'
import { parseScenario } from '#core/emulator/scenario.ts'

export interface SmallCluster {
  readonly seed?: number
  readonly policy?: string
  /** YAML flow maps, and more keys of the server as lines of YAML. */
  readonly clients?: string
  readonly oss?: string
  readonly mds?: string
}

/** One OSS with two fast OSTs, perhaps an MDS, and the given jobs, one YAML flow map each. */
export function clusterOf(jobs: readonly string[], more: SmallCluster = {}): EmulatedCluster {
  const text = `title: Test
policy: ${more.policy ?? 'tbf jobid'}
clients: ${more.clients ?? '{ count: 4 }'}
oss:
  - name: oss01
    ${more.oss ?? 'threads: 16'}
    osts:
      - { name: t-OST0000, disk: { bandwidth_mb_s: 2000, per_op_us: 200, channels: 4 } }
      - { name: t-OST0001, disk: { bandwidth_mb_s: 2000, per_op_us: 200, channels: 4 } }
${more.mds === undefined ? '' : `mds:\n  - ${more.mds}\n`}control: { max_rate: 100 }
jobs:
${jobs.map((j) => `  - ${j}`).join('\n')}
`
  const scenario = parseScenario(text)
  if (!scenario.ok) throw new Error(`${scenario.error.what}: ${scenario.error.why}`)
  return new EmulatedCluster(scenario.value, { seed: more.seed })
}

/** Writes rules to ost_io of the OSS. */
export function rule(c: EmulatedCluster, ...commands: readonly string[]): void {
  for (const text of commands) {
    const done = c.oss[0]?.service.writeRule(text)
    if (!done?.ok) throw new Error(`${text}: ${done?.error}`)
    c.oss[0]?.io.kick()
  }
}

/** RPCs of a job that were served. */
export const served = (c: EmulatedCluster, jobId: string): number =>
  c.jobs.find((j) => j.scenario.id === jobId)?.servedRpcs ?? 0

/** Runs to `to` seconds; returns the RPCs of a job served in [from, to). */
export function servedBetween(c: EmulatedCluster, jobId: string, from: number, to: number): number {
  c.sim.runUntil(from * 1e9 - 1)
  const before = served(c, jobId)
  c.sim.runUntil(to * 1e9 - 1)
  return served(c, jobId) - before
}
