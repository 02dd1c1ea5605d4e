import { expect, it } from 'vitest'
import { isSamePicture, LookAhead } from './look-ahead.ts'

const frame = (sample: number, seq = 1, values: readonly (number | null)[] = [1, null]) => ({
  seq,
  sample,
  rows: { values },
})

it('compares frames by content, ignoring their sequence numbers', () => {
  expect(isSamePicture(frame(7, 1), { ...frame(7, 9), isAhead: true })).toBe(true)
  expect(isSamePicture(frame(7), frame(7, 1, [1, 0]))).toBe(false)
  expect(isSamePicture(frame(7), frame(8))).toBe(false)
  expect(isSamePicture(frame(7), { ...frame(7), turn: 1 } as ReturnType<typeof frame>)).toBe(false)
})

it('keeps the newest frames, including repeated ones', () => {
  const ahead = new LookAhead<ReturnType<typeof frame>>()
  for (const sample of [1, 2, 3, 4, 5, 6, 1, 7]) ahead.keep(frame(sample))
  expect([1, 2, 3, 7].map((sample) => ahead.of(sample)?.sample)).toEqual([1, undefined, 3, 7])
})
