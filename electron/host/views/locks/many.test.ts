import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { locksFrame as schema, type LocksFrame } from '#core/api/locks.ts'
import { NS_PER_MS, NS_PER_S } from '#core/base/units.ts'
import { lockRange } from '#core/seqdlm/ranges.ts'
import { LockTrace, type TraceLimits } from '#core/seqdlm/trace/lock-trace.ts'
import type { LockWorld } from '#core/seqdlm/trace/trace.ts'
import { EventLog } from '../../../cluster/state/event-log.ts'
import { LockWatch } from '../../../cluster/locks/watch.ts'
import { longestQueueEnd } from './default-range.ts'
import { seqdlmFrame } from './seqdlm.ts'
import type { LocksQuery } from './locks.ts'

const EPOCH_MS = 1_767_225_600_000
const HOSTILE = '\u202E<script>alert(1)</script>"; rm -rf $(HOME) \u0007'
const clock = (now: () => number) => ({ nowNs: now, toUnixMs: (ns: number) => EPOCH_MS + ns / NS_PER_MS })

/** Trace of waits and grants: client 1 holds for `hold` ns each, others request. */
class Queues {
  readonly trace: LockTrace
  #id = 0
  #steps: { at: number; tell: () => void }[] = []

  constructor(resources: number, limits: Partial<TraceLimits> = {}) {
    const most = Math.max(1024, resources)
    const all = { resources: most, buckets: 4 * most + 200_000, lives: 4 * most, ...limits }
    this.trace = new LockTrace({ limits: all })
  }

  /** A request that waits from `at` to `until`, when it is granted and, soon after, released. */
  wait(resource: number, client: number, at: number, until: number): void {
    const id = ++this.#id
    const of = { resource, client }
    const range = lockRange(0, 4095)
    const reported = (event: Parameters<LockTrace['feed']['observe']>[1]) => (): void =>
      this.trace.feed.observe(0, event)
    this.#steps.push({ at, tell: reported({ ...of, kind: 'asked', at, reqId: id, mode: 'NBW', range }) })
    this.#steps.push({ at, tell: reported({ ...of, kind: 'waiting', at, reqId: id, behindClient: 0 }) })
    const lock = { ...of, lockId: id }
    this.#steps.push({
      at: until,
      tell: reported({
        ...lock,
        kind: 'granted',
        at: until,
        reqId: id,
        asked: 'NBW',
        mode: 'NBW',
        range,
        required: range,
        state: 'GRANTED',
        sn: id,
        minSn: 0,
        absorbed: [],
        waitedNs: until - at,
        rule: 'normal-grant',
      }),
    })
    this.#steps.push({ at: until + 1000, tell: reported({ ...lock, kind: 'released', at: until + 1000 }) })
  }

  /** Emits everything up to an instant, in time order. */
  play(toNs = Infinity): void {
    this.#steps.sort((a, b) => a.at - b.at)
    const later = this.#steps.findIndex((s) => s.at > toNs)
    for (const { tell } of this.#steps.splice(0, later < 0 ? Infinity : later)) tell()
  }
}

const world = (trace: LockTrace, name = (r: number): string => `f${r} / 0`): LockWorld => ({
  trace,
  manager: HOSTILE.repeat(50),
  managerName: HOSTILE.repeat(50),
  describe: (r) => ({ name: name(r), server: HOSTILE.repeat(20), about: HOSTILE.repeat(20) }),
  find: () => undefined,
  client: (c) => ({ name: `${HOSTILE.repeat(9)}${c}`, jobId: HOSTILE.repeat(99) }),
})

const query: LocksQuery = {
  at: null,
  windowMs: 60_000,
  plane: null,
  sort: 'waiting',
  filter: '',
  offset: 0,
  limit: 200,
  selected: '',
  moment: null,
  spanMs: 10_000,
}

