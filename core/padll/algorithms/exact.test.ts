// Second implementation of every algorithm of the paper, written from spec/padll 6 alone, in exact fractions: the doubles must match
// it to 1e-9.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Algorithm, ALGORITHMS, type JobDemand } from './algorithm.ts'
import { allocate } from './allocate.ts'

/** A fraction: numerator and denominator > 0. */
type Q = readonly [bigint, bigint]
const gcd = (a: bigint, b: bigint): bigint => (b === 0n ? (a < 0n ? -a : a) : gcd(b, a % b))
const q = (n: bigint, d: bigint): Q => {
  const g = gcd(n, d)
  return g === 0n ? [0n, 1n] : [n / g, d / g]
}
const of = (n: number, d = 1): Q => q(BigInt(n), BigInt(d))
const plus = (a: Q, b: Q): Q => q(a[0] * b[1] + b[0] * a[1], a[1] * b[1])
const minus = (a: Q, b: Q): Q => plus(a, [-b[0], b[1]])
const times = (a: Q, b: Q): Q => q(a[0] * b[0], a[1] * b[1])
const over = (a: Q, b: Q): Q => q(a[0] * b[1], a[1] * b[0])
const compare = (a: Q, b: Q): number => Number(a[0] * b[1] - b[0] * a[1])
const least = (a: Q, b: Q): Q => (compare(a, b) <= 0 ? a : b)
const sum = (all: readonly Q[]): Q => all.reduce(plus, of(0))
const asNumber = ([n, d]: Q): number => Number((n * 10n ** 12n) / d) / 1e12

interface Case {
  algorithm: Algorithm
  maxRate: number
  /** Epsilon in 64ths. */
  epsilon: number
  slots: number
  oversubscription: 'scale' | 'allow'
  leftover: 'equal' | 'proportional'
  jobs: { id: string; demand: number | null; usage: number | null }[]
}

function oracle(c: Case): Map<string, Q> {
  const known = c.jobs.map((j) => ({ id: j.id, demand: of(j.demand ?? 1), usage: of(j.usage ?? j.demand ?? 1) }))
  for (const job of known) if (compare(job.usage, of(1)) < 0) job.usage = of(1)
  const maxRate = of(c.maxRate)
  if (c.algorithm === 'uniform') {
    return new Map(known.map(({ id }) => [id, over(maxRate, of(Math.max(c.slots, known.length)))]))
  }
  if (c.algorithm === 'static' || c.algorithm === 'priority') {
    const named = known.filter((_, i) => c.algorithm === 'priority' || c.jobs[i]!.demand !== null)
    const all = sum(named.map(({ demand }) => demand))
    const cut = c.oversubscription === 'scale' && compare(all, maxRate) > 0 ? over(maxRate, all) : of(1)
    return new Map(named.map(({ id, demand }) => [id, times(demand, cut)]))
  }
  // The order is defined by the encoded bytes, not by code units.
  const order = known.toSorted(
    (a, b) => compare(a.demand, b.demand) || Buffer.compare(Buffer.from(a.id), Buffer.from(b.id)),
  )
  const claims = order.map(({ demand, usage }) => {
    if (c.algorithm === 'psharing' || compare(usage, demand) > 0) return demand
    return plus(usage, times(minus(demand, usage), of(c.epsilon, 64)))
  })
  let unspent = maxRate
  const first = claims.map((claim, i) => {
    const rate = least(claim, over(unspent, of(order.length - i)))
    unspent = minus(unspent, rate)
    return rate
  })
  const weights = order.map(({ demand, usage }) => {
    if (c.algorithm === 'psfa') return usage
    return c.leftover === 'equal' ? of(1) : demand
  })
  const all = sum(weights)
  return new Map(order.map(({ id }, i) => [id, plus(first[i]!, times(unspent, over(weights[i]!, all)))]))
}

