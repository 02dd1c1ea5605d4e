import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { typeOf } from '../tbf/tbf-type.ts'
import { covers, shapeOf, type Shape } from './condition-shape.ts'
import { CoverIndex } from './cover-index.ts'

const TYPE = typeOf(['jobid', 'uid'])
const item = fc.constantFrom('a', 'ab', 'abc', 'a*', 'ab*', '*c', '*', 'b.1', 'b.*', 'b*.1')
const list = fc.uniqueArray(item, { minLength: 1, maxLength: 2 }).map((items) => `jobid={${items.join(' ')}}`)
const clause = fc.oneof({ weight: 4, arbitrary: list }, fc.constantFrom('uid={0}', 'uid={0 500}'))
const all = fc.array(clause, { minLength: 1, maxLength: 2 }).map((c) => c.join('&'))
const shape = fc
  .array(all, { minLength: 1, maxLength: 2 })
  .map((alternatives) => shapeOf(alternatives.join(','), TYPE) as Shape)

describe('CoverIndex', () => {
  it('finds the first of all that cover a condition, as trying each of them does', () => {
    let found = 0
    fc.assert(
      fc.property(fc.array(shape, { maxLength: 8 }), shape, (wide, narrow) => {
        const index = new CoverIndex<number>()
        wide.forEach((w, i) => index.add(i, w))
        const first = wide.findIndex((w) => covers(w, narrow))
        expect(index.firstCovering(narrow)).toBe(first < 0 ? undefined : first)
        if (first >= 0) found++
      }),
      { numRuns: 2_000 },
    )
    expect(found).toBeGreaterThan(200)
  })
})
