/**
 * Merge rule for data of different locks, both in a client's pages and on a data server: the larger SN wins, and of
 * equal ones the later data.
 *
 * Source: SeqDLM IV-A, IV-B, Fig. 14, 15; spec/seqdlm 8, 9; A10.
 */
import { ExtentMap } from './extent-map.ts'
import type { Extent } from './ranges.ts'

export interface SnExtent extends Extent {
  readonly sn: number
}

export const slicedSn = (e: SnExtent, start: number, end: number): SnExtent => ({ start, end, sn: e.sn })

/** Merges touching extents of the same SN; keeps the order. */
export function mergeTouching(extents: readonly SnExtent[]): SnExtent[] {
  const out: SnExtent[] = []
  for (const e of extents) {
    const last = out.at(-1)
    if (last !== undefined && last.end === e.start && last.sn === e.sn) {
      out[out.length - 1] = { start: last.start, end: e.end, sn: e.sn }
    } else out.push(e)
  }
  return out
}

/**
 * Clears the range of a block among extents: removes older bytes and those of the same SN, keeps newer ones.
 *
 * @param replaced  called with each removed piece.
 * @returns         the winning parts of the block, in order; the caller inserts them.
 */
export function yieldTo<T extends SnExtent>(
  map: ExtentMap<T>,
  block: SnExtent,
  replaced?: (piece: T) => void,
): Extent[] {
  if (map.isFree(block.start, block.end)) return [block]
  const won: Extent[] = []
  let at = block.start
  for (const piece of map.carve(block.start, block.end)) {
    if (piece.sn > block.sn) {
      map.insert(piece)
      if (piece.start > at) won.push({ start: at, end: piece.start })
      at = piece.end
    } else replaced?.(piece)
  }
  if (at < block.end) won.push({ start: at, end: block.end })
  return won
}

/** Inserts an SN extent at a free position, merged with neighbors of its SN. */
export function insertMerged(map: ExtentMap<SnExtent>, extent: SnExtent): void {
  let { start, end } = extent
  const before = map.before(start)
  if (before !== undefined && before.end === start && before.sn === extent.sn) {
    map.delete(before)
    start = before.start
  }
  const after = map.from(end)
  if (after !== undefined && after.start === end && after.sn === extent.sn) {
    map.delete(after)
    end = after.end
  }
  map.insert({ start, end, sn: extent.sn })
}

/**
 * Merges one block into an extent cache (Fig. 15).
 *
 * @returns  the update set: the parts to be written to the device.
 */
export function mergeBlock(map: ExtentMap<SnExtent>, block: SnExtent): SnExtent[] {
  const { start, end, sn } = block
  if (map.isFree(start, end)) {
    const part = { start, end, sn }
    const { left, right } = map
    const touches = (left?.end === start && left.sn === sn) || (right?.start === end && right.sn === sn)
    if (touches) insertMerged(map, part)
    else map.put(part)
    return [part]
  }
  const won = yieldTo(map, block).map((w): SnExtent => ({ start: w.start, end: w.end, sn }))
  for (const part of won) insertMerged(map, part)
  if (won.length === 1 && won[0]?.start === start && won[0].end === end) return won
  // Newer pieces that stayed were put back as cut, next to their other halves.
  for (const edge of [start, end]) joinAt(map, edge)
  return won
}

function joinAt(map: ExtentMap<SnExtent>, offset: number): void {
  const before = map.before(offset)
  const after = map.from(offset)
  if (before === undefined || after === undefined || before.end !== offset || after.start !== offset) return
  if (before.sn !== after.sn) return
  map.delete(before)
  map.delete(after)
  map.insert({ start: before.start, end: after.end, sn: before.sn })
}
