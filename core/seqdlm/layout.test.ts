import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fileEnd, localBound, localOffset, split, type FileLayout } from './layout.ts'

const layouts = fc.record({
  base: fc.nat(5),
  stripes: fc.integer({ min: 1, max: 5 }),
  stripeSize: fc.integer({ min: 1, max: 9 }),
})

it('puts every byte of a file in one place, by ascending object', () => {
  const property = fc.property(layouts, fc.nat(80), fc.integer({ min: 1, max: 60 }), (layout, start, length) => {
    const parts = split(layout, [{ start, end: start + length }])
    expect(parts.map((p) => p.resource)).toEqual([...new Set(parts.map((p) => p.resource))].sort((a, b) => a - b))
    const found = parts.flatMap((p) =>
      p.pieces.flatMap((x) => Array.from({ length: x.length }, (_, i) => [x.buffer + i, x.resource, x.local + i])),
    )
    const wanted = Array.from({ length }, (_, i) => {
      const { resource, local } = localOffset(layout, start + i)
      return [i, resource, local]
    })
    expect(found.sort((a, b) => a[0]! - b[0]!)).toEqual(wanted)
  })
  fc.assert(property)
})

it('knows where an object ends in its file, and where a file ends in its objects', () => {
  const property = fc.property(layouts, fc.nat(100), (layout: FileLayout, size) => {
    for (let k = 0; k < layout.stripes; k++) {
      const bytes = Array.from({ length: size }, (_, at) => localOffset(layout, at)).filter(
        (x) => x.resource === layout.base + k,
      )
      expect(localBound(layout, k, size)).toBe(bytes.length)
      const last = Array.from({ length: size }, (_, at) => at).findLast(
        (at) => localOffset(layout, at).resource === layout.base + k,
      )
      expect(fileEnd(layout, k, bytes.length)).toBe(last === undefined ? 0 : last + 1)
    }
  })
  fc.assert(property)
})
