/** What a monitored cluster is made with. */
import type { ControllerName } from '#core/controllers/registry.ts'
import type { LoopOptions } from '#core/adaptbf/loop-options.ts'
import type { Mode } from '#core/control/controller.ts'
import type { Fences } from '#core/control/fences.ts'
import type { Audit } from '../base/audit.ts'
import type { LeaseKeeper } from '../enforce/lease.ts'
import type { StopRecords } from '../enforce/store-stops.ts'
import type { History } from '../history/history.ts'
import type { ClusterSource } from '../base/connection.ts'
import type { MetadataSettings } from './metadata/state.ts'
import type { Patience } from './read/patience.ts'
import type { ProbeOptions } from './probes/probes.ts'

export interface MonitorOptions {
  readonly source: ClusterSource
  readonly history: History
  readonly audit: Audit
  readonly session: string
  readonly mode: Mode
  readonly controller: ControllerName
  /** Settings of AdapTBF; those of the paper by default. */
  readonly options?: LoopOptions
  /** What a controller may do at most; by the kind of the source by default. */
  readonly fences?: Fences | undefined
  /** Where leases are noted for other processes that use the same data folder. */
  readonly leases?: LeaseKeeper | undefined
  /** Stops of this cluster, by whichever process; of this one alone without. */
  readonly stops?: StopRecords | undefined
  /** Settings of metadata control; off by default. */
  readonly metadata?: MetadataSettings | undefined
  /** Probes that are off from the start, and what they may cost. */
  readonly probes?: ProbeOptions | undefined
  /** Jobs that did nothing for so long leave memory, ms on the source's clock. */
  readonly forgetMs?: number | undefined
  /** Samples are in memory as they were taken for so long, ms on the source's clock; by its period unless it is said. */
  readonly recentMs?: number | undefined
  /** How long a sample waits for servers; as the kind and the period of the source have it by default. */
  readonly patience?: Patience | undefined
}
