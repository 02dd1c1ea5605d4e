import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DeadlineHeap } from './deadline-heap.ts'

interface Item {
  readonly n: number
  deadline: number
  checkTime: number
}

describe('DeadlineHeap', () => {
  it('has the first by deadline, check time and number at its root after any inserts, moves and removals', () => {
    const keys = { deadline: fc.nat(6), checkTime: fc.nat(3) }
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('insert' as const), ...keys }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('move' as const), ...keys }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), ...keys }) },
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const heap = new DeadlineHeap()
        const items: Item[] = []
        const free = Array.from({ length: 300 }, (_, i) => (i * 7) % 300)
        for (const s of steps) {
          const root = items.find((x) => x.n === heap.root)
          if (s.kind === 'insert') {
            const item = { n: free.pop()!, deadline: s.deadline, checkTime: s.checkTime }
            items.push(item)
            heap.insert(item.n, item.deadline, item.checkTime)
          } else if (root && s.kind === 'move') {
            Object.assign(root, { deadline: s.deadline, checkTime: s.checkTime })
            heap.moveRoot(s.deadline, s.checkTime)
          } else if (root) {
            items.splice(items.indexOf(root), 1)
            free.push(root.n)
            heap.removeRoot()
          }
          const [first] = [...items].sort((a, b) => a.deadline - b.deadline || a.checkTime - b.checkTime || a.n - b.n)
          expect(heap.size).toBe(items.length)
          expect(heap.root).toBe(first?.n ?? -1)
          if (first) expect(heap.rootDeadline).toBe(first.deadline)
        }
      }),
    )
  })

  it('keeps deadlines of days to the ns', () => {
    const heap = new DeadlineHeap()
    const late = 9_000_000_000_000_000
    heap.insert(0, late + 1, 0)
    heap.insert(1, late, 0)
    expect([heap.root, heap.rootDeadline]).toEqual([1, late])
  })
})
