import { describe, expect, it } from 'vitest'
import type { Extent } from '#core/seqdlm/ranges.ts'
import { contentOf, differenceIn, disorderIn, type ReadBytes, type Written } from './content.ts'
import { fileOf, operationsOf, WORKLOADS } from './workloads.ts'

const SIZE = { clients: 6, writeBytes: 4096, writes: 16 }
const writers = Array.from({ length: SIZE.clients }, (_, i) => i)

/** File in memory after some operations, in their order. */
function fileAfter(written: readonly Written[], run = 1): Buffer {
  const end = Math.max(...written.flatMap(({ operation }) => operation.map((e) => e.end)))
  const file = Buffer.alloc(end)
  for (const { writer, operation } of written) {
    const data = contentOf(writer, run, operation)
    let at = 0
    for (const extent of operation) {
      data.copy(file, extent.start, at, at + extent.end - extent.start)
      at += extent.end - extent.start
    }
  }
  return file
}
const readerOf =
  (file: Buffer): ReadBytes =>
  ({ start, end }: Extent) =>
    Promise.resolve(file.subarray(start, end))

const allOf = (workload: (typeof WORKLOADS)[number]): Written[] =>
  writers.flatMap((writer) => operationsOf(workload, writer, SIZE).map((operation) => ({ writer, operation })))

describe('workloads', () => {
  it.each(WORKLOADS.filter((w) => w !== 'tile'))('%s: no byte is written twice', (workload) => {
    const extents = writers.flatMap((writer) =>
      operationsOf(workload, writer, SIZE).flatMap((operation) =>
        operation.map((e) => ({ ...e, file: fileOf(workload, writer) })),
      ),
    )
    const sorted = extents.sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.start - b.start))
    for (const [i, e] of sorted.entries()) {
      const before = sorted[i - 1]
      if (before?.file === e.file) expect(before.end).toBeLessThanOrEqual(e.start)
    }
    expect(sorted.reduce((n, e) => n + e.end - e.start, 0)).toBe(SIZE.clients * SIZE.writes * SIZE.writeBytes)
  })

  it('strided writes take turns, segmented ones have a part each', () => {
    const starts = (workload: 'n-1-strided' | 'n-1-segmented', writer: number) =>
      operationsOf(workload, writer, SIZE).map(([e]) => (e as Extent).start / SIZE.writeBytes)
    expect(starts('n-1-strided', 2).slice(0, 3)).toEqual([2, 8, 14])
    expect(starts('n-1-segmented', 2).slice(0, 3)).toEqual([32, 33, 34])
  })

  it('tiles overlap their neighbors, and cover the image without a hole', () => {
    const extents = allOf('tile').flatMap(({ operation }) => operation)
    const sorted = extents.sort((a, b) => a.start - b.start)
    let end = 0
    let overlapping = 0
    for (const e of sorted) {
      expect(e.start).toBeLessThanOrEqual(end)
      if (e.start < end) overlapping++
      end = Math.max(end, e.end)
    }
    expect(overlapping).toBeGreaterThan(SIZE.writes)
  })
})

describe('the check of what was written', () => {
  const strided = allOf('n-1-strided')
  const operations = operationsOf('n-1-strided', 3, SIZE)

  it('accepts the right bytes', async () => {
    expect(await differenceIn(readerOf(fileAfter(strided)), 3, 1, operations)).toBeUndefined()
  })

  it('finds one changed byte, a missing end, the bytes of another writer and of another run', async () => {
    const file = fileAfter(strided)
    const [, second] = operations
    const at = (second?.[0] as Extent).start + 100
    file[at] = (file[at] as number) ^ 1
    expect(await differenceIn(readerOf(file), 3, 1, operations)).toContain(`byte ${at} is`)
    expect(
      await differenceIn(readerOf(fileAfter(strided).subarray(0, -4096)), 5, 1, operationsOf('n-1-strided', 5, SIZE)),
    ).toContain('missing')
    const swapped = strided.map((w): Written => (w.writer === 3 ? { ...w, writer: 4 } : w))
    expect(await differenceIn(readerOf(fileAfter(swapped)), 3, 1, operations)).toContain('client 3 wrote')
    expect(await differenceIn(readerOf(fileAfter(strided, 2)), 3, 1, operations)).toContain('client 3 wrote')
  })

  it('accepts overlapping atomic writes in any order, and no torn one', async () => {
    const tiles = allOf('tile')
    for (const order of [tiles, tiles.toReversed(), [...tiles.slice(3), ...tiles.slice(0, 3)]]) {
      expect(await disorderIn(readerOf(fileAfter(order)), 1, tiles)).toBeUndefined()
    }
    // The second half of the first tile was written after its neighbors, its first half before them.
    const [first, ...others] = tiles as [Written, ...Written[]]
    const half = first.operation.length >> 1
    const file = fileAfter([first, ...others])
    const whole = contentOf(first.writer, 1, first.operation)
    let at = 0
    for (const [i, e] of first.operation.entries()) {
      if (i >= half) whole.copy(file, e.start, at, at + e.end - e.start)
      at += e.end - e.start
    }
    expect(await disorderIn(readerOf(file), 1, tiles)).toBe('the overlaps agree with no order of the writes')
    file[(first.operation[0] as Extent).start] = 255
    expect(await disorderIn(readerOf(file), 1, tiles)).toMatch(/^bytes 0 to /)
  })
})
