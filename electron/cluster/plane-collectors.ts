/** Collectors of plane rows of a monitor's source. */
import type { DataNode } from '#core/haechi/data-node.ts'
import type { LockWorld } from '#core/seqdlm/trace/trace.ts'
import type { ClusterSource } from '../base/connection.ts'
import type { MetadataLoop } from './metadata/loop.ts'
import { MetadataCollector } from './metadata/metadata-rows.ts'
import type { PadllReader } from './metadata/padll-reader.ts'
import type { PlaneCollector, PlaneWriter } from './state/plane-collector.ts'

/** Parts of a monitor that the collectors read. */
export interface Collected {
  readonly source: ClusterSource
  readonly locks: { readonly world: LockWorld } | undefined
  readonly metadata: MetadataLoop
  readonly padll: PadllReader | undefined
  readonly dataNodes: readonly DataNode[]
}

/** Makes the collectors of the planes that a source has. */
export type PlaneCollectors = (of: Collected, writer: PlaneWriter) => readonly PlaneCollector[]

/** The collector of metadata, of a source with metadata servers or stages. */
export const metadataCollectors: PlaneCollectors = ({ metadata, padll }, writer) =>
  metadata.hasServers || padll ? [new MetadataCollector(metadata, padll, writer)] : []
