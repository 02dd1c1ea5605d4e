import { describe, expect, it } from 'vitest'
import { changed, DEFAULT_SETTINGS, type GlobalChange, usable } from './settings.ts'

describe('settings of a global controller', () => {
  it.each<[string, GlobalChange]>([
    ['E_EPSILON', { epsilon: 1.1 }],
    ['E_EPSILON', { epsilon: -0.1 }],
    ['E_EPSILON', { epsilon: NaN }],
    ['E_ALGORITHM', { algorithm: 'fair' as never }],
    ['E_SPLIT', { split: 'half' as never }],
    ['E_ROUNDS', { collectRounds: 0 }],
    ['E_ROUNDS', { collectRounds: 1.5 }],
    ['E_INTERVAL', { intervalMs: 0 }],
    ['E_LEASE', { lease: { ns: 1, onExpiry: 'hold' } }],
    ['E_LEASE', { lease: { ns: 10e9, onExpiry: { rate: 0 } } }],
    ['E_LEASE', { intervalMs: 3_600_000 }],
    ['E_SLOTS', { slots: 0 }],
    ['E_SUPPRESS', { suppress: 0.9 }],
    ['E_LIMIT', { limits: [{ scope: 'open', rate: 0 }] }],
    ['E_LIMIT', { limits: [{ scope: 'open', rate: NaN }] }],
    ['E_SCOPE', { limits: [{ scope: 'opne' as never, rate: 5 }] }],
  ])('%s: refuses %j, and nothing of it holds', (code, change) => {
    const next = changed(DEFAULT_SETTINGS, { ...change })
    expect(!next.ok && next.error.code).toBe(code)
  })

  it('keeps settings that a change omits', () => {
    const first = changed(DEFAULT_SETTINGS, { limits: [{ scope: 'open', rate: 5 }], epsilon: 0.5 })
    const then = first.ok
      ? changed(first.value, { limits: [{ scope: 'meta_op', rate: 7 }], algorithm: 'psharing' })
      : first
    expect(then.ok && then.value).toMatchObject({ epsilon: 0.5, algorithm: 'psharing', split: 'equal' })
    const last = then.ok ? changed(then.value, { limits: [{ scope: 'open', rate: null }] }) : then
    expect(last.ok && [...last.value.limits]).toEqual([['meta_op', 7]])
  })

  it('lets a lease last for the interval at the least', () => {
    expect(usable({ ...DEFAULT_SETTINGS, intervalNs: 60e9 }).lease.ns).toBe(120e9)
  })
})
