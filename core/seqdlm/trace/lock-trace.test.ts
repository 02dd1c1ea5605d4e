import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DLM_BASIC, SEQDLM } from '../policy.ts'
import { LockTrace, type TraceLimits } from './lock-trace.ts'
import { replay, tracedRun, type TraceRecord } from '#tests/kits/core/seqdlm/traced-run.ts'
import type { LockLife } from './trace.ts'

const runs = fc.record({
  policy: fc.constantFrom(SEQDLM, DLM_BASIC),
  seed: fc.nat(1e9),
  clients: fc.integer({ min: 2, max: 5 }),
  operations: fc.integer({ min: 2, max: 40 }),
  reach: fc.constantFrom(1, 8),
  resources: fc.constantFrom(1, 3),
  evictions: fc.constantFrom(0, 0, 0.02),
})

/** Scales times so that they lie anywhere in buckets of 250 ms. */
const stretched = (log: readonly TraceRecord[], by: number): TraceRecord[] =>
  log.map((t) => {
    const at = t.at * by
    return t.what === 'event' ? { ...t, at, event: { ...t.event, at } } : { ...t, at }
  })

const scales = fc.constantFrom(1, 7_000_000, 90_000_000)

function fed(
  log: readonly TraceRecord[],
  options: { policy: typeof SEQDLM },
  limits: Partial<TraceLimits> = {},
  to = Infinity,
) {
  const trace = new LockTrace({ policy: options.policy, limits })
  replay(trace.feed, log, to)
  return trace
}

type Event = (TraceRecord & { what: 'event' })['event']
const eventsOf = (log: readonly TraceRecord[]): Event[] => log.flatMap((t) => (t.what === 'event' ? [t.event] : []))

/** Everything that a trace reports of a time and the range before it. */
function everything(trace: LockTrace, at: number, spanNs: number): unknown {
  const from = Math.max(0, at - spanNs)
  return {
    resources: trace.resources(at, spanNs),
    modes: trace.modes(at, spanNs),
    conditions: trace.conditions(at),
    of: [0, 1, 2].map((resource) => ({
      lives: trace.lives(resource, from, at, 50),
      messages: trace.messages(resource, from, at, 50),
      queue: [...trace.queue(resource, from, at, 7)],
      busiest: trace.busiest(resource, at, Math.max(1, spanNs / 4), spanNs),
    })),
  }
}

describe('lives', () => {
  it('say the same as the events replayed plainly', () => {
    fc.assert(
      fc.property(runs, (options) => {
        const log = tracedRun(options)
        const trace = fed(log, options)
        const events = eventsOf(log)
        for (let resource = 0; resource < options.resources; resource++) {
          const here = events.filter((e) => e.resource === resource)
          const { lives, more } = trace.lives(resource, 0, Infinity, 1e6)
          expect(more).toBe(0)
          const requests = here.filter((e) => e.kind === 'asked')
          expect(lives.map((l) => [l.client, l.reqId, l.askedNs, l.askedMode, l.required])).toEqual(
            requests.map((e) => [e.client, e.reqId, e.at, e.mode, e.range]),
          )
          for (const life of lives) checkLife(life, here, lives)
        }
      }),
      { numRuns: 200 },
    )
  })

  it('end at their bounds, the newest first, and say how many more there are', () => {
    const log = tracedRun({ policy: SEQDLM, seed: 3, clients: 4, resources: 1, operations: 40, reach: 4 })
    const trace = fed(log, { policy: SEQDLM })
    const all = trace.lives(0, 0, Infinity, 1000).lives
    const { lives, more } = trace.lives(0, 0, Infinity, 5)
    expect(lives).toEqual(all.slice(-5))
    expect(more).toBe(all.length - 5)
    const some = trace.lives(0, 20, 30, 1000).lives.map((l) => l.id)
    expect(some).toEqual(all.filter((l) => l.askedNs <= 30 && (l.endedNs ?? Infinity) >= 20).map((l) => l.id))
  })

  function checkLife(life: LockLife, here: readonly Event[], lives: readonly LockLife[]): void {
    const grant = here.find((e) => e.kind === 'granted' && e.client === life.client && e.reqId === life.reqId)
    const steps = here.filter((e) => 'lockId' in e && e.lockId === life.lockId)
    const at = (kind: Event['kind']): number | undefined => steps.find((e) => e.kind === kind)?.at
    if (grant?.kind !== 'granted') {
      expect([life.grantedNs, life.lockId, life.sn, life.rule]).toEqual([undefined, undefined, undefined, ''])
      return
    }
    const { lockId, sn, minSn, mode, range } = grant
    const canceling = grant.state === 'CANCELING' ? grant.at : (at('canceling') ?? at('downgraded'))
    const absorber = here.find((e) => e.kind === 'granted' && e.absorbed.includes(grant.lockId))
    expect(life).toMatchObject({ grantedNs: grant.at, lockId, sn, minSn, mode, range })
    expect(life.isEarlyGrant).toBe(grant.rule === 'early-grant')
    expect(life.isEarlyRevocation).toBe(grant.state === 'CANCELING')
    expect([life.revokedNs, life.cancelingNs, life.downgradedNs]).toEqual([at('revoked'), canceling, at('downgraded')])
    expect(life.endedNs).toBe(at('released') ?? at('evicted') ?? absorber?.at)
    const ending = at('released') !== undefined ? 'released' : at('evicted') !== undefined ? 'evicted' : undefined
    expect(life.ending).toBe(ending ?? (absorber ? 'absorbed' : undefined))
    expect(life.absorbed).toEqual(grant.absorbed.map((id) => lives.find((l) => l.lockId === id)?.id))
    expect(life.rule).not.toBe('')
  }
})

