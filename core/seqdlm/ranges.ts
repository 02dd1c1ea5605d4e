/**
 * Byte ranges of locks (inclusive, may end at EOF) and extents of data (half-open).
 *
 * A lock has one range; under DLM-datatype it has a list of ranges, and the range is their hull.
 */

/** End of file as the end of a range or extent: beyond every byte. */
export const EOF = Infinity

/** Bytes start..end, both included; `end` may be EOF. */
export interface Range {
  readonly start: number
  readonly end: number
}

/** Bytes start..end - 1; `end` may be EOF. */
export interface Extent {
  readonly start: number
  readonly end: number
}

/** Range of a lock: a hull and, if it does not cover all of it, the pieces. */
export interface LockRange extends Range {
  /** Ascending, disjoint, within the hull; null if the lock covers the hull (all DLMs except DLM-datatype). */
  readonly pieces: readonly Range[] | null
}

export const WHOLE: LockRange = { start: 0, end: EOF, pieces: null }

export const lockRange = (start: number, end: number): LockRange => ({ start, end, pieces: null })

/** Maximum pieces in one lock request: 20,480 blocks are the paper's largest (V-C3). */
export const MAX_PIECES = 1 << 16

const isOffset = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

/** True for safe integers >= 0 in order; only an end may be EOF. */
export const isRange = (r: Range): boolean =>
  isOffset(r.start) && (r.end === EOF || isOffset(r.end)) && r.start <= r.end

/** True if the pieces of a range, if any, are in order, disjoint, and span the hull. */
export function isLockRange(r: LockRange): boolean {
  if (!isRange(r)) return false
  if (r.pieces === null) return true
  const { pieces } = r
  if (pieces.length === 0 || pieces.length > MAX_PIECES) return false
  if (pieces[0]?.start !== r.start || pieces.at(-1)?.end !== r.end) return false
  return pieces.every((p, i) => isRange(p) && (i === 0 || p.start > (pieces[i - 1] as Range).end))
}

/** Aligns a range outward to multiples of `bytes`. */
export function alignOutward(r: Range, bytes: number): Range {
  return { start: r.start - (r.start % bytes), end: r.end === EOF ? EOF : r.end - (r.end % bytes) + bytes - 1 }
}

export function overlaps(a: LockRange, b: LockRange): boolean {
  if (a.start > b.end || b.start > a.end) return false
  return (a.pieces === null && b.pieces === null) || piecesMeet(a.pieces ?? [a], b.pieces ?? [b])
}

/** True if `outer` covers every byte of `inner`. */
export function contains(outer: LockRange, inner: LockRange): boolean {
  if (outer.start > inner.start || outer.end < inner.end) return false
  const within = outer.pieces
  if (within === null) return true
  let at = 0
  return (inner.pieces ?? [inner]).every((p) => {
    while (at < within.length && (within[at] as Range).end < p.start) at++
    const piece = within[at]
    return piece !== undefined && piece.start <= p.start && piece.end >= p.end
  })
}

/** Returns the union. Two ranges without pieces must overlap or touch: the result is then their hull. */
export function union(a: LockRange, b: LockRange): LockRange {
  const hull = { start: Math.min(a.start, b.start), end: Math.max(a.end, b.end) }
  if (a.pieces === null && b.pieces === null) return { ...hull, pieces: null }
  const sorted = [...(a.pieces ?? [a]), ...(b.pieces ?? [b])].sort((x, y) => x.start - y.start)
  return { ...hull, pieces: joined(sorted) }
}

/** Merges touching and overlapping ranges, given in order of start. */
export function joined(sorted: readonly Range[]): Range[] {
  const out: Range[] = []
  for (const p of sorted) {
    const last = out.at(-1)
    if (last !== undefined && p.start <= last.end + 1) {
      out[out.length - 1] = { start: last.start, end: Math.max(last.end, p.end) }
    } else out.push({ start: p.start, end: p.end })
  }
  return out
}

function piecesMeet(a: readonly Range[], b: readonly Range[]): boolean {
  let i = 0
  let j = 0
  while (i < a.length && j < b.length) {
    const x = a[i] as Range
    const y = b[j] as Range
    if (x.start <= y.end && y.start <= x.end) return true
    if (x.end < y.end) i++
    else j++
  }
  return false
}

/** Returns the parts of an extent that none of these locks covers. */
export function uncovered({ start, end }: Extent, locks: readonly LockRange[]): Extent[] {
  const gaps: Extent[] = []
  let at = start
  for (const lock of [...locks].sort((a, b) => a.start - b.start)) {
    if (lock.end < at) continue
    if (lock.start >= end) break
    if (lock.start > at) gaps.push({ start: at, end: lock.start })
    at = lock.end + 1
  }
  if (at < end) gaps.push({ start: at, end })
  return gaps
}

/** Merges touching and overlapping extents; returns them in order of start. */
export function joinedExtents(runs: readonly Extent[]): Extent[] {
  const out: Extent[] = []
  for (const r of [...runs].sort((a, b) => a.start - b.start)) {
    const last = out.at(-1)
    if (last !== undefined && r.start <= last.end)
      out[out.length - 1] = { start: last.start, end: Math.max(last.end, r.end) }
    else out.push(r)
  }
  return out
}
