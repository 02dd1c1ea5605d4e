import fc from 'fast-check'
import { expect, it } from 'vitest'
import { placeMarks } from './mark-places.ts'

const mark = (atMs: number, text = 'bwa joins') => ({ atMs, kind: 'join' as const, text, level: 'ok' as const })

it('places labels where there is room, left of the line at the right edge', () => {
  const placed = placeMarks([mark(100), mark(500), mark(990), mark(2000)], 0, 1000, 800)
  expect(placed.map(({ share, label, isLeft }) => [share, label, isLeft])).toEqual([
    [0.1, 'bwa joins', false],
    [0.5, 'bwa joins', false],
    [0.99, 'bwa joins', true],
  ])
})

it('merges marks at the same place and keeps all their texts', () => {
  const [one] = placeMarks([mark(500, 'a joins'), mark(501, 'b joins')], 0, 1000, 800)
  expect(one).toMatchObject({ label: 'a joins +1', title: 'a joins\nb joins' })
})

it('never overlaps labels', () => {
  const any = fc.array(fc.tuple(fc.integer({ min: 0, max: 1000 }), fc.string({ maxLength: 30 })), { maxLength: 40 })
  fc.assert(
    fc.property(any, fc.integer({ min: 50, max: 1200 }), (list, width) => {
      const placed = placeMarks(
        list.map(([at, text]) => mark(at, text)),
        0,
        1000,
        width,
      )
      const boxes = placed
        .filter((p) => p.label !== null)
        .map(({ share, label, isLeft }) => {
          const px = (label ?? '').length * 5.6
          return isLeft ? [share * width - px, share * width] : [share * width, share * width + px]
        })
      for (const [i, [, to]] of boxes.entries()) {
        const next = boxes[i + 1]
        if (next) expect(next[0]).toBeGreaterThanOrEqual((to ?? 0) - 1e-6)
      }
    }),
  )
})