describe('time travel', () => {
  it('reads any time as a trace that ended there', () => {
    fc.assert(
      fc.property(runs, scales, fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(4), (options, by, when, spans) => {
        const log = stretched(tracedRun(options), by)
        const end = log.at(-1)?.at ?? 0
        const at = Math.floor(when * end)
        const spanNs = [1, 10, 1e8, 1e9, end][spans] as number
        const trace = fed(log, options)
        // Earlier reads must not change the answer.
        everything(trace, end, spanNs)
        expect(everything(trace, at, spanNs)).toEqual(everything(fed(log, options, {}, at), at, spanNs))
      }),
      { numRuns: 400 },
    )
  })
})

describe('counts', () => {
  it('are those of the events, however time is cut', () => {
    fc.assert(
      fc.property(runs, scales, fc.integer({ min: 1, max: 9 }), (options, by, cuts) => {
        const log = stretched(tracedRun(options), by)
        const trace = fed(log, options)
        const events = eventsOf(log)
        const end = log.at(-1)?.at ?? 0
        const spanNs = Math.ceil((end + 1) / cuts)
        const sums = { grants: 0, modes: 0, conflicts: 0, revocations: 0, releases: 0, early: 0, asked: 0 }
        // The first range begins before the first event, as a range excludes its own beginning.
        for (let at = -1 + spanNs; at - spanNs < end; at += spanNs) {
          for (const r of trace.resources(at, spanNs)) {
            const within = events.filter((e) => e.resource === r.resource && e.at > at - spanNs && e.at <= at)
            expect(r.grants).toBe(within.filter((e) => e.kind === 'granted').length)
            expect(r.conversions).toBe(
              within.filter((e) => e.kind === 'downgraded' || (e.kind === 'granted' && e.mode !== e.asked)).length,
            )
            sums.grants += r.grants
            sums.conflicts += r.conflicts
            sums.revocations += r.revocations
            sums.releases += r.releases
            sums.early += r.earlyGrants
            sums.asked += r.asked
          }
          for (const m of trace.modes(at, spanNs)) sums.modes += m.grants
        }
        const seen = (kind: Event['kind']): number => events.filter((e) => e.kind === kind).length
        expect(sums).toEqual({
          grants: seen('granted'),
          modes: seen('granted'),
          asked: seen('asked'),
          conflicts: seen('waiting'),
          revocations: seen('revoked'),
          releases: seen('released') + seen('evicted'),
          early: events.filter((e) => e.kind === 'granted' && e.rule === 'early-grant').length,
        })
      }),
      { numRuns: 150 },
    )
  })

  it('tell what is held and what waits, by resource and by mode', () => {
    fc.assert(
      fc.property(runs, scales, fc.double({ min: 0, max: 1, noNaN: true }), (options, by, when) => {
        const log = stretched(tracedRun(options), by)
        const trace = fed(log, options)
        const at = Math.floor(when * (log.at(-1)?.at ?? 0))
        const all: LockLife[] = []
        for (const r of trace.resources(at, at + 1)) {
          const { lives } = trace.lives(r.resource, at, at, 1e6)
          const here = lives.filter((l) => l.endedNs === undefined)
          expect(r.held).toBe(here.filter((l) => l.grantedNs !== undefined).length)
          expect(r.waiting).toBe(here.filter((l) => l.grantedNs === undefined).length)
          all.push(...here)
        }
        for (const m of trace.modes(at, at + 1)) {
          const isHeld = (l: LockLife): boolean => l.grantedNs !== undefined
          expect(m.held).toBe(all.filter((l) => isHeld(l) && (l.downgradedTo ?? l.mode) === m.mode).length)
          expect(m.waiting).toBe(all.filter((l) => !isHeld(l) && l.askedMode === m.mode).length)
        }
      }),
      { numRuns: 150 },
    )
  })

  it('give the longest queue of every bin', () => {
    fc.assert(
      fc.property(runs, scales, fc.integer({ min: 1, max: 20 }), (options, by, bins) => {
        const log = stretched(tracedRun({ ...options, resources: 1 }), by)
        const trace = fed(log, options)
        const last = (log.at(-1)?.at ?? 0) + 1
        const from = Math.floor(last / 3)
        const width = Math.ceil((last - from) / bins)
        const end = from + bins * width
        const expected = new Array<number>(bins).fill(0)
        let waiting = 0
        let at = 0
        const mark = (to: number): void => {
          for (let i = 0; i < bins; i++) {
            const start = from + i * width
            const stop = from + (i + 1) * width
            const isIn = at === to ? at >= start && at < stop : at < stop && to > start
            if (isIn) expected[i] = Math.max(expected[i] as number, waiting)
          }
        }
        const queued = new Set<string>()
        for (const e of eventsOf(log)) {
          const key = 'reqId' in e ? `${e.client}/${e.reqId}` : ''
          if (e.kind === 'waiting') queued.add(key)
          else if (e.kind === 'granted' || e.kind === 'withdrawn') queued.delete(key)
          if (queued.size === waiting) continue
          mark(e.at)
          at = e.at
          waiting = queued.size
        }
        mark(end)
        expect([...trace.queue(0, from, end, bins)]).toEqual(expected)
      }),
      { numRuns: 200 },
    )
  })
})
