/**
 * Planes of a live cluster that the window shows and keeps: metadata, and tokens of running data nodes. It loads the model of
 * tokens, which a command on a live cluster does not.
 */
import type { MonitorOptions } from './monitor-options.ts'
import { metadataCollectors, type PlaneCollectors } from './plane-collectors.ts'
import { HaechiReader } from './tokens/haechi-reader.ts'
import { TokenCollector } from './tokens/token-rows.ts'

const liveCollectors: PlaneCollectors = (of, writer) => [
  ...metadataCollectors(of, writer),
  ...(of.dataNodes.length > 0 ? [new TokenCollector(of.dataNodes, (ns) => of.source.toUnixMs(ns), writer)] : []),
]

export const LIVE_PLANES: Required<Pick<MonitorOptions, 'planes' | 'haechi'>> = {
  planes: liveCollectors,
  haechi: (source, events) =>
    source.nodes
      .filter((n) => n.roles.includes('haechi'))
      .map((node) => new HaechiReader(node, events, () => source.nowNs())),
}
