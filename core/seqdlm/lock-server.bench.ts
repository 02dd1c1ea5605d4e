/**
 * Lock requests per second through one lock server, messages in and out, without network or clients.
 *
 * `seqdlm.grant.N-unreleased`: NBW requests over a resource on which N NBW locks [0,EOF] are CANCELING, each granted at
 * once and made CANCELING in turn, the oldest released; for comparison a lock server that scans an array of locks.
 * `seqdlm.uncontended`: request and release of apart ranges by 16 clients. `seqdlm.contended`: 16 clients that all want
 * [0,EOF] of one resource, with early revocation. `seqdlm.growth`: ns per grant over the number of unreleased locks.
 */
import type { Bench, Growth } from '../../bench/measure.ts'
import { LockServer } from './lock-server.ts'
import type { FromLockServer, LockGrant } from './messages.ts'
import { isCompatible, type LockState } from './modes.ts'
import { DLM_BASIC, SEQDLM } from './policy.ts'
import { lockRange, WHOLE } from './ranges.ts'

type Clock = () => number

const CLIENTS = 16

interface Station {
  readonly server: LockServer
  readonly out: { client: number; message: FromLockServer }[]
}

function station(policy = SEQDLM): Station {
  const out: Station['out'] = []
  const server = new LockServer({ policy, now: () => 0, send: (client, message) => void out.push({ client, message }) })
  return { server, out }
}

/** Operations per second over at least 50 ms. */
function timed(now: Clock, one: () => void): number {
  const began = now()
  let n = 0
  while (now() - began < 50) for (let i = 0; i < 64; i++, n++) one()
  return (n / (now() - began)) * 1000
}

function grants(unreleased: number, now: Clock): number {
  const { server, out } = station()
  const held: { client: number; lockId: number }[] = []
  let reqId = 0
  let head = 0
  const take = (): void => {
    const client = reqId % CLIENTS
    server.receive(client, { kind: 'lock-request', resource: 0, reqId: ++reqId, range: WHOLE, mode: 'NBW' })
    for (const o of out.splice(0)) {
      if (o.message.kind !== 'lock-grant') continue
      const { lockId } = o.message
      held.push({ client, lockId })
      server.receive(client, { kind: 'downgrade', resource: 0, lockId, mode: 'NBW' })
    }
  }
  while (held.length < unreleased) take()
  return timed(now, () => {
    take()
    const oldest = held[head++] as { client: number; lockId: number }
    server.receive(oldest.client, { kind: 'release', resource: 0, lockId: oldest.lockId })
    out.length = 0
  })
}

/** The same decisions with an array of locks that is scanned at every request. */
function plainScan(unreleased: number, now: Clock): number {
  interface Plain {
    readonly id: number
    readonly client: number
    readonly start: number
    readonly end: number
    state: LockState
  }
  const locks: Plain[] = []
  let id = 0
  const take = (): void => {
    const client = id % CLIENTS
    let end = Infinity
    for (const l of locks) {
      if (isCompatible('NBW', 'NBW', l.state)) continue
      if (l.client !== client && l.end >= 0) throw new Error('nothing is GRANTED here')
      end = Math.min(end, l.start - 1)
    }
    const lock: Plain = { id: ++id, client, start: 0, end, state: 'GRANTED' }
    locks.push(lock)
    lock.state = 'CANCELING'
  }
  while (locks.length < unreleased) take()
  return timed(now, () => {
    take()
    const first = (locks[0] as Plain).id
    locks.splice(
      locks.findIndex((l) => l.id === first),
      1,
    )
  })
}

function uncontended(now: Clock): number {
  const { server, out } = station({ ...DLM_BASIC, expand: false })
  let reqId = 0
  return timed(now, () => {
    const client = reqId % CLIENTS
    const range = lockRange(client * 4096, client * 4096 + 4095)
    server.receive(client, { kind: 'lock-request', resource: 0, reqId: ++reqId, range, mode: 'PW' })
    const { lockId } = (out.pop() as Station['out'][number]).message as LockGrant
    server.receive(client, { kind: 'release', resource: 0, lockId })
  })
}

/** Every client sends a new request after each grant, and releases the previous lock eight grants later. */
function contended(now: Clock): number {
  const { server, out } = station()
  let reqId = 0
  let head = 0
  const held: { client: number; lockId: number }[] = []
  const request = (client: number): void => {
    server.receive(client, { kind: 'lock-request', resource: 0, reqId: ++reqId, range: WHOLE, mode: 'NBW' })
  }
  let read = 0
  for (let c = 0; c < CLIENTS; c++) request(c)
  return timed(now, () => {
    const next = out[read++]
    if (next === undefined) throw new Error('a lock is always granted or revoked')
    const { client, message } = next
    if (message.kind === 'revoke') server.receive(client, { kind: 'revoke-reply', resource: 0, lockId: message.lockId })
    else if (message.kind === 'lock-grant') {
      held.push({ client, lockId: message.lockId })
      request(client)
      const old = held.length - head > 8 ? held[head++] : undefined
      if (old) server.receive(old.client, { kind: 'release', resource: 0, lockId: old.lockId })
    }
    if (read > 4096) {
      out.splice(0, read)
      read = 0
      held.splice(0, head)
      head = 0
    }
  })
}

/** Performance of the paper's lock server. */
const PAPER_SERVER = '213 kOPS, one server (SeqDLM V-A, RPCs of CaRT)'

export const benches: readonly (Bench | Growth)[] = [
  ...[1, 100, 10_000].map((n) => ({
    id: `seqdlm.grant.${n}-unreleased`,
    unit: 'grants/s',
    run: (now: Clock) => grants(n, now),
    baseline: (now: Clock) => plainScan(n, now),
    note: 'NBW [0,EOF] over CANCELING NBW locks, each made CANCELING in turn, the oldest released',
    beside: 'an array of locks, scanned at every request',
    paper: PAPER_SERVER,
  })),
  {
    id: 'seqdlm.uncontended',
    unit: 'requests/s',
    run: uncontended,
    note: 'request and release of apart ranges, 16 clients',
    must: { least: 1_000_000 },
    paper: PAPER_SERVER,
    limit: 'A lock, its messages and its place in the index are made for each request and are garbage at its release.',
  },
  {
    id: 'seqdlm.contended',
    unit: 'requests/s',
    run: contended,
    note: '16 clients that all want [0,EOF] of one resource, with early revocation',
    must: { least: 213_000 },
    paper: PAPER_SERVER,
    limit: 'Every grant looks at the requests that wait, of which each has to be told apart from those before it.',
  },
  {
    id: 'seqdlm.growth',
    unit: 'log power',
    sizes: [100, 1000, 10_000, 100_000],
    cost: (now: Clock, n: number) => 1e9 / grants(n, now),
    axis: 'log',
    note: 'ns per grant over unreleased locks; 1 is logarithmic',
    must: { most: 1 },
    limit: 'The most locks do not fit the caches of a processor, and the collector walks over all of them.',
  },
]
