import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ExtentMap } from './extent-map.ts'
import { byPage, PageCache } from './page-cache.ts'
import { EOF } from './ranges.ts'
import { mergeBlock, slicedSn, type SnExtent } from './sn-merge.ts'

const SIZE = 60
const block = fc
  .record({ start: fc.nat(SIZE - 2), length: fc.integer({ min: 1, max: 20 }), sn: fc.integer({ min: 1, max: 9 }) })
  .map(({ start, length, sn }): SnExtent => ({ start, end: Math.min(SIZE, start + length), sn }))

const perByte = (extents: Iterable<SnExtent>): number[] => {
  const sns = new Array<number>(SIZE).fill(0)
  for (const { start, end, sn } of extents) sns.fill(sn, start, end)
  return sns
}

it('merges blocks as an array of bytes does, wins what it says, and is as small as can be', () => {
  const property = fc.property(fc.array(block, { maxLength: 60 }), (blocks) => {
    const map = new ExtentMap(slicedSn)
    const bytes = new Array<number>(SIZE).fill(0)
    for (const b of blocks) {
      const won = perByte(mergeBlock(map, b))
      for (let at = 0; at < SIZE; at++) {
        const wins = at >= b.start && at < b.end && (bytes[at] as number) <= b.sn
        expect(won[at]).toBe(wins ? b.sn : 0)
        if (wins) bytes[at] = b.sn
      }
      expect(perByte(map)).toEqual(bytes)
      const list = [...map]
      expect(list).toHaveLength(map.size)
      for (const [i, e] of list.entries()) {
        const next = list[i + 1]
        if (next) expect(e.end < next.start || (e.end === next.start && e.sn !== next.sn)).toBe(true)
      }
    }
  })
  fc.assert(property, { numRuns: 300 })
})

it('holds many extents in order, whichever way they come', () => {
  const count = 5000
  for (const step of [1, 7, count - 1]) {
    const map = new ExtentMap(slicedSn)
    for (let i = 0, at = 0; i < count; i++, at = (at + step) % count)
      map.insert({ start: at * 10, end: at * 10 + 5, sn: 1 })
    expect([...map].map((e) => e.start)).toEqual(Array.from({ length: count }, (_, i) => i * 10))
    expect(map.overlapping(995, 1021).map((e) => e.start)).toEqual([1000, 1010, 1020])
    expect(map.before(995)?.start).toBe(990)
    expect(map.before(999)).toBeUndefined()
    expect(map.from(996)?.start).toBe(1000)
    expect(map.carve(12, 49_000)).toHaveLength(4899)
    expect(map.hull).toEqual({ start: 0, end: 49_995 })
    expect(map.size).toBe(count - 4898)
  }
})

it('is a sorted array, over many chunks, whatever is put in, cut out and swept', () => {
  const reach = 8000
  const step = fc.record({
    kind: fc.constantFrom('insert', 'insert', 'insert', 'carve', 'sweep', 'delete', 'grow'),
    at: fc.nat(reach - 1),
    length: fc.integer({ min: 1, max: 40 }),
  })
  const property = fc.property(
    fc.array(step, { minLength: 10, maxLength: 60 }),
    fc.integer({ min: 1, max: 9 }),
    (steps, gap) => {
      const map = new ExtentMap(slicedSn)
      let list: SnExtent[] = []
      for (let at = 0; at < reach; at += 10 + gap) list.push({ start: at, end: at + 10, sn: 1 })
      for (const e of list) map.insert({ ...e })
      for (const { kind, at, length } of steps) {
        const end = Math.min(reach, at + length * (kind === 'carve' ? 50 : 1))
        const touched = list.filter((e) => e.start < end && e.end > at)
        expect(map.overlapping(at, end)).toEqual(touched)
        expect(map.isFree(at, end)).toBe(touched.length === 0)
        if (kind === 'insert' && touched.length === 0) {
          map.insert({ start: at, end, sn: 2 })
          list = [...list, { start: at, end, sn: 2 }].sort((a, b) => a.start - b.start)
        } else if (kind === 'grow' && touched.length === 0 && map.left !== undefined) {
          const { left } = map
          const same = list.findLast((e) => e.end <= at) as { end: number }
          expect(left).toEqual(same)
          ;(left as { end: number }).end = end
          map.leftGrew()
          same.end = end
        } else if (kind === 'carve') {
          map.carve(at, end)
          const edges = touched.flatMap((e) => [slicedSn(e, e.start, at), slicedSn(e, end, e.end)])
          list = [...list.filter((e) => !touched.includes(e)), ...edges.filter((e) => e.start < e.end)]
          list.sort((a, b) => a.start - b.start)
        } else if (kind === 'sweep') {
          const due = list.filter((e) => e.start >= at).slice(0, length * 10)
          expect(map.sweep(at, length * 10, (e) => e.sn === 2 || e.start % 3 === 0)).toBe(due.length)
          list = list.filter((e) => !due.includes(e) || !(e.sn === 2 || e.start % 3 === 0))
        } else if (kind === 'delete' && touched[0] !== undefined) {
          map.delete(map.overlapping(at, end)[0] as SnExtent)
          list = list.filter((e) => e !== touched[0])
        }
        expect(map.before(at)).toEqual(list.findLast((e) => e.start < at && e.end >= at))
        expect(map.from(at)).toEqual(list.find((e) => e.start >= at))
      }
      expect([...map]).toEqual(list)
      expect(map.size).toBe(list.length)
    },
  )
  fc.assert(property, { numRuns: 40 })
})

it('cuts an open-ended extent and leaves the rest open', () => {
  const map = new ExtentMap(slicedSn)
  map.insert({ start: 0, end: EOF, sn: 1 })
  map.carve(10, 20)
  expect([...map].map(({ start, end }) => [start, end])).toEqual([
    [0, 10],
    [20, EOF],
  ])
})

it('shows the extents of Fig. 14 page by page', () => {
  const pages = new PageCache({ maxExtentBytes: 1 << 19, maxCleanBytes: 0 })
  pages.write(0, { start: 0, end: 4096, sn: 7, data: null, hole: false })
  pages.write(0, { start: 2048, end: 8192, sn: 9, data: null, hole: false })
  expect(byPage(pages.extents(0), 4096).map(({ start, end, sn }) => [start, end, sn])).toEqual([
    [0, 2048, 7],
    [2048, 4096, 9],
    [4096, 8192, 9],
  ])
  expect(pages.dirtyBytes).toBe(8192)
})
