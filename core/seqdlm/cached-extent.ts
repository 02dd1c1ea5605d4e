/** Bytes in the page cache of a client: one run of one SN, and how far it is on its way to the server. */
import type { Block, ResourceId } from './messages.ts'

export interface CachedExtent extends Block {
  readonly resource: ResourceId
  /** Moves on while writes of one length follow each other and only extents are carried. */
  end: number
  /** Bytes of each of the writes that it is made of; a flush that cannot take all of it parts it between two of them. */
  readonly unit: number
  /** Null as soon as the extent is gone, whoever may still refer to it. */
  data: Uint8Array | null
  state: 'clean' | 'dirty' | 'flushing'
  /** Number of the flush that carries it, while it is under flush. */
  rpcSeq: number
  /** In the cache as it stands; false once it was cut or is gone. */
  isThere: boolean
}

/** The part start..end of an extent. */
export const sliced = (e: CachedExtent, start: number, end: number): CachedExtent => {
  const { resource, unit, sn, hole, state, rpcSeq } = e
  const data = e.data?.subarray(start - e.start, end - e.start) ?? null
  return { resource, start, end, unit, sn, data, hole, state, rpcSeq, isThere: true }
}

/** Stands for a write in the order of writing when its bytes are to be looked for in the map. */
export function marker(resource: ResourceId, start: number, end: number, sn: number, hole: boolean): CachedExtent {
  return { resource, start, end, unit: end - start, sn, data: null, hole, state: 'dirty', rpcSeq: 0, isThere: false }
}

/** Whether it is made of more writes than one. */
export const isRun = (e: CachedExtent): boolean => e.end - e.start > e.unit

/** What the cache makes of an extent when it takes a part of it out. */
export const cut = (e: CachedExtent, start: number, end: number): CachedExtent => {
  e.isThere = false
  return sliced(e, start, end)
}

/** An extent that is in the cache no more. */
export function discard(e: CachedExtent): void {
  e.isThere = false
  e.data = null
}

/** Bytes of memory that an extent takes; a hole takes none. */
export const memoryOf = (e: CachedExtent): number => (e.hole ? 0 : e.end - e.start)
