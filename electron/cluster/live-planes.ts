/**
 * Planes of a live cluster that the window shows and keeps: locks of a running ccPFS, metadata, and tokens of running data nodes. It
 * loads the models of locks and tokens, which a command on a live cluster does not.
 */
import { allCollectors } from './all-planes.ts'
import { CcpfsReader } from './locks/ccpfs-reader.ts'
import type { MonitorOptions } from './monitor-options.ts'
import { HaechiReader } from './tokens/haechi-reader.ts'

export const LIVE_PLANES: Required<Pick<MonitorOptions, 'planes' | 'haechi' | 'ccpfs'>> = {
  planes: allCollectors,
  haechi: (source, events) =>
    source.nodes
      .filter((n) => n.roles.includes('haechi'))
      .map((node) => new HaechiReader(node, events, () => source.nowNs())),
  ccpfs: (source) => {
    const nodes = source.nodes.filter((n) => n.roles.includes('ccpfs'))
    return nodes.length > 0 ? new CcpfsReader(nodes, source) : undefined
  },
}
