/**
 * Every code point except surrogates, for arbitrary strings. fast-check's unit `binary` yields the same, but examines all of the
 * million when it is created: seconds of CPU time in every test file.
 */
import fc from 'fast-check'

const HALVES = 0xd800
const HALVES_END = 0xe000
const LAST = 0x10ffff
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
