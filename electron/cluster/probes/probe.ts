/** Kinds of readings of a cluster: interval, cost, and text for the views. */
import type { ProbeId } from '#core/api/clusters.ts'
import { NS_PER_S } from '#core/base/units.ts'
import type { ClusterSource } from '../../base/connection.ts'

export interface Probe {
  readonly id: ProbeId
  readonly label: string
  /** Interval between two readings of one server; 0 = every sample. */
  readonly everyS: { readonly LIVE: number; readonly EMULATED: number }
}

export const PROBES: readonly Probe[] = [
  { id: 'job_stats', label: 'job_stats', everyS: { LIVE: 0, EMULATED: 0 } },
  { id: 'rules', label: 'rules and policies', everyS: { LIVE: 0, EMULATED: 0 } },
  { id: 'stats', label: 'service statistics', everyS: { LIVE: 5, EMULATED: 1 } },
  { id: 'ldlm', label: 'lock counters', everyS: { LIVE: 5, EMULATED: 1 } },
  { id: 'brw', label: 'disk I/O (brw_stats)', everyS: { LIVE: 60, EMULATED: 5 } },
  { id: 'timeouts', label: 'service timeouts', everyS: { LIVE: 60, EMULATED: 5 } },
  { id: 'batch', label: 'batch queue', everyS: { LIVE: 15, EMULATED: 2 } },
]

/** Cost of one probe on all servers together, over the last ten seconds of wall time. */
export interface ProbeStatus {
  readonly id: ProbeId
  readonly label: string
  readonly on: boolean
  readonly bytesPerSec: number
  /** Time from sending the command to its last byte, ms per second. */
  readonly serverMsPerSec: number
  /** CPU time of the commands on the servers, ms per second; null if not measured. */
  readonly serverCpuMsPerSec: number | null
  readonly everyS: number
  /** Reason for slowing down, or a limitation; usually empty. */
  readonly note: string
}

/** Interval of one server without slow-down, s. */
export const usualS = ({ everyS }: Probe, source: Pick<ClusterSource, 'kind' | 'periodNs'>): number =>
  Math.max(everyS[source.kind], source.periodNs / NS_PER_S)
