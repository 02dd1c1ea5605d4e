/** Retirement of ended jobs: no debt is lost and other jobs are unaffected. */
import { describe, expect, it } from 'vitest'
import { type RandomStream, randomStream } from '../base/random.ts'
import { AdapTbfController } from './controller.ts'
import { ENDED_JOBS } from './ended-jobs.ts'
import type { TargetObservation } from './demand.ts'

const sum = (values: Iterable<number>): number => [...values].reduce((total, v) => total + v, 0)
const name = (job: number): string => `${job}.app.u1`

/** Jobs of three generations: each period has the jobs of one, and one permanent job. */
function observation(draw: RandomStream, period: number): TargetObservation {
  const generation = Math.floor(period / 20)
  const jobs = [0, ...Array.from({ length: 5 }, (_, i) => 1 + generation * 5 + i)].filter(() => draw.below(4) > 0)
  return {
    target: 'demo-OST0000',
    atNs: (period + 1) * 1e8,
    periodNs: 1e8,
    jobs: jobs.map((job) => ({ jobId: name(job), nodes: 1 + (job % 4), served: draw.below(40) })),
  }
}
const generation = (n: number): Set<string> => new Set(Array.from({ length: 5 }, (_, i) => name(1 + n * 5 + i)))

describe('jobs that ended', () => {
  it.each([1, 2, 3, 4, 5])(
    'leave records and pairs that agree, and change no allocation after them (seed %i)',
    (seed) => {
      const [forgetful, keeping] = [1, 2].map(() => new AdapTbfController({ maxRatePerSec: 1000 })) as [
        AdapTbfController,
        AdapTbfController,
      ]
      const one = randomStream(seed, 'ended')
      const other = randomStream(seed, 'ended')
      for (let period = 0; period < 80; period++) {
        const { allocations } = forgetful.step(observation(one, period))
        expect(allocations).toEqual(keeping.step(observation(other, period)).allocations)
        // The second generation is retired while the third is active.
        if (period === 30) forgetful.retire(31e8, generation(0))
        if (period === 50) forgetful.retire(51e8, generation(1))
        const records = forgetful.records()
        expect(sum(records.values())).toBe(0)
        for (const [id, record] of records) expect(forgetful.pairs.balance(id)).toBe(record)
      }
      const complete = keeping.records()
      const folded = forgetful.records()
      const ended = [...generation(0), ...generation(1)]
      expect(folded.get(ENDED_JOBS)).toBe(sum(ended.map((id) => complete.get(id) ?? 0)))
      expect(ended.filter((id) => folded.has(id))).toEqual([])
      expect(forgetful.pairs.pairs().filter((p) => ended.includes(p.lender) || ended.includes(p.borrower))).toEqual([])
      // The saved state can be restored.
      const restored = AdapTbfController.restore(JSON.parse(JSON.stringify(forgetful.save())), { maxRatePerSec: 1000 })
      expect(restored.ok && Object.fromEntries(restored.value.records())).toEqual(Object.fromEntries(folded))
    },
  )

  it('report the moves between pairs, so that a journal of moves stays complete', () => {
    const controller = new AdapTbfController({ maxRatePerSec: 1000, demand: 'served' })
    const jobs = (...served: readonly (readonly [string, number])[]) => ({
      target: 't',
      atNs: 1e8,
      periodNs: 1e8,
      jobs: served.map(([jobId, n]) => ({ jobId, nodes: 1, served: n })),
    })
    controller.step(jobs(['lender', 5], ['borrower', 200]))
    const { borrower, lender } = Object.fromEntries(controller.records()) as Record<string, number>
    expect(lender).toBeGreaterThan(0)
    expect(controller.retire(2e8, new Set(['borrower']))).toEqual(
      expect.arrayContaining([
        { lender: 'lender', borrower: 'borrower', lent: 0, reclaimed: lender },
        { lender: 'lender', borrower: ENDED_JOBS, lent: lender, reclaimed: 0 },
      ]),
    )
    expect(controller.records()).toEqual(
      new Map([
        ['lender', lender],
        [ENDED_JOBS, borrower],
      ]),
    )
    // Both sides are retired: no debt remains.
    controller.retire(3e8, new Set(['lender']))
    expect([...controller.records()]).toEqual([[ENDED_JOBS, 0]])
    expect(controller.pairs.pairs()).toEqual([])
  })

  it('are not in the decision that a silent target repeats', () => {
    const controller = new AdapTbfController({ maxRatePerSec: 1000, demand: 'served' })
    const jobs = ['1.a.u1', '2.b.u2'].map((jobId) => ({ jobId, nodes: 1, served: 50 }))
    controller.step({ target: 't', atNs: 1e8, periodNs: 1e8, jobs })
    controller.retire(2e8, new Set(['1.a.u1']))
    expect(controller.hold('t', 3e8).allocations.map((a) => a.jobId)).toEqual(['2.b.u2'])
  })

  it('cannot be a job of a server: its text is read byte by byte', () => {
    expect([...ENDED_JOBS].some((c) => (c.codePointAt(0) ?? 0) > 0xff)).toBe(true)
  })
})
