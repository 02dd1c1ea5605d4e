import { expect, it } from 'vitest'
import { murmur3 } from './murmur3.ts'

it('hashes keys to the published tokens', () => {
  const tokens = {
    '7': 2019345015,
    '6': 3408520962,
    '9': 4175537944,
    '72': 3407275553,
    '1000': 2455803171,
    '1000|7': 1885391056,
    '1000|9|7': 3267016805,
    '1000|0|7': 1063728068,
    '': 142593372,
  }
  for (const [key, token] of Object.entries(tokens)) expect([key, murmur3(key)]).toEqual([key, token])
})

it('agrees with the known vectors of MurmurHash3 x86_32', () => {
  expect(murmur3('', 0)).toBe(0)
  expect(murmur3('', 1)).toBe(0x514e28b7)
  expect(murmur3('', 0xffffffff)).toBe(0x81f16f39)
  expect(murmur3('test', 0)).toBe(0xba6bd213)
  expect(murmur3('Hello, world!', 0)).toBe(0xc0363e43)
  expect(murmur3('The quick brown fox jumps over the lazy dog', 0)).toBe(0x2e4ff723)
})

it('hashes the UTF-8 bytes of a text', () => {
  expect(murmur3('ππππππππ', 0x9747b28c)).toBe(0xd58063c1)
})
