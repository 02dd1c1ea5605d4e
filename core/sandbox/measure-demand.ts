/** What a job in a closed loop could fetch from an idle system: its demand, which its own waiting hides. */
import { mean } from '../base/statistics.ts'
import { KIB, NS_PER_MS, NS_PER_S } from '../base/units.ts'
import { isData, type MetadataOperation } from '../emulator/operations.ts'
import type { JobScenario, Scenario } from '../emulator/scenario.ts'

/**
 * RPC/s of all processes together when nobody else is there: RPCs under way over the time that one takes on idle links and
 * devices, with what a process computes between. Undefined for jobs whose arrivals do not wait for answers.
 *
 * Approximation: RPCs of one process and of one client do not get into each other's way.
 */
export function closedLoopRate(job: JobScenario, scenario: Scenario): number | undefined {
  if (job.pattern.kind !== 'continuous' || job.cached) return undefined
  const { clients, oss, mds } = scenario
  const mine = <T extends { readonly name: string }>(all: readonly T[]): readonly T[] =>
    job.targets.length === 0 ? all : all.filter((t) => job.targets.includes(t.name))
  const bytes = job.size_kib * KIB
  const networkNs = 2 * clients.latency_us * 1000 + (bytes * NS_PER_S) / (clients.network_mb_s * 1e6)
  const diskNs = mine(oss.flatMap((o) => o.osts)).map(
    ({ disk }) => disk.per_op_us * 1000 + (bytes * disk.channels * NS_PER_S) / (disk.bandwidth_mb_s * 1e6),
  )
  const mdts = mine(mds.flatMap((m) => m.mdts))
  const opNs = (op: MetadataOperation): number =>
    2 * clients.latency_us * 1000 + mean(mdts.map((t) => (t.op_us[op] ?? t.per_op_us) * 1000))
  const rpcNs = mean(job.op.map((op) => (isData(op) ? networkNs + mean(diskNs) : opNs(op))))
  const slots = job.processes * job.outstanding
  return (slots * NS_PER_S) / (rpcNs + job.pattern.think_ms * NS_PER_MS)
}
