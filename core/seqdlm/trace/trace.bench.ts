/**
 * Cost of tracing for a lock server, and of reading a trace.
 *
 * `seqdlm.trace.contended`: the contended requests of `seqdlm.contended` with a trace of every step and message; for
 * comparison the same without a trace. `seqdlm.trace.observed`: steps without messages. `seqdlm.trace.frame`: data sent
 * to a window for one busy resource (400 lives, 600 messages, queue, counts, conditions), read while all bounds are
 * reached.
 */
import type { Bench } from '../../../bench/measure.ts'
import { LockServer } from '../lock-server.ts'
import type { FromLockServer, ToLockServer } from '../messages.ts'
import { WHOLE } from '../ranges.ts'
import { SEQDLM } from '../policy.ts'
import { LockTrace } from './lock-trace.ts'

type Clock = () => number

const CLIENTS = 16
const STEP_NS = 5000

/**
 * Clients that all want [0,EOF] of one resource; each sends a new request when granted and releases eight grants later.
 */
function contention(trace: LockTrace | null, hasMessages: boolean): { one: () => void; at: () => number } {
  const feed = trace?.feed
  let at = 0
  const out: { client: number; message: FromLockServer; n: number }[] = []
  const server = new LockServer({
    policy: SEQDLM,
    now: () => at,
    send: (client, message) => {
      const n = feed && hasMessages ? feed.sent(at, 0, client, false, message) : -1
      out.push({ client, message, n })
    },
    observe: feed && ((event) => feed.observe(0, event)),
  })
  const receive = (client: number, message: ToLockServer): void => {
    if (feed && hasMessages) feed.arrived(feed.sent(at, 0, client, true, message), at)
    server.receive(client, message)
  }
  const held: { client: number; lockId: number }[] = []
  let reqId = 0
  let read = 0
  let head = 0
  const request = (client: number): void =>
    receive(client, { kind: 'lock-request', resource: 0, reqId: ++reqId, range: WHOLE, mode: 'NBW' })
  for (let c = 0; c < CLIENTS; c++) request(c)
  const one = (): void => {
    at += STEP_NS
    const next = out[read++]
    if (next === undefined) throw new Error('a lock is always granted or revoked')
    const { client, message, n } = next
    if (feed && hasMessages) feed.arrived(n, at)
    if (message.kind === 'revoke') receive(client, { kind: 'revoke-reply', resource: 0, lockId: message.lockId })
    else if (message.kind === 'lock-grant') {
      held.push({ client, lockId: message.lockId })
      request(client)
      const old = held.length - head > 8 ? held[head++] : undefined
      if (old) receive(old.client, { kind: 'release', resource: 0, lockId: old.lockId })
    }
    if (read > 4096) {
      out.splice(0, read)
      held.splice(0, head)
      ;[read, head] = [0, 0]
    }
  }
  // Until every bound is reached: the cost of adding includes that of dropping.
  for (let i = 0; i < 60_000; i++) one()
  return { one, at: () => at }
}

function timed(now: Clock, one: () => void): number {
  const began = now()
  let n = 0
  while (now() - began < 50) for (let i = 0; i < 16; i++, n++) one()
  return (n / (now() - began)) * 1000
}

function frames(now: Clock): number {
  const trace = new LockTrace()
  const { one, at } = contention(trace, true)
  return timed(now, () => {
    // Much happens between two frames, so that the last one does not help.
    for (let i = 0; i < 1000; i++) one()
    readFrame(trace, at())
  })
}

function readFrame(trace: LockTrace, at: number): void {
  trace.lives(0, at - 60e6, at, 400)
  trace.messages(0, at - 60e6, at, 600)
  trace.queue(0, at - 10e9, at, 200)
  trace.resources(at, 1e9)
  trace.modes(at, 1e9)
  trace.conditions(at)
}

const WHAT_LIMITS =
  'Every step and message changes rows of a life, of two counts and of the indexes that find them again; untraced, a grant is little more than that.'

/** Time that tracing adds to a contended request, in % of the time without it. */
function added(now: Clock): number {
  const plain = timed(now, contention(null, false).one)
  const traced = timed(now, contention(new LockTrace(), true).one)
  return 100 * (plain / traced - 1)
}

export const benches: readonly Bench[] = [
  {
    id: 'seqdlm.trace.contended',
    unit: 'requests/s',
    run: (now: Clock) => timed(now, contention(new LockTrace(), true).one),
    baseline: (now: Clock) => timed(now, contention(null, false).one),
    note: '16 clients that all want [0,EOF], steps and messages traced',
    beside: 'no trace',
    paper: '213 kOPS, one server without a trace (SeqDLM V-A, RPCs of CaRT)',
    limit: WHAT_LIMITS,
  },
  {
    id: 'seqdlm.trace.cost',
    unit: '%',
    run: added,
    note: 'time added to each of those requests',
    runs: 5,
    limit: WHAT_LIMITS,
  },
  {
    id: 'seqdlm.trace.observed',
    unit: 'requests/s',
    run: (now: Clock) => timed(now, contention(new LockTrace(), false).one),
    baseline: (now: Clock) => timed(now, contention(null, false).one),
    note: 'steps alone',
    beside: 'no trace',
    limit: WHAT_LIMITS,
  },
  {
    id: 'seqdlm.trace.frame',
    unit: 'frames/s',
    run: frames,
    note: '400 lives, 600 messages, counts and conditions of a busy resource, and 1,000 requests between two frames',
    limit:
      'For each life of the minute it is decided again what stood in its way; the 1,000 traced requests are in it too.',
    runs: 5,
  },
]
