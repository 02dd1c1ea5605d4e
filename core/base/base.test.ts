import { formatTimeout } from './figure-text.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { shortHash } from './hash.ts'
import { byCodeUnit } from './order.ts'
import { fail, formatFailure, invariant, InvariantError, ok } from './result.ts'
import { sToNs } from './units.ts'

describe('shortHash', () => {
  it('is ten hex digits and the same every time', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(shortHash(text)).toMatch(/^[0-9a-f]{10}$/)
        expect(shortHash(text)).toBe(shortHash(text))
      }),
    )
    // Rule names on servers outlive a release of this program, so the hash value must never change.
    expect(shortHash('oss01\u00004690.python.u1021')).toBe('49ce12b233')
  })

  it('tells 20,000 neighboring job ids apart', () => {
    const names = new Set(Array.from({ length: 20_000 }, (_, i) => shortHash(`oss01\u0000${i}.python.u1021`)))
    expect(names.size).toBe(20_000)
  })
})

describe('byCodeUnit', () => {
  it('sorts as code units, whatever the locale', () => {
    expect(['b', 'a', 'Z', 'é', 'ab', ''].sort(byCodeUnit)).toEqual(['', 'Z', 'a', 'ab', 'b', 'é'])
  })
})

describe('formatFailure', () => {
  it('names what, why, what is unaffected and what next, and leaves out what is unknown', () => {
    expect(formatFailure({ code: 'X', what: 'It failed' })).toBe('It failed.')
    expect(formatFailure({ code: 'X', what: 'It failed', why: 'no disk', unaffected: 'A runs.', next: 'Do B.' })).toBe(
      'It failed: no disk. A runs. Do B.',
    )
  })
})

describe('results and invariants', () => {
  it('keep their value', () => {
    expect(ok(1)).toEqual({ ok: true, value: 1 })
    expect(fail('E')).toEqual({ ok: false, error: 'E' })
    expect(() => invariant(true, 'claim')).not.toThrow()
    expect(() => invariant(false, 'claim')).toThrow(InvariantError)
    expect(() => invariant(false, 'claim')).toThrow('claim')
  })
})

describe('units', () => {
  it('are whole nanoseconds', () => {
    expect([sToNs(0.1), sToNs(1.0000000004)]).toEqual([1e8, 1e9])
  })
})

describe('a time that something was given', () => {
  it('is read at a glance, whatever is left of it', () => {
    expect([34.12, 1034.1208529999995, 5000, 7540].map(formatTimeout)).toEqual(['34 ms', '1 s', '5 s', '7.5 s'])
  })
})
