import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SeriesTable } from './series-table.ts'

/** A table with the given samples 100 ms apart; null is a gap. */
function filled(capacity: number, values: readonly (number | null)[]): SeriesTable {
  const table = new SeriesTable(capacity, ['rpcs'])
  values.forEach((v, i) => {
    table.push((i + 1) * 100)
    if (v !== null) table.set('a', v)
  })
  return table
}

const samples = fc.array(fc.option(fc.integer({ min: -1000, max: 1000 }), { freq: 4 }), { maxLength: 60 })

describe('SeriesTable', () => {
  it('keeps the newest samples under their numbers, and gaps are NaN, for any capacity', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), samples, (capacity, values) => {
        const table = filled(capacity, values)
        expect(table.newest).toBe(values.length)
        expect(table.oldest).toBe(Math.max(1, values.length - capacity + 1))
        for (let n = -1; n <= values.length + 2; n++) {
          const isHere = n >= table.oldest && n <= values.length
          expect(table.value('a', 0, n)).toBe(isHere ? (values[n - 1] ?? NaN) : NaN)
          expect(table.atMs(n)).toBe(isHere ? n * 100 : NaN)
        }
      }),
    )
  })

  it('holds several series and measures on one axis; a new series was a gap before', () => {
    const table = new SeriesTable(3, ['rpcs', 'bytes'])
    table.push(1)
    table.set('a', 1, 10)
    table.push(2)
    table.set('b', 5)
    expect([...table.names]).toEqual(['a', 'b'])
    expect([1, 2].map((n) => table.value('a', 1, n))).toEqual([10, NaN])
    expect([1, 2].map((n) => table.value('b', 0, n))).toEqual([NaN, 5])
    expect(table.value('b', 1, 2)).toBeNaN()
    expect(table.value('c', 0, 2)).toBeNaN()
    table.drop('a')
    expect(table.value('a', 0, 1)).toBeNaN()
    expect([...table.names]).toEqual(['b'])
  })

  it('has means over spans that agree with a naive reference, also of samples that are not here', () => {
    const span = fc.tuple(
      fc.integer({ min: -5, max: 70 }),
      fc.integer({ min: -5, max: 70 }),
      fc.integer({ min: 1, max: 9 }),
    )
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), samples, span, (capacity, values, [from, to, step]) => {
        const table = filled(capacity, values)
        const here = (n: number): number | null => (n >= table.oldest && n <= values.length ? values[n - 1]! : null)
        const mean = (a: number, b: number): number | null => {
          const found = Array.from({ length: Math.max(0, b - a + 1) }, (_, i) => here(a + i)).filter((v) => v !== null)
          return found.length === 0 ? null : found.reduce((x, y) => x + y, 0) / found.length
        }
        const expected: (number | null)[] = []
        for (let a = from; a <= to; a += step) expected.push(mean(a, Math.min(a + step - 1, to)))
        const down = table.downsample('a', 0, from, to, step)
        expect(down.map((v) => v === null)).toEqual(expected.map((v) => v === null))
        down.forEach((v, i) => v !== null && expect(v).toBeCloseTo(expected[i]!, 6))
        const last = mean(to - step + 1, to)
        if (last === null) expect(table.mean('a', 0, to, step)).toBeNaN()
        else expect(table.mean('a', 0, to, step)).toBeCloseTo(last, 6)
        expect(table.times(from, to, step)).toHaveLength(expected.length)
        expect(table.downsample('nobody', 0, from, to, step)).toEqual(expected.map(() => null))
      }),
      { numRuns: 300 },
    )
  })

  it('finds the first sample at or after a time', () => {
    const table = filled(4, [1, 2, 3, 4, 5, 6])
    expect([0, 300, 301, 400, 599, 600, 9999].map((at) => table.sampleAt(at))).toEqual([3, 3, 4, 4, 6, 6, 6])
  })

  it('cuts windows at fixed multiples while they move, covers them, and makes no more spans than wanted', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 5, max: 50 }),
        fc.integer({ min: 0, max: 120 }),
        fc.integer({ min: 1, max: 6000 }),
        fc.integer({ min: 2, max: 12 }),
        (capacity, pushes, windowMs, points) => {
          const table = filled(capacity, Array<number>(pushes + 1).fill(1))
          const { from, to, step } = table.window(table.newest, windowMs, points)
          expect(to).toBe(pushes + 1)
          expect(from % step).toBe(0)
          expect(Math.floor((to - from) / step) + 1).toBeLessThanOrEqual(points)
          expect(from).toBeLessThanOrEqual(table.sampleAt(table.atMs(to) - windowMs))
          expect(table.downsample('a', 0, from, to, step).every((v) => v === 1)).toBe(true)
          expect(table.times(from, to, step).every((t) => t >= table.atMs(table.oldest))).toBe(true)
        },
      ),
    )
  })

  it('shows the same value at the same instant as the window moves on, until the span leaves it', () => {
    const table = new SeriesTable(100, ['rpcs'])
    const seen = new Map<number, number | null>()
    let compared = 0
    let added = 0
    for (let n = 1; n <= 260; n++) {
      table.push(n * 100)
      table.set('a', (n * 37) % 100)
      if (n < 100) continue
      // At the full length of the ring, where span borders once moved with the oldest sample.
      const { from, to, step } = table.window(n, 9_900, 10)
      const times = table.times(from, to, step)
      const values = table.downsample('a', 0, from, to, step)
      // The first and the last span are partly outside.
      for (let i = 1; i < times.length - 1; i++) {
        const before = seen.get(times[i]!)
        if (before === undefined) added++
        else {
          expect(values[i]).toBe(before)
          compared++
        }
        seen.set(times[i]!, values[i]!)
      }
    }
    expect(compared).toBeGreaterThan(1000)
    // Borders must not move: moving ones would add nearly all spans again in every window.
    expect(added).toBeLessThan(260 / 5)
  })

  it('has an empty window before the first sample', () => {
    const table = new SeriesTable(10, ['rpcs'])
    const { from, to, step } = table.window(table.newest, 1000, 5)
    expect(table.downsample('a', 0, from, to, step)).toEqual([])
  })
})

it('keeps exact columns to the last token, beyond what a single precision number holds', () => {
  const table = new SeriesTable(4, ['rate', 'record'], ['record'])
  table.push(0)
  table.set('a', 16_777_217, 16_777_217)
  expect(table.value('a', 1, 1)).toBe(16_777_217)
  expect(table.value('a', 0, 1)).not.toBe(16_777_217)
})
