import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isCompatible } from '../modes.ts'
import { DLM_BASIC, DLM_LUSTRE, SEQDLM, type DlmPolicy } from '../policy.ts'
import { overlaps } from '../ranges.ts'
import { LockTrace } from './lock-trace.ts'
import { PlainLocks } from '#tests/kits/core/seqdlm/plain-locks.ts'
import { replay, tracedRun, type TraceRecord } from '#tests/kits/core/seqdlm/traced-run.ts'
import type { LockLife, Obstacle } from './trace.ts'

const POLICIES: readonly DlmPolicy[] = [
  SEQDLM,
  DLM_BASIC,
  { ...DLM_LUSTRE, capAbove: 2, capBytes: 4 },
  { ...SEQDLM, name: 'no early grant', earlyGrant: false },
  { ...SEQDLM, name: 'no early revocation', earlyRevocation: false },
  { ...SEQDLM, name: 'no conversion', upgrade: false, downgrade: false },
  { ...SEQDLM, name: 'no queue limits', queueLimits: false },
  { ...SEQDLM, name: 'no expansion', expand: false },
]

const runs = fc.record({
  policy: fc.constantFrom(...POLICIES),
  seed: fc.nat(1e9),
  clients: fc.integer({ min: 2, max: 5 }),
  operations: fc.integer({ min: 2, max: 30 }),
  reach: fc.constantFrom(1, 4, 16),
  evictions: fc.constantFrom(0, 0, 0.02),
  resources: fc.constant(1),
})

const isFinished = ({ life, until }: Obstacle, all: ReadonlyMap<number, LockLife>): boolean => {
  const of = all.get(life)
  if (of === undefined) throw new Error(`life ${life} is not told`)
  return of.endedNs !== undefined || (until === 'canceling' && of.cancelingNs !== undefined)
}

const livesAt = (trace: LockTrace, from: number, to: number): ReadonlyMap<number, LockLife> =>
  new Map(trace.lives(0, from, to, 1e6).lives.map((l) => [l.id, l]))

const nameOf = (l: LockLife): string => `${l.client}/${l.reqId}`
const isEvent = (t: TraceRecord): t is TraceRecord & { what: 'event' } => t.what === 'event'

describe('obstacles', () => {
  it('is, at every instant, what the plain rules find in two arrays', () => {
    fc.assert(
      fc.property(runs, (options) => {
        const log = tracedRun(options)
        const trace = new LockTrace({ policy: options.policy })
        replay(trace.feed, log)
        const plain = new PlainLocks(options.policy)
        const events = log.filter(isEvent)
        for (const [i, { at, event }] of events.entries()) {
          plain.follow(event)
          if (events[i + 1]?.at === at) continue
          const lives = livesAt(trace, 0, at)
          const byName = new Map([...lives.values()].map((l) => [nameOf(l), l]))
          for (const w of plain.queue) {
            const life = byName.get(`${w.client}/${w.reqId}`) as LockLife
            const open = life.behind.filter((o) => !isFinished(o, lives)).map((o) => nameOf(lives.get(o.life)!))
            expect(new Set(open)).toEqual(new Set(plain.inTheWay(w)))
            expect(open.length).toBeGreaterThan(0)
          }
        }
      }),
      { numRuns: 300 },
    )
  })

  it('has reached the step named when the request is granted, as told at the grant and as told at the request', () => {
    let checked = 0
    let atTheRequest = 0
    fc.assert(
      fc.property(runs, (options) => {
        const trace = new LockTrace({ policy: options.policy })
        replay(trace.feed, tracedRun(options))
        const lives = livesAt(trace, 0, Infinity)
        const reachedNs = ({ life, until }: Obstacle): number => {
          const of = lives.get(life)!
          const ended = of.endedNs ?? Infinity
          return until === 'canceling' ? Math.min(of.cancelingNs ?? Infinity, ended) : ended
        }
        for (const w of lives.values()) {
          if (w.grantedNs === undefined) continue
          for (const o of w.behind) {
            checked++
            expect(reachedNs(o)).toBeLessThanOrEqual(w.grantedNs)
          }
          for (const o of livesAt(trace, w.askedNs, w.askedNs).get(w.id)!.behind) {
            const later = w.behind.find((b) => b.life === o.life)
            const of = lives.get(o.life)!
            // A request that could merge with its client's own lock wanted more than it was granted in the end,
            const isAt = (ns: number | undefined): boolean => ns !== undefined && ns <= w.askedNs
            const hasOwn = [...lives.values()].some(
              (l) =>
                l.client === w.client &&
                overlaps(l.range, w.required) &&
                isAt(l.grantedNs) &&
                ![l.revokedNs, l.cancelingNs, l.endedNs].some(isAt),
            )
            if (hasOwn && (later === undefined || (o.until === 'release' && later.until === 'canceling'))) continue
            atTheRequest++
            // and a downgrade before the release lets those pass that are compatible with the new mode: an NBW, or a PR
            // where a PW was held by readers only.
            const { earlyGrant } = options.policy
            const downgraded = of.downgradedTo
            const isPassed =
              downgraded !== undefined && isCompatible(w.askedMode, downgraded, earlyGrant ? 'CANCELING' : 'GRANTED')
            if (o.until === 'release' && later?.until === 'canceling' && isPassed) {
              expect(of.downgradedNs).toBeLessThanOrEqual(w.grantedNs)
              continue
            }
            expect(reachedNs(o)).toBeLessThanOrEqual(w.grantedNs)
          }
        }
      }),
      { numRuns: 300 },
    )
    expect(checked).toBeGreaterThan(1000)
    expect(atTheRequest).toBeGreaterThan(1000)
  })
})
