/**
 * Collectors of all planes that a source has. They load the models of locks and tokens, which a command on a live cluster does not.
 */
import { LockCollector } from './locks/lock-rows.ts'
import { metadataCollectors, type PlaneCollectors } from './plane-collectors.ts'
import { TokenCollector } from './tokens/token-rows.ts'

export const allCollectors: PlaneCollectors = (of, writer) => {
  const { source, locks, dataNodes } = of
  return [
    ...(locks ? [new LockCollector(locks.world, source, writer)] : []),
    ...metadataCollectors(of, writer),
    ...(dataNodes.length > 0 ? [new TokenCollector(dataNodes, (ns) => source.toUnixMs(ns), writer)] : []),
  ]
}
