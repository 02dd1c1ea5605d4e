/** Registry of the collectors of plane rows. */
import type { ClusterSource } from '../base/connection.ts'
import { LockCollector } from './locks/lock-rows.ts'
import type { LockWatch } from './locks/watch.ts'
import type { MetadataLoop } from './metadata/loop.ts'
import { MetadataCollector } from './metadata/metadata-rows.ts'
import type { PadllReader } from './metadata/padll-reader.ts'
import type { PlaneCollector, PlaneWriter } from './state/plane-collector.ts'
import { TokenCollector } from './tokens/token-rows.ts'

/** Parts of a monitor that the collectors read. */
interface Collected {
  readonly source: ClusterSource
  readonly locks: LockWatch | undefined
  readonly metadata: MetadataLoop
  readonly padll: PadllReader | undefined
}

/** Collectors by plane; undefined for a source without it. */
const COLLECTORS: readonly ((of: Collected, writer: PlaneWriter) => PlaneCollector | undefined)[] = [
  ({ source, locks }, writer) => locks && new LockCollector(locks.world, source, writer),
  ({ metadata, padll }, writer) =>
    metadata.hasServers || padll ? new MetadataCollector(metadata, padll, writer) : undefined,
  ({ source }, writer) => {
    const nodes = source.dataNodes ?? []
    return nodes.length > 0 ? new TokenCollector(nodes, (ns) => source.toUnixMs(ns), writer) : undefined
  },
]

export const planeCollectors = (of: Collected, writer: PlaneWriter): readonly PlaneCollector[] =>
  COLLECTORS.flatMap((make) => make(of, writer) ?? [])
