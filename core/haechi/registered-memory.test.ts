import { describe, expect, it } from 'vitest'
import { randomStream } from '../base/random.ts'
import type { Result } from '../base/result.ts'
import { RegisteredMemory } from './registered-memory.ts'
import { TokenMemory, tokenMemoryBytes } from './token-memory.ts'

const code = (result: Result<unknown>): string => (result.ok ? 'ok' : result.error.code)
const value = <T>(result: Result<T>): T => {
  if (!result.ok) throw new Error(result.error.what)
  return result.value
}

describe('registered memory', () => {
  const memory = new RegisteredMemory(new ArrayBuffer(256))
  value(memory.register(7, 'records', 64, 128, { read: true }))
  value(memory.register(8, 'records', 64, 128, { read: true, write: true }))

  it('reads and writes inside a region, at whole words atomically', () => {
    expect(code(memory.write(8, 120, Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)))).toBe('ok')
    const into = new Uint8Array(8)
    expect(code(memory.read(7, 120, into))).toBe('ok')
    expect([...into]).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect(value(memory.readWord(7, 120))).toBe(0x0807060504030201n)
  })

  it.each([
    ['an unknown key', 'E_KEY', () => memory.read(9, 0, new Uint8Array(1))],
    ['a write with a key for reading', 'E_RIGHTS', () => memory.write(7, 0, new Uint8Array(1))],
    ['a CAS without the right', 'E_RIGHTS', () => memory.compareAndSwap(8, 0, 0n, 1n)],
    ['a FAA without the right', 'E_RIGHTS', () => memory.takeFrom(8, 0, 1)],
    ['one byte past the end', 'E_BOUNDS', () => memory.read(7, 121, new Uint8Array(8))],
    ['a negative offset', 'E_BOUNDS', () => memory.write(8, -8, new Uint8Array(8))],
    ['a fractional offset', 'E_BOUNDS', () => memory.readWord(7, 0.5)],
    ['a word that is not aligned', 'E_ALIGNMENT', () => memory.writeWord(8, 4, 1n)],
    ['a region outside the memory', 'E_BOUNDS', () => memory.register(10, 'x', 200, 100, {})],
    ['a key in use', 'E_KEY', () => memory.register(7, 'x', 0, 8, {})],
  ])('refuses %s with %s', (_, expected, attempt) => expect(code(attempt())).toBe(expected))

  it('counts refusals', () => expect(memory.counters.refused).toBe(8))
})

describe('attacks on the memory of tokens', () => {
  const random = randomStream(1, 'keys')
  const fresh = (): TokenMemory => new TokenMemory(4, (n) => random.below(n), new ArrayBuffer(tokenMemoryBytes(4)))

  it('a client that adds tokens to the pool', () => {
    const tokens = fresh()
    const { pool } = value(tokens.admit(0, 1000))
    for (const take of [-1000, 0, 1001, 0.5, NaN]) expect(code(tokens.memory.takeFrom(pool, 0, take))).toBe('E_FAA')
    expect(tokens.pool().tokens).toBe(-(2 ** 55))
    expect(code(tokens.memory.writeWord(pool, 0, 1n))).toBe('E_RIGHTS')
  })

  it('a client that swaps the pool', () => {
    const tokens = fresh()
    const { pool, slot } = value(tokens.admit(0, 1000))
    for (const key of [pool, slot]) expect(code(tokens.memory.compareAndSwap(key, 0, 0n, 5n))).toBe('E_RIGHTS')
  })

  it("a client that writes into another one's report slot", () => {
    const tokens = fresh()
    const account = value(tokens.admit(0, 1000))
    value(tokens.admit(1, 1000))
    for (const offset of [8, -8, 4.5]) expect(code(tokens.memory.writeWord(account.slot, offset, 1n))).toBe('E_BOUNDS')
    expect(tokens.slot(1)).toEqual({ epoch: 0, residual: 0, spent: 0, completed: 0, isBacklogged: false, beat: 0 })
  })

  it('a second monitor', () => {
    const tokens = fresh()
    expect(code(tokens.claimMonitor())).toBe('ok')
    expect(code(tokens.claimMonitor())).toBe('E_MONITOR')
  })

  it('a client that continues to use its keys after it left', () => {
    const tokens = fresh()
    const keys = value(tokens.admit(0, 1000))
    tokens.release(keys)
    expect(code(tokens.take(keys, 1))).toBe('E_KEY')
    expect(code(tokens.report(keys, { epoch: 1, residual: 1, spent: 0, completed: 1, beat: 1 }))).toBe('E_KEY')
  })

  it('more clients than slots', () => expect(code(fresh().admit(4, 1000))).toBe('E_SLOTS'))
})

it('grants exactly the pool to any number of FAAs, also on shared memory', () => {
  const random = randomStream(2, 'keys')
  const tokens = new TokenMemory(8, (n) => random.below(n), new SharedArrayBuffer(256))
  const key = value(tokens.claimMonitor())
  const start = tokens.pool().tokens
  expect(tokens.swapPool(key, start, 2437, 5)).toBe(start)
  const keys = [0, 1, 2, 3].map((i) => value(tokens.admit(i, 1000)))
  const before = keys.map((k) => value(tokens.take(k, 1000)))
  expect(before).toEqual([2437, 1437, 437, -563].map((t) => ({ tokens: t, epoch: 5 })))
  expect(tokens.swapPool(key, 437, 99, 6)).toBe(-1563)
  expect(tokens.pool()).toEqual({ tokens: -1563, epoch: 5 })
})
