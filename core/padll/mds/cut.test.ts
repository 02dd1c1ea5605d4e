import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutByUse, roundRates, type Place } from './compile.ts'

const place = (used: number, more: Partial<Place> = {}): Place => ({
  used,
  isAtLimit: false,
  cap: Infinity,
  leastPart: 0.01,
  ...more,
})
const sum = (values: readonly number[]): number => values.reduce((n, v) => n + v, 0)

describe('one rate over several places', () => {
  it('follows observed use', () => {
    expect(cutByUse(100, [place(30), place(10)])).toEqual([75, 25])
    expect(cutByUse(100, [place(0), place(0)])).toEqual([50, 50])
  })

  it('leaves a place that did nothing enough to begin with', () => {
    const [busy, idle] = cutByUse(1000, [place(1000, { isAtLimit: true }), place(0)])
    expect(idle).toBeGreaterThan(9)
    expect(busy! + idle!).toBeCloseTo(1000)
  })

  it('a place at its limit grows against one that is not', () => {
    let shares = [90, 10]
    // The first wants 30 op/s, the second 100; only served operations are seen.
    for (let i = 0; i < 12; i++) {
      const used = [Math.min(30, shares[0]!), Math.min(100, shares[1]!)]
      shares = cutByUse(
        100,
        used.map((u, k) => place(u, { isAtLimit: u >= 0.9 * shares[k]! })),
      )
    }
    expect(shares[0]).toBeGreaterThan(27)
    expect(shares[1]).toBeGreaterThan(65)
  })

  it('the rest of a capped place goes to the others; no place exceeds its cap', () => {
    expect(cutByUse(100, [place(50, { cap: 10 }), place(50)])).toEqual([10, 90])
    expect(cutByUse(100, [place(1, { cap: 10 }), place(1, { cap: 20 })])).toEqual([10, 20])
    expect(cutByUse(100, [])).toEqual([])
    expect(cutByUse(0, [place(1)])).toEqual([0])
  })

  const places = fc.array(
    fc.record({
      used: fc.double({ min: 0, max: 1e6, noNaN: true }),
      isAtLimit: fc.boolean(),
      cap: fc.oneof(fc.constant(Infinity), fc.double({ min: 1, max: 1e5, noNaN: true })),
      leastPart: fc.constantFrom(0.01, 0.05),
    }),
    { minLength: 1, maxLength: 40 },
  )

  it('adds up to the rate, or to all caps', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e6, noNaN: true }), places, (rate, of) => {
        const shares = cutByUse(rate, of)
        expect(sum(shares)).toBeCloseTo(Math.min(rate, sum(of.map((p) => p.cap))), 3)
        shares.forEach((s, i) => expect(s).toBeLessThanOrEqual(of[i]!.cap * (1 + 1e-12)))
      }),
    )
  })

  it('whole rates never add up to more than the shares, unless the least rates do', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1e5, noNaN: true }),
        places,
        fc.array(fc.integer({ min: 1, max: 16 }), { minLength: 40, maxLength: 40 }),
        (rate, of, classes) => {
          const shares = cutByUse(rate, of)
          const rated = shares.map((share, i) => ({ share, classes: classes[i]!, cap: of[i]!.cap }))
          const rates = roundRates(rated, 999_999)
          const total = sum(rates.map((r, i) => r * classes[i]!))
          const least = sum(rated.map((p) => p.classes))
          expect(total).toBeLessThanOrEqual(Math.max(sum(shares), least) + 1e-3)
          // The rounding loss is less than the largest step.
          if (sum(shares) > 2 * least && of.every((p) => p.cap === Infinity)) {
            expect(total).toBeGreaterThan(sum(shares) - Math.max(...rated.map((p) => p.classes)))
          }
          for (const r of rates) expect(Number.isInteger(r) && r >= 1 && r <= 999_999).toBe(true)
          rates.forEach((r, i) => expect(r * classes[i]!).toBeLessThanOrEqual(Math.max(of[i]!.cap, classes[i]!) + 1e-3))
        },
      ),
    )
  })

  it('a server takes no rate above its largest', () => {
    expect(roundRates([{ share: 1e6, classes: 1, cap: Infinity }], 65_534)).toEqual([65_534])
  })
})
