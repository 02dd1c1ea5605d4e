import fc from 'fast-check'
import { expect, it } from 'vitest'
import { carryLines, cutLine, placeIndex } from './fault-lines.ts'

const fault = (line: number, column: number, length = 1) => ({
  line,
  column,
  length,
  severity: 'error' as const,
  message: 'x',
})

it('carries faults of untouched lines along and drops those of the edited one', () => {
  const faults = [fault(1, 1), fault(2, 3), fault(4, 2)]
  expect(carryLines(faults, 'a\nb\nc\nd', 'a\nB\nc\nd')).toEqual([fault(1, 1), fault(4, 2)])
  expect(carryLines(faults, 'a\nb\nc\nd', 'a\nb\nnew\nc\nd')).toEqual([fault(1, 1), fault(2, 3), fault(5, 2)])
  expect(carryLines(faults, 'a\nb\nc\nd', '')).toEqual([])
})

it('cuts a line so that its pieces are the line, each fault at its column', () => {
  const any = fc.array(fc.tuple(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 0, max: 8 })), { maxLength: 5 })
  fc.assert(
    fc.property(fc.string({ maxLength: 15 }), any, (line, list) => {
      const pieces = cutLine(
        line,
        list.map(([c, n]) => fault(1, c, n)),
      )
      expect(pieces.map((p) => p.text).join('')).toBe(line)
      let at = 0
      for (const p of pieces) {
        if (p.fault && p.fault.column <= line.length) expect(at).toBe(p.fault.column - 1)
        at += p.text.length
      }
    }),
  )
})

it('finds a place in the text, and its end where the line is shorter', () => {
  expect([placeIndex('ab\ncd\n', 2, 2), placeIndex('ab\ncd\n', 1, 9), placeIndex('ab', 5, 1)]).toEqual([4, 2, 2])
})
