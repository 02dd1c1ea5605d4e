import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { IdleList } from './idle-list.ts'
import { Ring } from '../base/ring.ts'

describe('Ring', () => {
  it('gives back what it was given, in order', () => {
    // Positive: so many in; negative: so many out.
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

describe('IdleList', () => {
  it('knows the one idle for longest, whoever leaves in between', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(90), { maxLength: 300 }), (numbers) => {
        const idle = new IdleList()
        let list: number[] = []
        for (const n of numbers) {
          if (list.includes(n)) {
            idle.remove(n)
            list = list.filter((x) => x !== n)
          } else {
            idle.add(n)
            list.push(n)
          }
          expect([idle.oldest, idle.size]).toEqual([list[0] ?? -1, list.length])
        }
        for (const n of list) {
          expect(idle.oldest).toBe(n)
          idle.remove(n)
        }
        expect([idle.oldest, idle.size]).toEqual([-1, 0])
      }),
    )
  })
})
