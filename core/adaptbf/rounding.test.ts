import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EPS, distribute } from './rounding.ts'

interface Apportioned {
  granted: number[]
  rho: number[]
  corrections: number
}

function apportion(total: number, share: readonly number[], rho: readonly number[]): Apportioned {
  const columns = {
    share: Float64Array.from(share),
    rho: Float64Array.from(rho),
    granted: new Float64Array(share.length),
    scratch: new Float64Array(share.length),
  }
  const corrections = distribute(total, share.length, columns)
  return { granted: [...columns.granted], rho: [...columns.rho], corrections }
}

/** The same, by scanning all members for each token. */
function apportionByScan(total: number, share: readonly number[], before: readonly number[]): Apportioned {
  const due = share.map((s, i) => s + before[i]!)
  const granted = due.map((e) => Math.max(0, Math.floor(e + EPS)))
  const rho = due.map((e, i) => e - granted[i]!)
  let remaining = total - granted.reduce((a, b) => a + b, 0)
  const corrections = Math.abs(remaining)
  for (; remaining !== 0; remaining -= Math.sign(remaining)) {
    const able = rho.flatMap((_, i) => (remaining > 0 || granted[i]! > 0 ? [i] : []))
    const first = able.reduce((best, i) => (rho[i]! > rho[best]! + EPS ? i : best))
    granted[first]! += Math.sign(remaining)
    rho[first]! -= Math.sign(remaining)
  }
  return { granted, rho, corrections }
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0)

// Quarters make many ties; weights make shares that sum to the total.
const scene = fc
  .array(fc.record({ weight: fc.integer({ min: 1, max: 9 }), rho: fc.integer({ min: -8, max: 8 }) }), {
    minLength: 1,
    maxLength: 40,
  })
  .chain((members) => fc.record({ members: fc.constant(members), total: fc.integer({ min: 1, max: 200 }) }))
  .map(({ members, total }) => {
    const all = sum(members.map(({ weight }) => weight))
    return { total, share: members.map(({ weight }) => (weight * total) / all), rho: members.map(({ rho }) => rho / 4) }
  })

describe('distribute', () => {
  it('is the one-at-a-time correction, for any remainders', () => {
    fc.assert(
      fc.property(scene, ({ total, share, rho }) => {
        expect(apportion(total, share, rho)).toEqual(apportionByScan(total, share, rho))
      }),
      { numRuns: 500 },
    )
  })

  it('hands out the total exactly, keeps the sum of the remainders, never grants below 0', () => {
    fc.assert(
      fc.property(scene, ({ total, share, rho }) => {
        const out = apportion(total, share, rho)
        expect(sum(out.granted)).toBe(total)
        expect(Math.abs(sum(out.rho) - sum(rho))).toBeLessThan(1e-9)
        expect(Math.min(...out.granted)).toBeGreaterThanOrEqual(0)
      }),
    )
  })

  it('gives leftovers to the largest remainder, the first of equals', () => {
    expect(apportion(2, [0.5, 0.75, 0.75], [0, 0, 0]).granted).toEqual([0, 1, 1])
    expect(apportion(1, [1 / 3, 1 / 3, 1 / 3], [0, 1e-12, 0]).granted).toEqual([1, 0, 0])
  })

  it('selects again after every token: a member far behind gets none while another gets two', () => {
    expect(apportion(2, [2, 0], [0, 0]).granted).toEqual([2, 0])
    expect(apportion(3, [0.5, 0.5, 2], [1.25, 1, -3]).granted).toEqual([2, 1, 0])
  })

  it('takes excess from the largest remainder that has a token', () => {
    const out = apportion(1, [0.5, 0.5], [0.75, 0.5])
    expect(out).toEqual({ granted: [0, 1], rho: [1.25, 0], corrections: 1 })
    expect(apportion(1, [0.1, 0.9], [0.8, 1.15])).toMatchObject({ granted: [0, 1], corrections: 1 })
  })

  it('accumulates: 0.4 of a token a period is 4 tokens in 10 periods', () => {
    let rho = [0, 0]
    let tokens = 0
    for (let period = 0; period < 10; period++) {
      const out = apportion(1, [0.4, 0.6], rho)
      rho = out.rho
      tokens += out.granted[0]!
    }
    expect(tokens).toBe(4)
  })

  it('changes nothing for a total of 0, also without members', () => {
    expect(apportion(0, [0, 0], [1.25, -1.25])).toEqual({ granted: [0, 0], rho: [1.25, -1.25], corrections: 0 })
    expect(apportion(0, [], [])).toEqual({ granted: [], rho: [], corrections: 0 })
  })

  it('is the one-at-a-time correction for many members too', () => {
    const share = Array.from({ length: 3000 }, (_, i) => ((i * 7919) % 1000) / 997)
    const total = Math.round(sum(share))
    const rho = share.map((_, i) => ((i * 104729) % 64) / 16 - 2)
    expect(apportion(total, share, rho)).toEqual(apportionByScan(total, share, rho))
  })

  it('refuses tokens without members and shares that are no numbers', () => {
    expect(() => apportion(1, [], [])).toThrow('at least one member')
    expect(() => apportion(2, [NaN, 0.5], [0, 0])).toThrow('finite')
  })
})
