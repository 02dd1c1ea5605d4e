/** Registry of the collectors of plane rows. */
import type { ClusterMonitor } from './monitor.ts'
import { LockCollector } from './locks/lock-rows.ts'
import { MetadataCollector } from './metadata/metadata-rows.ts'
import type { PlaneCollector, PlaneWriter } from './state/plane-collector.ts'
import { TokenCollector } from './tokens/token-rows.ts'

type Source = Pick<ClusterMonitor, 'source' | 'locks' | 'metadata' | 'padll'>

/** Collectors by plane; undefined for a source without it. */
const COLLECTORS: readonly ((of: Source, writer: PlaneWriter) => PlaneCollector | undefined)[] = [
  ({ source, locks }, writer) => locks && new LockCollector(locks.world, source, writer),
  ({ metadata, padll }, writer) =>
    metadata.hasServers || padll ? new MetadataCollector(metadata, padll, writer) : undefined,
  ({ source }, writer) => {
    const nodes = source.dataNodes ?? []
    return nodes.length > 0 ? new TokenCollector(nodes, (ns) => source.toUnixMs(ns), writer) : undefined
  },
]

export const planeCollectors = (of: Source, writer: PlaneWriter): readonly PlaneCollector[] =>
  COLLECTORS.flatMap((make) => make(of, writer) ?? [])
