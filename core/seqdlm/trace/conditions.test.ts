import { describe, expect, it } from 'vitest'
import { LockServer } from '../lock-server.ts'
import type { FromLockServer } from '../messages.ts'
import type { LockMode } from '../modes.ts'
import { SEQDLM, type DlmPolicy } from '../policy.ts'
import { lockRange, WHOLE, type LockRange } from '../ranges.ts'
import { LockTrace } from './lock-trace.ts'

const MS = 1e6
const SECOND = 1e9

/** A lock server and clients controlled by a test. */
class Bench {
  readonly trace: LockTrace
  readonly out: { client: number; message: FromLockServer }[] = []
  at = 0
  #reqId = 0
  readonly #server: LockServer

  constructor(policy: DlmPolicy = SEQDLM) {
    this.trace = new LockTrace({ policy })
    this.#server = new LockServer({
      policy,
      now: () => this.at,
      send: (client, message) => void this.out.push({ client, message }),
      observe: (event) => this.trace.feed.observe(0, event),
    })
  }

  ask(client: number, mode: LockMode, range: LockRange = WHOLE, resource = 0): void {
    this.#server.receive(client, { kind: 'lock-request', resource, reqId: ++this.#reqId, range, mode })
  }

  /** The lock last granted to a client. */
  lockOf(client: number): number {
    const grant = this.out.findLast((o) => o.client === client && o.message.kind === 'lock-grant')?.message
    if (grant?.kind !== 'lock-grant') throw new Error(`client ${client} was granted nothing`)
    return grant.lockId
  }

  cancel(client: number, resource = 0): void {
    this.#server.receive(client, { kind: 'revoke-reply', resource, lockId: this.lockOf(client) })
  }

  release(client: number, resource = 0): void {
    this.#server.receive(client, { kind: 'release', resource, lockId: this.lockOf(client) })
  }

  evict(client: number): void {
    this.#server.evict(client)
  }

  conditions(kind: string, at = this.at) {
    return this.trace.conditions(at).filter((a) => a.kind === kind)
  }
}

describe('convoy', () => {
  it('is four requests that wait, behind the mode that the oldest of them waits for; gone with the queue', () => {
    const b = new Bench()
    b.ask(0, 'PR')
    for (let c = 1; c <= 3; c++) {
      b.at = c * MS
      b.ask(c, 'NBW')
    }
    expect(b.conditions('convoy')).toEqual([])
    b.at = 10 * MS
    b.ask(4, 'NBW')
    expect(b.conditions('convoy')).toEqual([{ kind: 'convoy', resource: 0, waiting: 4, sinceNs: MS, behindMode: 'PR' }])
    b.at = 20 * MS
    b.cancel(0)
    b.release(0)
    b.at = 21 * MS
    expect(b.conditions('convoy')).toEqual([])
    expect(b.conditions('convoy', 19 * MS)).toHaveLength(1)
    expect(b.conditions('convoy', 9 * MS)).toEqual([])
  })

  it('continues to count while the queue is never empty, whichever client is granted in between', () => {
    const b = new Bench({ ...SEQDLM, earlyRevocation: false })
    for (let c = 0; c < 8; c++) b.ask(c, 'PW')
    b.at = 5 * MS
    b.cancel(0)
    b.release(0)
    expect(b.conditions('convoy')).toMatchObject([{ waiting: 6, sinceNs: 0, behindMode: 'PW' }])
  })

  it('names the longest first', () => {
    const b = new Bench()
    for (const [resource, clients] of [
      [3, 5],
      [9, 7],
    ] as const) {
      for (let c = 0; c < clients; c++) b.ask(c, 'PW', WHOLE, resource)
    }
    expect(b.conditions('convoy').map((a) => a.resource)).toEqual([9, 3])
  })
})