describe('ten thousand resources with hostile names', () => {
  const RESOURCES = 10_000
  const queues = new Queues(RESOURCES)
  for (let r = 0; r < RESOURCES; r++) {
    queues.wait(r, 1 + (r % 9), (r + 1) * 100_000, 4 * NS_PER_S)
    queues.wait(r, 2, (r + 2) * 100_000, 5 * NS_PER_S)
  }
  for (let i = 0; i < 2_000; i++) queues.wait(7, i, 3 * NS_PER_S + i * 1000, 5 * NS_PER_S + i)
  queues.play()
  const atNs = 4.5 * NS_PER_S
  const watch = new LockWatch(
    world(queues.trace, (r) => HOSTILE.repeat(r % 40)),
    new EventLog(),
  )
  for (let s = 1; s <= 45; s++) watch.look(s, s * 100 * NS_PER_MS, EPOCH_MS + s * 100)
  const frame = (more: Partial<LocksQuery> = {}): LocksFrame => {
    const head = { seq: 1, sample: 45, atMs: EPOCH_MS + atNs / NS_PER_MS, windowMs: 60_000 }
    const planes = { planes: ['seqdlm' as const], plane: 'seqdlm' as const }
    return seqdlmFrame(
      clock(() => atNs),
      watch,
      { ...head, ...planes },
      { ...query, ...more },
    )
  }

  it.each([
    ['by contention', {}],
    ['by name, filtered by mode', { sort: 'name' as const, filter: 'mode:NBW waiting>0' }],
    ['far down', { sort: 'cancel' as const, offset: 9_900 }],
  ])('%s are a valid frame of bounded size', (_, more) => {
    const f = frame(more)
    expect(schema.parse(f)).toEqual(f)
    expect(f.known).toBe(RESOURCES)
    expect(f.rows.key.length).toBeLessThanOrEqual(200)
    expect(f.resource?.lives.id.length).toBeLessThanOrEqual(400)
    expect(f.resource?.messages.sent.length).toBeLessThanOrEqual(600)
    expect(f.alarms.length).toBeLessThanOrEqual(12)
    expect(Math.max(...f.rows.name.map((n) => n.length))).toBeLessThanOrEqual(120)
    expect(JSON.stringify(f).length).toBeLessThan(400_000)
  })

  it('the newest lives of a long queue are sent, and the others counted', () => {
    const r = frame({ selected: '7' }).resource
    expect(r?.lives.id).toHaveLength(400)
    expect((r?.moreLives ?? 0) + 400).toBe(2_002)
    expect(Math.max(...(r?.lives.behind.map((b) => b.length) ?? []))).toBeLessThanOrEqual(16)
    expect(r?.queue.waiting.at(-1)).toBe(2_001)
  })
})

describe('what is forgotten', () => {
  const queues = new Queues(2, { livesPerResource: 200, bucketsNs: 20 * NS_PER_S })
  for (let i = 0; i < 60_000; i++) queues.wait(i % 2, i % 9, i * NS_PER_MS, (i + 5) * NS_PER_MS)
  const watch = new LockWatch(world(queues.trace), new EventLog())
  for (let s = 1; s <= 600; s++) {
    queues.play(s * 100 * NS_PER_MS)
    watch.look(s, s * 100 * NS_PER_MS, EPOCH_MS + s * 100)
  }
  const frame = (sample: number, more: Partial<LocksQuery> = {}): LocksFrame => {
    const head = { seq: 1, sample, atMs: EPOCH_MS + sample * 100, windowMs: 60_000 }
    const planes = { planes: ['seqdlm' as const], plane: 'seqdlm' as const }
    return seqdlmFrame(
      clock(() => 60 * NS_PER_S),
      watch,
      { ...head, ...planes },
      { ...query, spanMs: 20, ...more },
    )
  }

  it('is said to be, and no picture is made of it', () => {
    const f = frame(300)
    expect(schema.parse(f)).toEqual(f)
    expect(f).toMatchObject({ held: expect.any(Number) as number, known: 0, resource: null, modes: [] })
    expect(f.grants).toBeGreaterThan(900)
    expect(f.series.t.length).toBeGreaterThan(250)
    expect(f.notices).toMatchObject([{ code: 'LOCKS_FORGOTTEN', why: 'lock traces are kept for the last 20 s' }])
  })

  it('counts of a sample outlive its lives, and a moment that was asked for says that it is gone', () => {
    const f = frame(450)
    expect(f).toMatchObject({ known: 2, notices: [], resource: { isFound: true, isKept: false } })
    expect(f.rows.conflicts[0]).toBeGreaterThan(300)
    const moment = { endMs: EPOCH_MS + 45_000, spanMs: 20 }
    expect(frame(600, { moment }).resource).toMatchObject({ moment, isFound: false, isKept: false })
  })

  it('is not chosen while there is a moment of which all is known', () => {
    expect(queues.trace.keptSince).toBeGreaterThan(55 * NS_PER_S)
    const { resource } = frame(600)
    expect(resource).toMatchObject({ isFound: true, isKept: true })
    expect(resource?.lives.id.length).toBeGreaterThan(5)
  })
})

