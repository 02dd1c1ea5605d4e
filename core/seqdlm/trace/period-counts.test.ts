// Counts by second: a schedule that is checked by hand, and sums that equal the counts of the whole trace.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { NS_PER_S } from '../../base/units.ts'
import type { LockEvent } from '../lock-events.ts'
import { LOCK_MODES, type LockMode } from '../modes.ts'
import { SEQDLM } from '../policy.ts'
import { lockRange } from '../ranges.ts'
import { LockTrace } from './lock-trace.ts'
import type { LockPeriod, TracedConvoy } from './trace.ts'
import { tracedRun, type TraceRecord } from '#tests/kits/core/seqdlm/traced-run.ts'

const RANGE = lockRange(0, 4095)
const SERVER = 1
const RESOURCE = 7

/** One lock resource whose events are given by hand; times in s. */
function scripted() {
  const trace = new LockTrace()
  const at = (s: number): number => Math.round(s * NS_PER_S)
  const observe = (event: LockEvent): void => trace.feed.observe(SERVER, event)
  return {
    trace,
    request: (s: number, client: number): void => {
      const of = { resource: RESOURCE, at: at(s), client, reqId: client }
      observe({ ...of, kind: 'asked', mode: 'PW', range: RANGE })
    },
    wait: (s: number, client: number): void => {
      observe({ resource: RESOURCE, at: at(s), client, reqId: client, kind: 'waiting', behindClient: 0 })
    },
    grant: (s: number, client: number, waitedS: number, mode: LockMode = 'PW'): void => {
      observe({
        resource: RESOURCE,
        at: at(s),
        client,
        lockId: client,
        kind: 'granted',
        reqId: client,
        asked: 'PW',
        mode,
        range: RANGE,
        required: RANGE,
        state: 'GRANTED',
        sn: client,
        minSn: client,
        absorbed: [],
        waitedNs: at(waitedS),
        rule: 'free',
      })
    },
    then: (s: number, client: number, kind: 'revoked' | 'released'): void => {
      observe({ resource: RESOURCE, at: at(s), client, lockId: client, kind })
    },
  }
}

it('counts a second of one resource and of its server', () => {
  const { trace, request, wait, grant, then } = scripted()
  request(0.1, 1)
  grant(0.1, 1, 0)
  for (const [client, s] of [0.2, 0.25, 0.4, 0.5].entries()) {
    request(s, client + 2)
    wait(s, client + 2)
  }
  then(0.6, 1, 'revoked')
  then(0.9, 1, 'released')
  grant(0.9, 2, 0.7)
  expect(trace.takePeriods(0.99 * NS_PER_S)).toEqual([])
  // The next second begins after its border: this grant belongs to the first one.
  then(1, 2, 'released')
  grant(1, 3, 0.75)
  expect(trace.takeConvoys(NS_PER_S)).toEqual([
    { resource: RESOURCE, server: SERVER, fromNs: 0.5 * NS_PER_S, toNs: 0.9 * NS_PER_S, waiting: 4 },
  ])
  then(1.5, 3, 'released')
  const counts = {
    conflicts: 4,
    revocations: 1,
    grants: 3,
    conversions: 0,
    cancels: 2,
    held: 1,
    mostWaiting: 4,
    waitMeanNs: ((0 + 0.7 + 0.75) / 3) * NS_PER_S,
    waitP95Ns: 0.75 * NS_PER_S,
    waitLongestNs: 0.75 * NS_PER_S,
    convoyNs: 0.4 * NS_PER_S,
  }
  const heldByMode = LOCK_MODES.map((mode) => (mode === 'PW' ? 1 : 0))
  expect(trace.takePeriods(1.5 * NS_PER_S)).toEqual([
    {
      fromNs: 0,
      toNs: NS_PER_S,
      resources: [{ ...counts, resource: RESOURCE, server: SERVER }],
      servers: [{ ...counts, server: SERVER, resources: 1, heldByMode }],
    },
  ])
  // Two requests still wait: since 0.4 s and 0.5 s.
  const [second] = trace.takePeriods(2 * NS_PER_S)
  expect(second?.resources[0]).toMatchObject({ grants: 0, cancels: 1, held: 0, mostWaiting: 2, waitMeanNs: undefined })
  expect(second?.resources[0]?.waitLongestNs).toBeCloseTo(1.6 * NS_PER_S)
  expect(trace.takeConvoys(2 * NS_PER_S)).toEqual([])
})