describe('ping-pong', () => {
  /** Two clients take a lock from one another `perSecond` times a second. */
  const exchange = (b: Bench, perSecond: number, seconds: number, resource = 0): void => {
    if (b.at === 0) b.ask(0, 'PW', WHOLE, resource)
    for (let i = 1; i <= perSecond * seconds; i++) {
      b.at += SECOND / perSecond
      b.ask(i % 2, 'PW', WHOLE, resource)
      b.cancel((i + 1) % 2, resource)
      b.release((i + 1) % 2, resource)
    }
  }

  it('is an owner that changes 20 times a second for a second; says since when, and ends', () => {
    const b = new Bench()
    exchange(b, 40, 0.6)
    expect(b.conditions('ping-pong')).toEqual([])
    exchange(b, 40, 4)
    const [condition] = b.conditions('ping-pong')
    expect(condition).toMatchObject({ resource: 0, perSecond: 40 })
    expect(condition?.kind === 'ping-pong' && b.at - condition.sinceNs).toBeGreaterThan(4 * SECOND)
    const ended = b.at
    b.at += SECOND
    b.ask(7, 'PW', WHOLE, 1)
    expect(b.conditions('ping-pong')).toEqual([])
    expect(b.conditions('ping-pong', ended)).toEqual([condition])
  })

  it('is not a slow exchange, nor many clients that write apart and wait for no other', () => {
    const slow = new Bench()
    exchange(slow, 15, 5)
    expect(slow.conditions('ping-pong')).toEqual([])
    const apart = new Bench({ ...SEQDLM, expand: false })
    for (let i = 0; i < 500; i++) {
      apart.at += 10 * MS
      apart.ask(i % 8, 'NBW', lockRange(i * 10, i * 10 + 9))
    }
    expect(apart.trace.resources(apart.at, SECOND)[0]?.ownerChanges).toBe(100)
    expect(apart.conditions('ping-pong')).toEqual([])
  })

  it('is not a burst of half a second', () => {
    const b = new Bench()
    exchange(b, 100, 0.4)
    b.at += 0.5 * SECOND
    expect(b.conditions('ping-pong')).toEqual([])
  })

  it('of a convoy that is being served comes after one of a lock that two clients fight for', () => {
    // A lock contended by two clients, and a queue of six that changes owners twice as fast.
    const both = new Bench()
    both.ask(0, 'PW', WHOLE, 5)
    for (let c = 0; c < 7; c++) both.ask(10 + c, 'PW', WHOLE, 6)
    for (let i = 1; i <= 180; i++) {
      both.at += SECOND / 60
      const holder = 10 + ((i - 1) % 7)
      both.cancel(holder, 6)
      both.release(holder, 6)
      both.ask(holder, 'PW', WHOLE, 6)
      if (i % 2 !== 0) continue
      const k = i / 2
      both.ask(k % 2, 'PW', WHOLE, 5)
      both.cancel((k + 1) % 2, 5)
      both.release((k + 1) % 2, 5)
    }
    expect(both.conditions('convoy').map((a) => a.resource)).toEqual([6])
    expect(both.conditions('ping-pong').map((a) => a.resource)).toEqual([5, 6])
  })
})

describe('eviction risk', () => {
  it('is the oldest revocation whose lock has not come back; none once it has, or its client is evicted', () => {
    const b = new Bench()
    b.ask(0, 'PW')
    expect(b.conditions('eviction')).toEqual([])
    b.at = 3 * SECOND
    b.ask(1, 'PR')
    b.at = 4 * SECOND
    b.ask(2, 'PW', WHOLE, 1)
    b.ask(3, 'PW', WHOLE, 1)
    b.at = 63 * SECOND
    const condition = { kind: 'eviction', resource: 0, client: 0, ageNs: 60 * SECOND, timeoutNs: 100 * SECOND }
    expect(b.conditions('eviction')).toEqual([condition])
    // Answered, and still held: the timeout continues.
    b.cancel(0)
    expect(b.conditions('eviction')).toEqual([condition])
    b.at = 70 * SECOND
    b.release(0)
    expect(b.conditions('eviction')).toEqual([{ ...condition, resource: 1, client: 2, ageNs: 66 * SECOND }])
    b.at = 80 * SECOND
    b.evict(2)
    expect(b.conditions('eviction')).toEqual([])
    expect(b.conditions('eviction', 63 * SECOND)).toEqual([condition])
  })
})

describe('waits', () => {
  it('are those of requests granted in the range or still waiting, per resource, those without obstacles included', () => {
    const b = new Bench()
    b.ask(0, 'PW')
    b.at = 100 * MS
    b.ask(1, 'PW')
    b.ask(9, 'PR', WHOLE, 5)
    b.at = 400 * MS
    expect(b.trace.waits(b.at, SECOND)).toEqual([
      { resource: 0, requests: 2, p95Ns: 300 * MS },
      { resource: 5, requests: 1, p95Ns: 0 },
    ])
    b.cancel(0)
    b.release(0)
    b.at = 600 * MS
    expect(b.trace.waits(b.at, SECOND)[0]).toEqual({ resource: 0, requests: 2, p95Ns: 300 * MS })
    // What was granted before the range does not count, and the past is not changed by what came later.
    expect(b.trace.waits(b.at, 100 * MS)).toEqual([])
    expect(b.trace.waits(300 * MS, SECOND)[0]).toEqual({ resource: 0, requests: 2, p95Ns: 200 * MS })
  })

  it('have their 95th percentile by nearest rank', () => {
    const b = new Bench()
    for (let c = 0; c < 19; c++) b.ask(c, 'PR')
    b.ask(20, 'PW')
    b.at = 50 * MS
    expect(b.trace.waits(b.at, SECOND)).toEqual([{ resource: 0, requests: 20, p95Ns: 0 }])
    b.ask(21, 'PW')
    b.at = 60 * MS
    expect(b.trace.waits(b.at, SECOND)).toEqual([{ resource: 0, requests: 21, p95Ns: 10 * MS }])
  })
})

describe('unprocessed requests', () => {
  const request = (reqId: number) => ({ kind: 'lock-request', resource: 0, reqId, range: WHOLE, mode: 'PR' }) as const

  it('are the first one to each server since it last processed a message', () => {
    const trace = new LockTrace()
    const first = trace.feed.sent(10, 0, 1, true, request(1))
    trace.feed.sent(20, 0, 2, true, request(2))
    expect(trace.unprocessed()).toEqual([{ resource: 0, sentNs: 10 }])
    trace.feed.arrived(first, 15)
    expect(trace.unprocessed()).toEqual([{ resource: 0, sentNs: 20 }])
    const third = trace.feed.sent(30, 0, 3, true, request(3))
    trace.feed.arrived(third, 40)
    // The second one was lost, for example with the eviction of its client: the server processes later ones.
    expect(trace.unprocessed()).toEqual([])
  })
})
