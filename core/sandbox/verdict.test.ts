import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ObjectiveKey } from '../controllers/objectives.ts'
import { METRIC_NAMES, type MetricName, type SeedFigures } from './comparison.ts'
import { verdictOf } from './verdict.ts'
import { planeDifferences } from './verdict-planes.ts'
import { change, jobLabel, percent, waitPair } from './verdict-text.ts'

const SEEDS = Array.from({ length: 20 }, (_, i) => i + 1)
/** A little scatter, the same for every variant. */
const scatter = (seed: number): number => 1 + ((seed * 7) % 11) / 1000

type Medians = Partial<Record<MetricName, number>> & {
  readonly hogRate?: number
  readonly victimRate?: number
  readonly planes?: Partial<Record<ObjectiveKey, number>>
}

const figures = (of: Medians, seeds = SEEDS, by = scatter): SeedFigures => ({
  seeds,
  metrics: Object.fromEntries(
    METRIC_NAMES.map((m) => [m, Float64Array.from(seeds, (s) => (of[m] ?? NaN) * by(s))]),
  ) as SeedFigures['metrics'],
  hogRate: Float64Array.from(seeds, (s) => (of.hogRate ?? NaN) * by(s)),
  victimRate: Float64Array.from(seeds, (s) => (of.victimRate ?? NaN) * by(s)),
  planes: new Map(
    (Object.entries(of.planes ?? {}) as [ObjectiveKey, number][]).map(([key, v]) => [
      key,
      Float64Array.from(seeds, (s) => v * by(s)),
    ]),
  ),
})

const ROLES = { hog: '4690.python.u1021', victim: '4711.cfd_solve.u884' }
const baseline = figures({ throughputBps: 26.1e9, jain: 0.41, victimP95Ms: 2100, hogRate: 10e9 })
const cap = figures({ throughputBps: 23.8e9, jain: 0.83, victimP95Ms: 420, hogRate: 5e9 })
const adaptbf = figures({ throughputBps: 25.3e9, jain: 0.94, victimP95Ms: 300, hogRate: 3.8e9 })

const text = (parts: readonly { text: string }[]): string => parts.map((p) => p.text).join('')

