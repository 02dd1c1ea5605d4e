/**
 * Bytes that a benchmark writes, and the check of what was read back: every byte follows from the writer, the offset and the run, so
 * data of another writer, place or run is found.
 */
import type { Extent } from '#core/seqdlm/ranges.ts'
import type { Operation } from './workloads.ts'

/** Words between two stamps of the offset. */
const STAMP_BYTES = 512

/** Content of one operation of a writer, its extents one after the other. */
export function contentOf(writer: number, run: number, operation: Operation): Buffer {
  const bytes = operation.reduce((n, { start, end }) => n + end - start, 0)
  const data = Buffer.alloc(bytes, (writer * 37 + run * 11 + 1) & 0xff)
  let at = 0
  for (const { start, end } of operation) {
    for (let offset = start; offset + 16 <= end; offset += STAMP_BYTES) {
      data.writeUInt32LE(writer + 1, at + offset - start)
      data.writeUInt32LE(run, at + offset - start + 4)
      data.writeDoubleLE(offset, at + offset - start + 8)
    }
    at += end - start
  }
  return data
}

/** Reads bytes of a file; shorter at its end. */
export type ReadBytes = (extent: Extent) => Promise<Uint8Array>

/** Checks operations that no other overlaps. @returns the first difference as text; undefined if all bytes are right. */
export async function differenceIn(
  read: ReadBytes,
  writer: number,
  run: number,
  operations: readonly Operation[],
): Promise<string | undefined> {
  for (const operation of operations) {
    const expected = contentOf(writer, run, operation)
    let at = 0
    for (const extent of operation) {
      const bytes = extent.end - extent.start
      const found = await read(extent)
      if (Buffer.compare(found, expected.subarray(at, at + bytes)) !== 0) {
        const i = expected.subarray(at, at + bytes).findIndex((b, k) => found[k] !== b)
        return `byte ${extent.start + i} is ${found[i] ?? 'missing'}, client ${writer} wrote ${expected[at + i]}`
      }
      at += bytes
    }
  }
  return undefined
}

/** An operation of one writer with what it wrote. */
export interface Written {
  readonly writer: number
  readonly operation: Operation
}

/**
 * Checks atomic operations that overlap: each line of an overlap holds the bytes of one of its writers, and the order that the overlaps
 * imply has no cycle, so the file is what some order of whole operations gives.
 */
export async function disorderIn(read: ReadBytes, run: number, all: readonly Written[]): Promise<string | undefined> {
  const contents = all.map(({ writer, operation }) => contentOf(writer, run, operation))
  const offsets = all.map(({ operation }) => {
    let at = 0
    return operation.map(({ start, end }) => {
      const before = at
      at += end - start
      return before
    })
  })
  /** above[i] has the operations that overwrote a byte of operation i. */
  const above = all.map(() => new Set<number>())
  const borders = new Set<number>()
  for (const { operation } of all) for (const { start, end } of operation) borders.add(start).add(end)
  const sorted = [...borders].sort((a, b) => a - b)
  const starts = all.map(({ operation }) => operation.map((e) => e.start))
  const lineOf = (i: number, at: number): number => {
    const list = starts[i] as number[]
    let low = 0
    let high = list.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((list[middle] as number) <= at) low = middle + 1
      else high = middle
    }
    const line = low - 1
    return line >= 0 && at < ((all[i] as Written).operation[line] as Extent).end ? line : -1
  }
  for (let b = 0; b + 1 < sorted.length; b++) {
    const start = sorted[b] as number
    const end = sorted[b + 1] as number
    const covering = all.flatMap((_, i) => {
      const line = lineOf(i, start)
      return line < 0 ? [] : [{ i, line }]
    })
    if (covering.length === 0) continue
    const found = await read({ start, end })
    const holders = covering.filter(({ i, line }) => {
      const from = (offsets[i]?.[line] as number) + start - ((all[i] as Written).operation[line] as Extent).start
      return Buffer.compare(found, (contents[i] as Buffer).subarray(from, from + end - start)) === 0
    })
    const [holder] = holders
    if (holder === undefined) return `bytes ${start} to ${end - 1} are of no single write`
    // Two writers may have written the same bytes.
    if (holders.length === 1) for (const { i } of covering) if (i !== holder.i) above[i]?.add(holder.i)
  }
  return isAcyclic(above) ? undefined : 'the overlaps agree with no order of the writes'
}

function isAcyclic(above: readonly ReadonlySet<number>[]): boolean {
  const state = new Uint8Array(above.length)
  const visit = (i: number): boolean => {
    if (state[i] === 1) return false
    if (state[i] === 2) return true
    state[i] = 1
    for (const next of above[i] as ReadonlySet<number>) if (!visit(next)) return false
    state[i] = 2
    return true
  }
  return above.every((_, i) => visit(i))
}
