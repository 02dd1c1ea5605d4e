import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LockEvent } from '../seqdlm/lock-events.ts'
import { CONVOY_WAITING } from '../seqdlm/trace/counts.ts'
import { LockWaits } from './ccpfs-usage.ts'

interface Request {
  readonly resource: number
  readonly at: number
  /** Time until it is granted or withdrawn; 0: granted at once, without waiting. */
  readonly lasts: number
  readonly isGranted: boolean
}

/** Events of the requests in the order of their times; of one time, ends come first. */
function eventsOf(requests: readonly Request[]): LockEvent[] {
  const all = requests.flatMap(({ resource, at, lasts, isGranted }, reqId) => {
    const base = { resource, client: reqId % 3, reqId }
    const begin = [{ ...base, kind: 'asked', at }, ...(lasts > 0 ? [{ ...base, kind: 'waiting', at }] : [])]
    const end = isGranted || lasts === 0 ? { kind: 'granted', waitedNs: lasts } : { kind: 'withdrawn' }
    return [
      ...begin.map((e) => ({ e, order: 1 })),
      { e: { ...base, ...end, at: at + lasts }, order: lasts > 0 ? 0 : 2 },
    ]
  })
  return all.toSorted((a, b) => a.e.at - b.e.at || a.order - b.order).map(({ e }) => e as unknown as LockEvent)
}

const request = fc.record({
  resource: fc.nat(2),
  at: fc.nat(40),
  lasts: fc.nat(30),
  isGranted: fc.boolean(),
})
const END = 100

describe('lock waits', () => {
  it('count the time of convoys by resource, as a count instant by instant', () => {
    fc.assert(
      fc.property(fc.array(request, { maxLength: 30 }), fc.integer({ min: 1, max: END }), (requests, nowNs) => {
        const waits = new LockWaits()
        for (const e of eventsOf(requests)) if (e.at <= nowNs) waits.observe(e)
        let expected = 0
        for (let t = 0; t < nowNs; t++) {
          for (const resource of [0, 1, 2]) {
            const waiting = requests.filter((r) => r.resource === resource && r.at <= t && t < r.at + r.lasts).length
            if (waiting >= CONVOY_WAITING) expected++
          }
        }
        expect(waits.convoyUntil(nowNs)).toBe(expected)
      }),
    )
  })

  it('count every grant once, and what still waits with its time so far', () => {
    fc.assert(
      fc.property(fc.array(request, { maxLength: 30 }), fc.integer({ min: 1, max: END }), (requests, nowNs) => {
        const waits = new LockWaits()
        for (const e of eventsOf(requests)) if (e.at <= nowNs) waits.observe(e)
        const begun = requests.filter((r) => r.at <= nowNs)
        const granted = begun.filter((r) => (r.isGranted || r.lasts === 0) && r.at + r.lasts <= nowNs)
        const pending = begun.filter((r) => r.at + r.lasts > nowNs)
        const tally = waits.waitsUntil(nowNs)
        expect(waits.requests).toBe(begun.length)
        expect(waits.waitedNs).toBe(granted.reduce((n, r) => n + r.lasts, 0))
        expect(tally.count).toBe(granted.length + pending.length)
        expect(tally.max).toBe(Math.max(0, ...granted.map((r) => r.lasts), ...pending.map((r) => nowNs - r.at)))
      }),
    )
  })
})
