/** Costs of each probe, as shown on the cards. */
import type { ClusterCard, ProbeId } from '#core/api/clusters.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import { PROBES } from '../../cluster/probes/probe.ts'

/** @param off  probes that are switched off, for a cluster that is not sampled. */
export function probeCards(monitor: ClusterMonitor | undefined, off: readonly ProbeId[]): ClusterCard['probes'] {
  if (monitor) return monitor.probes.map((p) => ({ ...p }))
  return PROBES.map(({ id, label, everyS }) => ({
    id,
    label,
    on: !off.includes(id),
    everyS: everyS.LIVE,
    note: '',
    bytesPerSec: 0,
    serverMsPerSec: 0,
    serverCpuMsPerSec: null,
  }))
}
