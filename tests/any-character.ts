/**
 * Every code point that is no half of a pair, for strings of any text. The unit `binary` of fast-check yields the same, and looks at
 * each of the million when it is made: seconds of a processor in every file of tests.
 */
import fc from 'fast-check'

const [HALVES, HALVES_END, LAST] = [0xd800, 0xe000, 0x10ffff]
const COUNT = HALVES_END - HALVES

export const anyCharacter: fc.Arbitrary<string> = fc.integer({ min: 0, max: LAST - COUNT }).map(
  (n) => String.fromCodePoint(n < HALVES ? n : n + COUNT),
  (value) => {
    const point = typeof value === 'string' ? value.codePointAt(0) : undefined
    if (point === undefined || value !== String.fromCodePoint(point) || (point >= HALVES && point < HALVES_END)) {
      throw new Error('no character')
    }
    return point < HALVES ? point : point - COUNT
  },
)
