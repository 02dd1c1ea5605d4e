import fc from 'fast-check'
import { expect, it } from 'vitest'
import { sevenDigits } from './seven-digits.ts'

const plain = (v: number): string => (Number.isNaN(v) ? '' : String(Number(v.toPrecision(7))))

it('figures have seven digits, as by toPrecision', () => {
  const near = fc.tuple(fc.integer({ min: -7, max: 16 }), fc.integer({ min: -40, max: 40 })).map(([e, k]) => {
    const bits = new Uint32Array(Float32Array.of(10 ** e).buffer)
    return new Float32Array(Uint32Array.of((bits[0] as number) + k).buffer)[0] as number
  })
  const halves = fc.integer({ min: -2e9, max: 2e9 }).map((n) => Math.fround(n / 2))
  for (const values of [fc.float(), near, halves, fc.double()]) {
    fc.assert(
      fc.property(values, (v) => {
        expect(sevenDigits(v)).toBe(plain(v))
      }),
      { numRuns: 2_000 },
    )
  }
})

it('a gap is nothing, a zero of either sign is 0', () => {
  expect([undefined, NaN, 0, -0, -2.5, 8_388_609, 123_456_789].map(sevenDigits)).toEqual([
    '',
    '',
    '0',
    '0',
    '-2.5',
    '8388609',
    '123456800',
  ])
})