describe('the verdict', () => {
  it('selects the fairest at low cost, and describes its effect on the jobs', () => {
    const verdict = verdictOf([baseline, cap, adaptbf], ROLES)
    expect(verdict.best).toBe(2)
    expect(text(verdict.parts)).toBe('Victim 4711 p95 wait 2.1 s → 0.3 s; hog 4690 −62 % throughput; total −3 %.')
    expect(verdict.parts.filter((p) => p.strong).map((p) => p.text)).toEqual([
      '4711',
      '2.1 s → 0.3 s',
      '4690 −62 %',
      '−3 %',
    ])
    expect(verdict.detail).toMatch(/^20 seeds, band ±\S+ % of throughput and ±\S+ % of the wait\. /)
    expect(verdict.detail).toMatch(/B beats A on fairness in 20 of 20 runs and on total throughput in 20\.$/)
  })

  it('does not choose one that costs more than a tenth of the throughput, or lets the victim wait longer', () => {
    const dear = figures({ throughputBps: 20e9, jain: 0.99, victimP95Ms: 100, hogRate: 1e9 })
    const slow = figures({ throughputBps: 26e9, jain: 0.99, victimP95Ms: 2500, hogRate: 1e9 })
    expect(verdictOf([baseline, dear, slow, cap], ROLES).best).toBe(3)
    const none = verdictOf([baseline, dear, slow], ROLES)
    expect(none.best).toBeNull()
    expect(text(none.parts)).toContain('A loses 23 % of total throughput; under B 4711 waits 19 % longer')
  })

  it('does not choose one under which the victim is not served at all', () => {
    const starving = figures({ throughputBps: 26e9, jain: 0.99, hogRate: 1e9 })
    expect(verdictOf([baseline, starving], ROLES).best).toBeNull()
  })

  it('does not choose one that holds the victim back, however short the waits of what it lets through', () => {
    const base = figures({ throughputBps: 26e9, jain: 0.41, victimP95Ms: 34, victimRate: 240 })
    const held = figures({ throughputBps: 26e9, jain: 0.94, victimP95Ms: 27, victimRate: 98 })
    const verdict = verdictOf([base, held], ROLES)
    expect([verdict.best, text(verdict.parts)]).toEqual([
      null,
      'No variant is better than the baseline; under A 4711 is served 59 % less.',
    ])
  })

  it('counts runs that do not serve the victim as endless waits, on either side', () => {
    const some = (served: number, ms: number): SeedFigures => {
      const of = figures({ throughputBps: 26e9, jain: 0.5, victimP95Ms: ms })
      of.metrics.victimP95Ms.fill(NaN, served)
      return of
    }
    expect(verdictOf([some(20, 900), some(1, 20)], ROLES).best).toBeNull()
    const freed = verdictOf([some(1, 20), some(20, 900)], ROLES)
    expect([freed.best, text(freed.parts)]).toEqual([1, 'Victim 4711 p95 wait not served → 905 ms; total ±0 %.'])
  })

  it('says nothing of fairness where a job runs alone', () => {
    const verdict = verdictOf([figures({ throughputBps: 20e9 }), figures({ throughputBps: 26e9 })], {
      hog: undefined,
      victim: undefined,
    })
    expect([verdict.best, text(verdict.parts)]).toEqual([1, 'Total +30 %.'])
    expect(verdict.detail).toMatch(/\. A beats the baseline on total throughput in 20 of 20 runs\.$/)
  })

  it('mentions no scatter without a gain, or with one seed', () => {
    const worse = figures({ throughputBps: 26.1e9, jain: 0.2, victimP95Ms: 2100, hogRate: 10e9 })
    expect(text(verdictOf([baseline, worse], ROLES).parts)).toBe(
      'No variant is better than the baseline: no gain exceeds the spread of the seeds.',
    )
    const one = figures({ throughputBps: 1e9, jain: 0.5, victimP95Ms: 9 }, [3])
    expect(text(verdictOf([one, one], ROLES).parts)).toBe(
      'No variant is better than the baseline: no gain is large enough to count.',
    )
  })

  it('names the price of a gain that is less fair', () => {
    const unfair = figures({ throughputBps: 30e9, jain: 0.2, victimP95Ms: 900, hogRate: 10e9 })
    expect(text(verdictOf([baseline, unfair], ROLES).parts)).toBe(
      'No variant is better than the baseline; A lowers fairness to 0.20.',
    )
  })

  it('asks for more than the scatter of the baseline', () => {
    const wide = figures({ throughputBps: 26e9, jain: 0.5, victimP95Ms: 2100, hogRate: 1e9 }, SEEDS, (s) => 1 + s / 40)
    const within = figures({ throughputBps: 30e9, jain: 0.7, victimP95Ms: 2100, hogRate: 1e9 }, SEEDS, () => 1)
    const verdict = verdictOf([wide, within], ROLES)
    expect(verdict.best).toBeNull()
    expect(verdict.detail).toMatch(/^20 seeds, baseline fairness 0\.\d\d to 0\.\d\d\.$/)
  })

  it('looks at the wait, then at the throughput, where no variant is fairer', () => {
    const quick = figures({ throughputBps: 26.1e9, jain: 0.41, victimP95Ms: 900, hogRate: 10e9 })
    const large = figures({ throughputBps: 40e9, jain: 0.41, victimP95Ms: 2100, hogRate: 10e9 })
    expect(verdictOf([baseline, large, quick], ROLES).best).toBe(2)
    expect(verdictOf([baseline, large], ROLES).best).toBe(1)
  })

  it('compares what has no bytes by RPCs, and what has no roles by fairness', () => {
    const storm = figures({ throughputBps: 0, throughputRpcs: 1000, jain: 0.5 })
    const even = figures({ throughputBps: 0, throughputRpcs: 980, jain: 0.9 })
    const verdict = verdictOf([storm, even], { hog: undefined, victim: undefined })
    expect([verdict.best, text(verdict.parts)]).toEqual([1, 'Fairness 0.50 → 0.90; total −2 %.'])
  })

  it('has words for a single run, for the baseline alone, and for nothing measured', () => {
    expect(verdictOf([baseline], ROLES)).toMatchObject({ best: null, detail: '20 seeds.' })
    const a = figures({ throughputBps: 1e9, jain: 0.5, victimP95Ms: 9 }, [3])
    const b = figures({ throughputBps: 1e9, jain: 0.9, victimP95Ms: 8 }, [3])
    expect(verdictOf([a, b], ROLES).detail).toMatch(/^1 seed, so the spread is not known\. /)
    expect(verdictOf([figures({}), figures({})], ROLES).best).toBeNull()
    expect(verdictOf([], ROLES).best).toBeNull()
  })

  const measured = fc.record({
    throughputBps: fc.double({ min: 1, max: 1e9, noNaN: true }),
    jain: fc.double({ min: 0.1, max: 1, noNaN: true }),
    victimP95Ms: fc.double({ min: 0, max: 1e4, noNaN: true }),
    hogRate: fc.double({ min: 0, max: 1e9, noNaN: true }),
  })

  it('never lets a variant win that is the baseline by another name', () => {
    fc.assert(
      fc.property(measured, fc.integer({ min: 1, max: 5 }), (of, copies) => {
        const same = Array.from({ length: copies + 1 }, () => figures(of))
        expect(verdictOf(same, ROLES).best).toBeNull()
      }),
    )
  })

  it('does not depend on the order of the seeds', () => {
    const case_ = fc.tuple(
      fc.array(measured, { minLength: 1, maxLength: 4 }),
      fc.shuffledSubarray(SEEDS, { minLength: 20 }),
    )
    fc.assert(
      fc.property(case_, ([all, order]) => {
        const plain = all.map((m) => figures(m))
        const permuted = all.map((m) => figures(m, order))
        expect(verdictOf(permuted, ROLES)).toEqual(verdictOf(plain, ROLES))
      }),
    )
  })

  it('keeps to its rule: the winner keeps nine tenths of the throughput and the victim does not wait longer', () => {
    fc.assert(
      fc.property(fc.array(measured, { minLength: 2, maxLength: 5 }), (all) => {
        const { best } = verdictOf(
          all.map((m) => figures(m)),
          ROLES,
        )
        if (best === null) return
        const base = all[0]!
        const won = all[best]!
        expect(won.throughputBps).toBeGreaterThanOrEqual(0.9 * base.throughputBps * (1 - 1e-9))
        expect(won.victimP95Ms).toBeLessThanOrEqual(base.victimP95Ms * (1 + 1e-9))
      }),
    )
  })
})