const amount = fc.oneof(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 1_000_000_000 }))
const job = fc.record<JobDemand>({
  // U+FF5E sorts after U+1F600 by code unit, and before it by byte.
  id: fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }),
    fc.constantFrom('a\uff5e', 'a\u{1f600}', '__proto__'),
  ),
  demand: fc.option(amount),
  usage: fc.option(fc.oneof(fc.constant(0), amount)),
})

it('matches exact fractions in doubles', () => {
  fc.assert(
    fc.property(
      fc.record<Case>({
        algorithm: fc.constantFrom(...ALGORITHMS.filter((algorithm) => algorithm !== 'psfa-adaptive')),
        maxRate: amount,
        epsilon: fc.integer({ min: 0, max: 64 }),
        slots: fc.integer({ min: 1, max: 12 }),
        oversubscription: fc.constantFrom('scale', 'allow'),
        leftover: fc.constantFrom('equal', 'proportional'),
        jobs: fc.uniqueArray(job, { selector: ({ id }) => id, maxLength: 9 }),
      }),
      (c) => {
        const got = allocate({ ...c, epsilon: c.epsilon / 64 })
        if (!got.ok) throw new Error(got.error.code)
        const expected = oracle(c)
        expect([...got.value.keys()].sort()).toEqual([...expected.keys()].sort())
        for (const [id, rate] of expected) {
          const exact = asNumber(rate)
          expect(Math.abs(got.value.get(id)! - exact)).toBeLessThanOrEqual(Math.max(1e-6, 1e-9 * exact))
        }
      },
    ),
    { numRuns: 2000 },
  )
})

describe('differences between variants of the printed algorithms', () => {
  const rates = (jobs: [string, number, number][], algorithm: Algorithm = 'psfa', maxRate = 90): number[] => {
    const got = allocate({ algorithm, maxRate, jobs: jobs.map(([id, demand, usage]) => ({ id, demand, usage })) })
    return got.ok ? [...got.value.values()] : []
  }

  it('hungry jobs of one demand share alike: Active is counted down', () => {
    expect(
      rates([
        ['a', 60, 99],
        ['b', 60, 99],
        ['c', 60, 99],
      ]),
    ).toEqual([30, 30, 30])
  })

  it('a job just below its demand keeps what it uses and a part of the rest, not its demand', () => {
    // 97 + (100 - 97) / 4, and a share of the rest by usage.
    const [a] = rates(
      [
        ['a', 100, 97],
        ['b', 1000, 3],
      ],
      'psfa',
      1000,
    )
    expect(a).toBeCloseTo(97.75 + 0.97 * (1000 - 97.75 - (3 + 997 / 4)), 9)
  })

  it('the smaller demand is served first, whatever the names are', () => {
    expect(
      rates([
        ['a', 100, 100],
        ['z', 10, 10],
      ]),
    ).toEqual([80, 10])
  })

  it('halves of surrogate pairs in ids do not make the order of the input matter', () => {
    const ids = ['\ud83d\ude00', '\ud83d\uffff', '\uffff']
    const orders = [
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
    ]
    const all = orders.map((order) => {
      // Distinct usages, so that the first job has a rate of its own.
      const jobs = order.map((at): [string, number, number] => [ids[at]!, 60, [10, 70, 65][at]!])
      const got = rates(jobs)
      return ids.map((id) => got[jobs.findIndex(([job]) => job === id)])
    })
    for (const one of all) expect(one).toEqual(all[0])
  })

  it('ties go by the bytes of the ids, not by their code units', () => {
    const tilde = '\uff5e'
    const emoji = '\u{1f600}'
    // The first job leaves what it does not want to the other.
    expect(
      rates([
        [tilde, 60, 10],
        [emoji, 60, 70],
      ]),
    ).not.toEqual(
      rates([
        [tilde, 60, 70],
        [emoji, 60, 10],
      ]).toReversed(),
    )
    expect(
      rates([
        [tilde, 60, 10],
        [emoji, 60, 70],
      ]),
    ).toEqual(
      rates([
        ['a', 60, 10],
        ['b', 60, 70],
      ]),
    )
  })
})
