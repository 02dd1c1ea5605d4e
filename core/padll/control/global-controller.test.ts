import { describe, expect, it } from 'vitest'
import { NS_PER_MS, NS_PER_S } from '../../base/units.ts'
import { parseHousekeeping } from '../rules/housekeeping.ts'
import { padllStatus } from '../status.ts'
import { GlobalController } from './global-controller.ts'
import type { GlobalToLocal, StageEntry, StageRate } from './messages.ts'
import { GOODBYE } from './protocol.ts'
import type { GlobalSettings } from './settings.ts'

const RULES = parseHousekeeping(`1 create_channel 1 posix 0 open no_op
2 create_object 1 1 posix open no_op drl 10000 1000000
`).rules

const entry = (key: string, job: string, rate = 1): StageEntry => ({
  key,
  identity: { job, instance: Number(key), pid: Number(key), ppid: 1, hostname: 'n', user: 'u' },
  channels: [{ channel: 1, object: 1, scope: 'open', rate }],
})

/** A global controller whose locals answer on demand. */
class Bench {
  now = 0
  readonly sent: [number, GlobalToLocal][] = []
  readonly closed: number[] = []
  readonly global: GlobalController
  /** Served rates of stages, op/s, by key. */
  readonly serves = new Map<string, number>()
  readonly keys = new Map<number, string[]>()

  constructor(settings: Partial<GlobalSettings> = {}, policies = '') {
    this.global = new GlobalController({
      controller: 'g',
      startedMs: 1_000_000,
      startedNs: 0,
      housekeeping: RULES,
      settings: { algorithm: 'psharing', limits: new Map([['open', 100]]), ...settings },
      io: { send: (link, m) => this.sent.push([link, m]), close: (link) => this.closed.push(link) },
    })
    if (policies !== '') expect(this.global.setPolicies(policies, 0).ok).toBe(true)
    this.now = 100 * NS_PER_MS
  }

  connect(link: number, ...stages: readonly StageEntry[]): void {
    this.keys.set(
      link,
      stages.map((s) => s.key),
    )
    this.global.onOpen(link, this.now)
    const hello = (epoch: number): void =>
      this.global.onMessage(link, { kind: 'hello', local: `l${link}`, hostname: 'n', epoch, stages }, this.now)
    hello(0)
    hello(this.global.epoch)
  }

  join(link: number, stage: StageEntry): void {
    this.keys.get(link)?.push(stage.key)
    this.global.onMessage(link, { kind: 'stage-joined', stage }, this.now)
  }

  /** Answers all sent messages until none are left; returns the commands by round. */
  settle(except?: number): StageRate[][] {
    const rounds: StageRate[][] = []
    while (this.sent.length > 0) {
      const messages = this.sent.splice(0)
      rounds.push(messages.flatMap(([, m]) => (m.kind === 'enforce' ? m.rates : [])))
      for (const [link, m] of messages) {
        if (link === except || m.kind === 'welcome') continue
        const { request } = m
        const stages = (this.keys.get(link) ?? []).map((key) => ({
          key,
          channels: [
            {
              channel: 1,
              object: 1,
              scope: 'open',
              arrived: 0,
              waited: 0,
              queued: 0,
              throttledNs: 0,
              served: this.serves.get(key) ?? 0,
            } as const,
          ],
        }))
        if (m.kind === 'enforce') this.global.onMessage(link, { kind: 'ack', request, failed: [] }, this.now)
        else this.global.onMessage(link, { kind: 'counts', request, windowNs: NS_PER_S, stages, silent: [] }, this.now)
      }
    }
    return rounds.filter((r) => r.length > 0)
  }

  cycle(except?: number): StageRate[][] {
    this.now = Math.max(this.now + NS_PER_S, this.global.nextNs())
    this.global.tick(this.now)
    return this.settle(except)
  }

  get rates(): Record<string, number | null> {
    const { jobs } = this.global.status(1)
    return Object.fromEntries(jobs.map((j) => [j.job, j.allocated]))
  }
}

const DEMANDS = '1 0 demand a open 60\n2 0 demand b open 60\n'

