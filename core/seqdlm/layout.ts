/** File striping: mapping of ranges of a file to bytes of objects. Source: spec/seqdlm 1. */
import type { ResourceId } from './messages.ts'
import type { Extent } from './ranges.ts'

/** A file is n objects with consecutive ids, striped round robin. */
export interface FileLayout {
  /** Id of stripe 0. */
  readonly base: ResourceId
  readonly stripes: number
  /** Bytes, > 0. */
  readonly stripeSize: number
}

/** A contiguous run of bytes in one stripe. */
export interface Piece {
  readonly resource: ResourceId
  /** Offset in the object. */
  readonly local: number
  /** Offset in the operation's buffer. */
  readonly buffer: number
  readonly length: number
}

/** Pieces of one stripe, ascending. */
export interface StripePart {
  readonly resource: ResourceId
  readonly pieces: readonly Piece[]
}

/** Returns the object of a file's byte and the offset in it. */
export function localOffset(layout: FileLayout, offset: number): { resource: ResourceId; local: number } {
  const { base, stripes, stripeSize } = layout
  const row = Math.floor(offset / stripeSize)
  return { resource: base + (row % stripes), local: Math.floor(row / stripes) * stripeSize + (offset % stripeSize) }
}

/**
 * Returns the first byte of an object at or after an offset of its file.
 *
 * @param k  number of the stripe, 0..stripes - 1.
 */
export function localBound({ stripes, stripeSize }: FileLayout, k: number, offset: number): number {
  const row = Math.floor(offset / stripeSize)
  const at = row % stripes
  const full = Math.floor(row / stripes) * stripeSize
  if (k < at) return full + stripeSize
  return k === at ? full + (offset % stripeSize) : full
}

/** Returns the end in the file of an object of `size` bytes; 0 for an empty one. */
export function fileEnd({ stripes, stripeSize }: FileLayout, k: number, size: number): number {
  if (size === 0) return 0
  const last = size - 1
  return (Math.floor(last / stripeSize) * stripes + k) * stripeSize + (last % stripeSize) + 1
}

/** True if a non-empty range of a file is contiguous in one stripe. */
export const isInOneStripe = ({ stripeSize }: FileLayout, start: number, end: number): boolean =>
  (start % stripeSize) + end - start <= stripeSize

/**
 * Splits extents of a file over its stripes.
 *
 * @param extents  extents of the file, ascending and disjoint; the buffer holds them consecutively.
 * @returns        by ascending resource: the order in which locks are taken.
 */
export function split(layout: FileLayout, extents: readonly Extent[]): StripePart[] {
  const only = extents.length === 1 ? extents[0] : undefined
  if (only !== undefined && isInOneStripe(layout, only.start, only.end)) {
    const { resource, local } = localOffset(layout, only.start)
    return [{ resource, pieces: [{ resource, local, buffer: 0, length: only.end - only.start }] }]
  }
  const parts = new Map<ResourceId, Piece[]>()
  let buffer = 0
  for (const { start, end } of extents) {
    for (let offset = start; offset < end;) {
      const { resource, local } = localOffset(layout, offset)
      const length = Math.min(end - offset, layout.stripeSize - (offset % layout.stripeSize))
      let pieces = parts.get(resource)
      if (pieces === undefined) parts.set(resource, (pieces = []))
      const last = pieces.at(-1)
      const isNext = last !== undefined && last.local + last.length === local && last.buffer + last.length === buffer
      if (isNext) pieces[pieces.length - 1] = { ...last, length: last.length + length }
      else pieces.push({ resource, local, buffer, length })
      offset += length
      buffer += length
    }
  }
  return [...parts].sort(([a], [b]) => a - b).map(([resource, pieces]) => ({ resource, pieces }))
}