describe('the planes', () => {
  const same = { throughputBps: 26e9, jain: 0.9 }
  const NO_ROLES = { hog: undefined, victim: undefined }
  const bare = figures({ ...same, planes: { tokensCompleted: 40_000, reservationsMet: 0.89 } })
  const kept = figures({ ...same, planes: { tokensCompleted: 39_000, reservationsMet: 0.975, poolIdle: 0.01 } })

  it('decide where the OSTs are served the same, and the verdict names what was gained', () => {
    const verdict = verdictOf([bare, kept], NO_ROLES)
    expect([verdict.best, text(verdict.parts)]).toEqual([1, 'Reservations met 89 % → 98 %; total ±0 %.'])
    expect(verdict.parts.filter((p) => p.strong).map((p) => p.text)).toEqual(['89 % → 98 %', '±0 %'])
    expect(verdict.detail).toMatch(/A beats the baseline on reservations met in 20 of 20 runs\.$/)
  })

  it('prefer the larger gains', () => {
    const basic = figures({ ...same, planes: { locksWritten: 60e6, lockWaitP95Ms: 8, convoyS: 5 } })
    const lustre = figures({ ...same, planes: { locksWritten: 100e6, lockWaitP95Ms: 8, convoyS: 4 } })
    const seqdlm = figures({ ...same, planes: { locksWritten: 800e6, lockWaitP95Ms: 0.03, convoyS: 0 } })
    const verdict = verdictOf([basic, lustre, seqdlm], NO_ROLES)
    expect([verdict.best, text(verdict.parts)]).toEqual([
      2,
      'Writes to ccPFS +1233 %, lock wait p95 8.0 ms → 0.03 ms, lock convoys 5.0 s → 0 s; total ±0 %.',
    ])
  })

  it('have no winner where a gain is paid with a loss, and both are named', () => {
    const dear = figures({ ...same, planes: { tokensCompleted: 20_000, reservationsMet: 0.985 } })
    const verdict = verdictOf([bare, dear], NO_ROLES)
    expect([verdict.best, text(verdict.parts)]).toEqual([
      null,
      'No variant gains without a loss: A gains reservations met 89 % → 99 % and loses data-node I/Os −50 %.',
    ])
    const worse = verdictOf([kept, bare], NO_ROLES)
    expect([worse.best, text(worse.parts)]).toEqual([
      null,
      'The baseline is better: A loses reservations met 98 % → 89 %.',
    ])
  })

  it('do not outweigh the OSTs: a variant that costs too much there does not win, and its gains are named', () => {
    const slow = figures({ ...same, throughputBps: 10e9, planes: { reservationsMet: 0.975 } })
    expect(text(verdictOf([bare, slow], NO_ROLES).parts)).toBe(
      'No variant gains without a loss: A gains reservations met 89 % → 98 %; A loses 62 % of total throughput.',
    )
  })

  it('are named beside a gain on the OSTs', () => {
    const fair = figures({
      throughputBps: 25.3e9,
      jain: 0.94,
      victimP95Ms: 300,
      hogRate: 3.8e9,
      planes: { metadataWaitMs: 10, falseAllocation: 40 },
    })
    const base = figures({
      throughputBps: 26.1e9,
      jain: 0.41,
      victimP95Ms: 2100,
      hogRate: 10e9,
      planes: { metadataWaitMs: 90, falseAllocation: 0 },
    })
    expect(text(verdictOf([base, fair], ROLES).parts)).toBe(
      'Victim 4711 p95 wait 2.1 s → 0.3 s; hog 4690 −62 % throughput; total −3 %. ' +
        'Also better: metadata wait p95 90 ms → 10 ms. Worse: false allocation 0 → 40.2 op/s.',
    )
  })

  it('are not compared where one of the two has no value, nor by what is only shown', () => {
    const without = figures({ ...same, planes: {} })
    const shown = figures({ ...same, planes: { lockWaitPart: 0.5 } })
    const other = figures({ ...same, planes: { lockWaitPart: 0.1 } })
    for (const pair of [
      [bare, without],
      [without, bare],
      [shown, other],
    ]) {
      expect(text(verdictOf(pair, NO_ROLES).parts)).toMatch(/^No variant is better than the baseline/)
    }
  })

  const planes = fc.record({
    reservationsMet: fc.double({ min: 0, max: 1, noNaN: true }),
    lockWaitP95Ms: fc.double({ min: 0, max: 1e4, noNaN: true }),
    locksWritten: fc.double({ min: 0, max: 1e9, noNaN: true }),
  })

  it('never let a variant win that loses in one of them, and none is called no better that differs', () => {
    fc.assert(
      fc.property(planes, planes, (a, b) => {
        const variants = [figures({ ...same, planes: a }), figures({ ...same, planes: b })]
        const { best, parts } = verdictOf(variants, NO_ROLES)
        const differences = planeDifferences(variants[0]!, variants[1]!)
        const isSame = differences.gains.length + differences.losses.length === 0
        expect(text(parts).startsWith('No variant is better')).toBe(isSame)
        expect(best === 1).toBe(differences.gains.length > 0 && differences.losses.length === 0)
      }),
    )
  })

  it('gain and lose in turn: what one gains on the other, the other loses', () => {
    fc.assert(
      fc.property(planes, planes, (a, b) => {
        // Without scatter the bands are points, so that the smallest differences are the same from both sides.
        const of = (p: typeof a): SeedFigures => figures({ ...same, planes: p }, SEEDS, () => 1)
        const there = planeDifferences(of(a), of(b)).gains.filter((g) => g.key === 'reservationsMet')
        const back = planeDifferences(of(b), of(a)).losses.filter((g) => g.key === 'reservationsMet')
        expect(back.map(({ now, before }) => ({ now: before, before: now }))).toEqual(
          there.map(({ now, before }) => ({ now, before })),
        )
      }),
    )
  })
})

describe('words', () => {
  it('write figures as a person would', () => {
    expect([percent(0.62), percent(0.004), percent(0.0001), percent(NaN)]).toEqual(['62 %', '0.4 %', '0 %', '? %'])
    expect([change(38, 100), change(103, 100), change(1, 1), change(1, 0)]).toEqual([
      '−62 %',
      '+3 %',
      '±0 %',
      'not comparable',
    ])
    expect([waitPair(2100, 300), waitPair(388, 31.4), waitPair(50, NaN), waitPair(2e4, 999)]).toEqual([
      '2.1 s → 0.3 s',
      '388 ms → 31 ms',
      '50 ms → not served',
      '20 s → 1 s',
    ])
  })

  it('call a job by its number, and cut what is long', () => {
    expect([jobLabel('4711.cfd_solve.u884'), jobLabel('123_4'), jobLabel('login03.rsync')]).toEqual([
      '4711',
      '123',
      'login03.rsync',
    ])
    expect(jobLabel('x'.repeat(1000))).toHaveLength(40)
    expect(jobLabel('')).toBe('')
  })
})
