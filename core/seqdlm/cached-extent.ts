/** Extent in the page cache of a client: a run of bytes of one SN, with its flush state. */
import type { Block, ResourceId } from './messages.ts'

export interface CachedExtent extends Block {
  readonly resource: ResourceId
  /** Grows while writes of equal length follow each other and only extents are carried. */
  end: number
  /** Length of each write in the extent; a flush that cannot take all of it splits it between two writes. */
  readonly unit: number
  /** Null once the extent is removed, even if references to it remain. */
  data: Uint8Array | null
  state: 'clean' | 'dirty' | 'flushing'
  /** Number of the flush that carries it, while under flush. */
  rpcSeq: number
  /** True while in the cache unchanged; false once cut or removed. */
  isCached: boolean
}

/** Returns the part start..end of an extent. */
export const sliced = (e: CachedExtent, start: number, end: number): CachedExtent => {
  const { resource, unit, sn, hole, state, rpcSeq } = e
  const data = e.data?.subarray(start - e.start, end - e.start) ?? null
  return { resource, start, end, unit, sn, data, hole, state, rpcSeq, isCached: true }
}

/** Placeholder for a write in the order of writing, when its bytes must be searched for in the map. */
export function marker(resource: ResourceId, start: number, end: number, sn: number, hole: boolean): CachedExtent {
  return { resource, start, end, unit: end - start, sn, data: null, hole, state: 'dirty', rpcSeq: 0, isCached: false }
}

/** True if it consists of several writes. */
export const isRun = (e: CachedExtent): boolean => e.end - e.start > e.unit

/** Cuts a part out of an extent. */
export const cut = (e: CachedExtent, start: number, end: number): CachedExtent => {
  e.isCached = false
  return sliced(e, start, end)
}

/** Marks an extent as removed from the cache. */
export function discard(e: CachedExtent): void {
  e.isCached = false
  e.data = null
}

/** Memory of an extent, bytes; a hole takes none. */
export const memoryOf = (e: CachedExtent): number => (e.hole ? 0 : e.end - e.start)