describe('a moment that is found', () => {
  const burst = fc.record({
    atMs: fc.integer({ min: 0, max: 29_000 }),
    waiters: fc.integer({ min: 1, max: 12 }),
    forMs: fc.integer({ min: 1, max: 900 }),
  })
  const seconds = fc.record({
    bursts: fc.array(burst, { maxLength: 25 }),
    spanMs: fc.constantFrom(0.1, 1, 20, 60, 200, 1_000, 10_000),
  })
  function played(bursts: readonly { atMs: number; waiters: number; forMs: number }[]): LockTrace {
    const queues = new Queues(1)
    for (const { atMs, waiters, forMs } of bursts) {
      for (let i = 0; i < waiters; i++) queues.wait(1, i, atMs * NS_PER_MS + i, (atMs + forMs) * NS_PER_MS + i)
    }
    queues.play()
    return queues.trace
  }
  /** Longest queue of a range. */
  const longest = (trace: LockTrace, fromNs: number, toNs: number): number =>
    Math.max(0, ...trace.queue(1, Math.max(0, fromNs), toNs, 1))

  it('is at or before the cursor, and changes only for something worse or at a border of 5 s', () => {
    fc.assert(
      fc.property(seconds, ({ bursts, spanMs }) => {
        const trace = played(bursts)
        const spanNs = spanMs * NS_PER_MS
        const afterNs = Math.round(0.4 * spanNs)
        let last: { endNs: number; stretch: number } | undefined
        for (let atNs = 6 * NS_PER_S; atNs <= 30 * NS_PER_S; atNs += 100 * NS_PER_MS) {
          const endNs = longestQueueEnd(trace, 1, atNs, spanNs)
          expect(endNs).toBeLessThanOrEqual(atNs)
          expect(Number.isInteger(endNs)).toBe(true)
          const range = Math.floor((atNs - afterNs) / (5 * NS_PER_S))
          if (last && last.endNs !== endNs && last.stretch === range && range > 0) {
            const binNs = 50 * NS_PER_MS
            const peak = (end: number): number => {
              const from = Math.floor((end - afterNs - 1) / binNs) * binNs
              return longest(trace, from, from + binNs)
            }
            expect(peak(endNs)).toBeGreaterThan(peak(last.endNs))
          }
          last = { endNs, stretch: range }
        }
      }),
      { numRuns: 60 },
    )
  })

  it('holds the longest queue of the last whole stretch and of the one under way', () => {
    fc.assert(
      fc.property(seconds, fc.integer({ min: 60, max: 300 }), ({ bursts, spanMs }, tenths) => {
        const trace = played(bursts)
        const spanNs = spanMs * NS_PER_MS
        const atNs = tenths * 100 * NS_PER_MS
        const endNs = longestQueueEnd(trace, 1, atNs, spanNs)
        const seenNs = atNs - Math.round(0.4 * spanNs)
        const border = Math.floor(seenNs / (5 * NS_PER_S)) * 5 * NS_PER_S
        const most = longest(trace, border - 5 * NS_PER_S, seenNs - 100 * NS_PER_MS)
        expect(longest(trace, endNs - spanNs, endNs)).toBeGreaterThanOrEqual(most)
      }),
      { numRuns: 200 },
    )
  })

  it('is the same for later readers', () => {
    const bursts = [3, 7, 9, 12].map((s) => ({ atMs: s * 1_000, waiters: s, forMs: 40 }))
    const early = played(bursts)
    const late = played(bursts)
    const all = Array.from({ length: 200 }, (_, i) => (i + 1) * 100 * NS_PER_MS)
    const found = all.map((atNs) => longestQueueEnd(early, 1, atNs, 60 * NS_PER_MS))
    expect(
      all
        .toReversed()
        .map((atNs) => longestQueueEnd(late, 1, atNs, 60 * NS_PER_MS))
        .reverse(),
    ).toEqual(found)
  })
})