describe('a global controller', () => {
  it('computes at once when a job joins: falls are confirmed before the new one rises', () => {
    const b = new Bench({}, DEMANDS)
    b.connect(1, entry('1', 'a'))
    expect(b.settle()).toEqual([[{ key: '1', scope: 'open', rate: 100 }]])
    b.now += NS_PER_S / 2
    b.join(1, entry('2', 'b'))
    expect(b.settle()).toEqual([[{ key: '1', scope: 'open', rate: 50 }], [{ key: '2', scope: 'open', rate: 50 }]])
  })

  it('begins objects of limited scopes at the floor, others at their own rates', () => {
    const b = new Bench()
    b.connect(1)
    const first = b.sent[0]?.[1]
    const rates = first?.kind === 'welcome' ? first.housekeeping.map((r) => 'bucket' in r && r.bucket?.rate) : []
    expect(rates).toEqual([false, 1])
    const free = new Bench({ limits: new Map() })
    free.connect(1)
    expect(free.sent[0]?.[1]).toMatchObject({ housekeeping: RULES })
  })

  it('keeps a freed rate until the lowering is confirmed, then hands it out', () => {
    const b = new Bench({}, DEMANDS)
    b.connect(1, entry('1', 'a'))
    b.settle()
    b.now += NS_PER_S
    b.connect(2, entry('2', 'b'))
    b.settle(1)
    b.now += 500 * NS_PER_MS
    b.global.tick(b.now)
    // 100 may still be in force at the first: the second gets only its floor.
    expect(
      b
        .settle(1)
        .flat()
        .filter((r) => r.key === '2' && r.rate > 1),
    ).toEqual([])
    b.cycle()
    b.cycle()
    expect(b.rates).toEqual({ a: 50, b: 50 })
  })

  it('reports calls that a stage cannot limit, until it leaves', () => {
    const b = new Bench({}, DEMANDS)
    b.connect(1, entry('1', 'a'), entry('2', 'b'))
    b.settle()
    const why = 'E_IO_URING: its submissions are not limited'
    b.global.onMessage(1, { kind: 'ack', request: 0, failed: [{ key: '2', scope: 'data_op', why }] }, b.now)
    b.global.onMessage(1, { kind: 'ack', request: 0, failed: [{ key: '9', scope: 'data_op', why }] }, b.now)
    expect(b.global.status(1).failures).toEqual([
      expect.objectContaining({ code: 'NOT_LIMITED', what: 'Some calls of b are not limited', why }),
    ])
    expect(padllStatus.safeParse(b.global.status(1)).success).toBe(true)
    b.keys.set(1, ['1'])
    b.global.onMessage(1, { kind: 'stage-left', key: '2', why: GOODBYE }, b.now)
    expect(b.global.status(1).failures).toEqual([])
  })

  it('a stage that took its leave frees its rate in the same cycle; one that was lost keeps it for its lease', () => {
    const b = new Bench({ lease: { ns: 3 * NS_PER_S, onExpiry: 'hold' } }, DEMANDS)
    b.connect(1, entry('1', 'a'), entry('2', 'b'))
    b.settle()
    b.cycle()
    b.keys.set(1, ['1'])
    b.global.onMessage(1, { kind: 'stage-left', key: '2', why: 'its connection is gone' }, b.now)
    b.cycle()
    expect(b.rates).toEqual({ a: 50 })
    expect(b.global.status(1).failures.map((f) => f.code)).toEqual(['OUT_OF_REACH'])
    for (let i = 0; i < 7; i++) b.cycle()
    expect(b.rates).toEqual({ a: 100 })

    const c = new Bench({}, DEMANDS)
    c.connect(1, entry('1', 'a'), entry('2', 'b'))
    c.settle()
    c.now += NS_PER_S / 2
    c.keys.set(1, ['1'])
    c.global.onMessage(1, { kind: 'stage-left', key: '2', why: GOODBYE }, c.now)
    c.settle()
    expect(c.rates).toEqual({ a: 100 })
  })

  it('keeps the rates of a lost local controller until its leases are over, or it is back', () => {
    const b = new Bench({ lease: { ns: 2 * NS_PER_S, onExpiry: 'hold' } }, DEMANDS)
    b.connect(1, entry('1', 'a'))
    b.connect(2, entry('2', 'b'))
    b.settle()
    b.cycle()
    for (let i = 0; i < 3; i++) {
      b.cycle(2)
      b.now += 500 * NS_PER_MS
      b.global.tick(b.now)
      b.settle(2)
    }
    expect(b.closed).toEqual([2])
    b.cycle()
    expect(b.rates).toEqual({ a: 50 })
    b.connect(3, entry('2', 'b', 50))
    b.settle()
    b.cycle()
    expect(b.rates).toEqual({ a: 50, b: 50 })
  })

  it('takes an even part as the demand of jobs that no policy names, so that none stops beside a busy one', () => {
    for (const algorithm of ['psharing', 'psfa', 'priority'] as const) {
      const b = new Bench({ algorithm }, '')
      b.connect(1, entry('1', 'a'), entry('2', 'b'))
      b.settle()
      b.serves.set('1', 50)
      b.serves.set('2', 50)
      for (let i = 0; i < 3; i++) b.cycle()
      expect(b.rates).toEqual({ a: 50, b: 50 })
    }
  })

  it('takes the mean of the rounds as usage, and computes at their end', () => {
    const b = new Bench(
      { algorithm: 'psfa', collectRounds: 3, epsilon: 0 },
      '1 0 demand a open 60\n2 0 demand b open 40\n',
    )
    b.connect(1, entry('1', 'a'), entry('2', 'b'))
    b.settle()
    const rates: unknown[] = []
    for (const served of [10, 20, 60, 0, 0, 0, 0]) {
      // The limit reported with counts is the one in force while they were made: a cycle's rates show in the next
      // cycle's counts.
      b.serves.set('1', served)
      b.serves.set('2', 30)
      b.cycle()
      rates.push(b.rates)
    }
    // In the first cycle usage is the demand; then the mean 30 of both; then 1 and 30, of which 69 are left over.
    expect(rates[0]).toEqual({ a: 60, b: 40 })
    expect(rates[2]).toEqual(rates[0])
    expect(rates[3]).toEqual({ a: 50, b: 50 })
    expect(rates[5]).toEqual(rates[3])
    expect(rates[6]).toEqual({ a: 3, b: 97 })
  })

  it('keeps rates that would hardly change, unless their sum would pass the limit', () => {
    const settings: Partial<GlobalSettings> = { algorithm: 'static', suppress: 0.1 }
    const b = new Bench(settings, '1 0 job a open 50\n2 0 job b open 40\n3 2 job a open 52\n4 4 job b open 50\n')
    b.connect(1, entry('1', 'a'), entry('2', 'b'))
    b.settle()
    expect(b.rates).toEqual({ a: 50, b: 40 })
    b.cycle()
    expect(b.cycle()).toEqual([])
    b.cycle()
    const messages = b.cycle().flat()
    // 50 and 50 fill the limit: with the 52 scaled to it, no stage may stay above its share.
    expect(messages.map((r) => r.key)).toContain('2')
    expect(messages.reduce((sum, r) => sum + r.rate, 0)).toBeLessThanOrEqual(100)
  })

  it('applies all due policies in one cycle, and reports those of absent jobs', () => {
    const b = new Bench(
      { algorithm: 'static' },
      '1 5 job a open 10\n2 5 job b open 20\n3 5 job z open 5\n4 9 user u open 1\n',
    )
    b.connect(1, entry('1', 'a'), entry('2', 'b'))
    b.settle()
    for (let i = 0; i < 4; i++) b.cycle()
    expect(b.rates).toEqual({ a: null, b: null })
    expect(b.global.status(1).policies.steps.map((s) => s.state)).toEqual(['waiting', 'waiting', 'waiting', 'ignored'])
    b.cycle()
    b.cycle()
    expect(b.rates).toEqual({ a: 10, b: 20 })
    const { steps } = b.global.status(1).policies
    expect(steps.map((s) => s.state)).toEqual(['active', 'active', 'unknown-job', 'ignored'])
    expect(steps[0]).toMatchObject({ kind: 'job', line: 1, atS: 5, value: 10 })
  })

  it('a limit that is taken away gives the housekeeping rates back', () => {
    const b = new Bench({}, DEMANDS)
    b.connect(1, entry('1', 'a'))
    b.settle()
    b.now += NS_PER_S / 2
    expect(b.global.change({ limits: [{ scope: 'open', rate: null }] }, b.now).ok).toBe(true)
    expect(b.settle()).toEqual([[{ key: '1', scope: 'open', rate: 1_000_000 }]])
    expect(b.rates).toEqual({ a: null })
  })

  it('refuses faulty policies as a whole and says where', () => {
    const b = new Bench({}, DEMANDS)
    const set = b.global.setPolicies('1 0 demand a open 5\n2 0 demand a opn 5\n', 1)
    expect(!set.ok && [set.error.code, set.error.why?.slice(0, 17)]).toEqual(['POLICIES_FAULTY', 'line 2, column 14'])
    expect(b.global.policiesText).toBe(DEMANDS)
    expect(b.global.setPolicies('x'.repeat(1_000_001), 1).ok).toBe(false)
  })

  it('reports a stage that does not answer, and one that its local controller no longer knows', () => {
    const b = new Bench({}, DEMANDS)
    b.connect(1, entry('1', 'a'), entry('2', 'b'))
    b.settle()
    b.now = b.global.nextNs()
    b.global.tick(b.now)
    const collect = b.sent.splice(0).at(-1)![1]
    const request = collect.kind === 'collect' ? collect.request : 0
    b.global.onMessage(1, { kind: 'counts', request, windowNs: NS_PER_S, stages: [], silent: ['1'] }, b.now)
    const status = padllStatus.parse(b.global.status(1))
    expect(status.locals[0]?.stages.map((s) => [s.key, s.state])).toEqual([['1', 'silent']])
    expect(status.events.at(-1)?.kind).toBe('lost')
  })
})