it('a convoy over several seconds is counted in each and reported once, at its end', () => {
  const { trace, request, wait, grant, then } = scripted()
  request(0.1, 1)
  grant(0.1, 1, 0)
  for (const client of [2, 3, 4, 5, 6]) {
    request(0.5, client)
    wait(0.5, client)
  }
  const first = trace.takePeriods(2 * NS_PER_S)
  expect(first.map((p) => p.resources[0]?.convoyNs)).toEqual([0.5 * NS_PER_S, NS_PER_S])
  expect(first.map((p) => p.servers[0]?.convoyNs)).toEqual([0.5 * NS_PER_S, NS_PER_S])
  expect(trace.takeConvoys(2 * NS_PER_S)).toEqual([])
  then(2.25, 1, 'released')
  grant(2.25, 2, 1.75)
  grant(2.25, 3, 1.75)
  expect(trace.takePeriods(3 * NS_PER_S)[0]?.resources[0]).toMatchObject({ convoyNs: 0.25 * NS_PER_S, mostWaiting: 5 })
  expect(trace.takeConvoys(3 * NS_PER_S)).toEqual([
    { resource: RESOURCE, server: SERVER, fromNs: 0.5 * NS_PER_S, toNs: 2.25 * NS_PER_S, waiting: 5 },
  ])
})

it('keeps the last minute while nothing takes it, without work for a longer silence', () => {
  const { trace, request, grant } = scripted()
  request(0.1, 1)
  grant(0.1, 1, 0)
  const periods = trace.takePeriods(1e6 * NS_PER_S)
  expect(periods).toHaveLength(60)
  expect(periods.at(-1)?.toNs).toBe(1e6 * NS_PER_S)
  expect(periods.every((p) => p.servers[0]?.held === 1)).toBe(true)
})

/** Replays a run whose ns are stretched to seconds, and takes the periods every so many s. */
function taken(log: readonly TraceRecord[], stretch: number, everyS: number) {
  const trace = new LockTrace()
  const periods: LockPeriod[] = []
  const convoys: TracedConvoy[] = []
  let nextNs = everyS * NS_PER_S
  const take = (ns: number): void => {
    periods.push(...trace.takePeriods(ns))
    convoys.push(...trace.takeConvoys(ns))
  }
  for (const r of log) {
    if (r.what !== 'event') continue
    const at = r.at * stretch
    for (; nextNs < at; nextNs += everyS * NS_PER_S) take(nextNs)
    const event = { ...r.event, at }
    trace.feed.observe(r.server, event.kind === 'granted' ? { ...event, waitedNs: event.waitedNs * stretch } : event)
  }
  const endNs = Math.ceil(((log.at(-1)?.at ?? 0) * stretch) / NS_PER_S) * NS_PER_S
  take(endNs)
  return { trace, periods, convoys, endNs }
}

it('sums of the seconds equal the counts of the whole trace, however often they are taken', () => {
  let convoys = 0
  fc.assert(
    fc.property(
      fc.nat(1e9),
      fc.integer({ min: 1, max: 4 }),
      fc.constantFrom(0.1, 0.7, 1, 5, 20),
      fc.constantFrom(0, 0.01),
      (seed, resources, everyS, evictions) => {
        const log = tracedRun({ policy: SEQDLM, seed, clients: 7, resources, operations: 80, reach: 4, evictions })
        const stretch = (20 * NS_PER_S) / (log.at(-1)?.at ?? 1)
        const some = taken(log, stretch, everyS)
        const all = taken(log, stretch, 1000)
        expect(some.periods).toEqual(all.periods)
        expect(some.convoys).toEqual(all.convoys)
        convoys += all.convoys.length
        const { trace, periods, endNs } = some
        for (const c of trace.resources(endNs, endNs + 1)) {
          const rows = periods.flatMap((p) => p.resources.filter((r) => r.resource === c.resource))
          const sum = (of: (r: (typeof rows)[number]) => number): number => rows.reduce((n, r) => n + of(r), 0)
          expect(sum((r) => r.grants)).toBe(c.grants)
          expect(sum((r) => r.conflicts)).toBe(c.conflicts)
          expect(sum((r) => r.revocations)).toBe(c.revocations)
          expect(sum((r) => r.conversions)).toBe(c.conversions)
          expect(sum((r) => r.grants - r.cancels)).toBe(c.held)
          const inConvoys = all.convoys.filter((v) => v.resource === c.resource)
          const isOpen = c.waiting >= 4
          if (!isOpen)
            expect(sum((r) => r.convoyNs)).toBeCloseTo(
              inConvoys.reduce((n, v) => n + v.toNs - v.fromNs, 0),
              0,
            )
          // The longest queue of the trace's own buckets.
          const longest = Math.max(0, ...trace.queue(c.resource, 0, endNs, 1))
          expect(Math.max(0, ...rows.map((r) => r.mostWaiting))).toBe(longest)
        }
        for (const p of periods) {
          for (const s of p.servers) {
            const of = p.resources.filter((r) => r.server === s.server)
            expect(s.grants).toBe(of.reduce((n, r) => n + r.grants, 0))
            expect(s.held).toBe(of.reduce((n, r) => n + r.held, 0))
            expect(s.heldByMode.reduce((a, b) => a + b)).toBe(s.held)
          }
        }
        const modes = trace.modes(endNs, endNs + 1).map((m) => m.held)
        expect(periods.at(-1)?.servers[0]?.heldByMode).toEqual(modes)
      },
    ),
    { numRuns: 60 },
  )
  expect(convoys).toBeGreaterThan(20)
})
