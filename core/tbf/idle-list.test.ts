import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { IdleList } from './idle-list.ts'

describe('IdleList', () => {
  it('returns the longest idle one, after any removals', () => {
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
