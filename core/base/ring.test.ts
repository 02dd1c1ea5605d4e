import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Ring } from './ring.ts'

describe('Ring', () => {
  it('gives back what it was given, in order', () => {
    // Positive: number of pushes; negative: number of shifts.
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -400, max: 600 }), { maxLength: 30 }), (steps) => {
        const ring = new Ring<number>()
        const list: number[] = []
        let next = 0
        for (const s of steps) {
          for (let i = 0; i < s; i++) {
            ring.push(next)
            list.push(next++)
          }
          for (let i = s; i < 0; i++) expect(ring.shift()).toBe(list.shift())
          expect(ring.size).toBe(list.length)
        }
        while (list.length > 0) expect(ring.shift()).toBe(list.shift())
        expect(ring.shift()).toBeUndefined()
      }),
    )
  })
})
