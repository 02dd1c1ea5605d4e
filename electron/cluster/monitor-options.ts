/** Options of ClusterMonitor. */
import type { ControllerName } from '#core/controllers/registry.ts'
import type { LoopOptions } from '#core/adaptbf/loop-options.ts'
import type { Mode } from '#core/control/controller.ts'
import type { Fences } from '#core/control/fences.ts'
import type { Audit } from '../base/audit.ts'
import type { LeaseStore } from '../enforce/lease.ts'
import type { StopRecords } from '../enforce/store-stops.ts'
import type { History } from '../history/history.ts'
import type { ClusterSource } from '../base/connection.ts'
import type { MetadataSettings } from '#core/api/padll.ts'
import type { CcpfsReader } from './locks/ccpfs-reader.ts'
import type { ReadTimeouts } from './read/timeouts.ts'
import type { ProbeOptions } from './probes/probes.ts'
import type { PlaneCollectors } from './plane-collectors.ts'
import type { HaechiReader } from './tokens/haechi-reader.ts'
import type { EventLog } from './state/event-log.ts'

export interface MonitorOptions {
  readonly source: ClusterSource
  readonly history: History
  readonly audit: Audit
  readonly session: string
  readonly mode: Mode
  readonly controller: ControllerName
  /** Settings of AdapTBF; those of the paper by default. */
  readonly options?: LoopOptions
  /** Limits on the controller; by the kind of the source by default. */
  readonly fences?: Fences | undefined
  /** Records leases for other processes that use the same data folder. */
  readonly leases?: LeaseStore | undefined
  /** Stops of this cluster by any process; by default only those of this one. */
  readonly stops?: StopRecords | undefined
  /** Settings of metadata control; off by default. */
  readonly metadata?: MetadataSettings | undefined
  /** Collectors of plane rows; by default that of metadata. */
  readonly planes?: PlaneCollectors | undefined
  /** Makes the readers of running data nodes; by default they are not read. */
  readonly haechi?: ((source: ClusterSource, events: EventLog) => readonly HaechiReader[]) | undefined
  /** Makes the reader of running ccPFS servers; by default they are not read. */
  readonly ccpfs?: ((source: ClusterSource) => CcpfsReader | undefined) | undefined
  /** Probes that are off from the start, and their budget. */
  readonly probes?: ProbeOptions | undefined
  /** Idle time after which jobs are dropped from memory, ms on the source's clock. */
  readonly forgetMs?: number | undefined
  /** Time for which raw samples are kept in memory, ms on the source's clock; by default derived from its period. */
  readonly recentMs?: number | undefined
  /** Longest wait of a sample for servers; by default derived from the kind and the period of the source. */
  readonly readTimeouts?: ReadTimeouts | undefined
}
