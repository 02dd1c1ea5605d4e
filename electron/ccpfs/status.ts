/**
 * States of ccPFS daemons for `sluice ccpfs status` and the console, as JSON. Ranges end with null at EOF. Lock events have the form of
 * core/seqdlm/lock-events.ts; times are ns of the server's clock, and `startedMs` + `nowNs` place them in wall-clock time.
 */
import type { LockResource } from '#core/seqdlm/lock-resource.ts'
import type { ServerNode } from '#core/seqdlm/server-node.ts'
import type { EventLog } from './events.ts'
import type { ExtentLogFile } from './extent-log-file.ts'
import type { FileDevice } from './file-device.ts'
import type { ServerState } from './server-state.ts'
import type { Peer } from './wire/peer.ts'

export interface MessageCounts {
  readonly received: Record<string, number>
  readonly sent: Record<string, number>
  /** Messages without effect, by failure code. */
  readonly refused: Record<string, number>
}

/** Connection of a client. */
export interface Session {
  readonly client: number
  readonly name: string
  readonly peer: Peer
  /** ns of the server's clock. */
  readonly since: number
}

/** Parts of a lock and data server that its status describes. */
export interface ServerParts {
  readonly node: ServerNode
  readonly state: ServerState
  readonly log: ExtentLogFile
  readonly device: FileDevice
  readonly sessions: ReadonlyMap<number, Session>
  readonly counts: MessageCounts
  readonly events: EventLog
  /** Latest messages without effect. */
  readonly refusals: readonly string[]
  readonly policy: string
  /** Time to release a revoked lock before eviction. */
  readonly evictMs: number
  readonly printedAddress: string
  readonly startedMs: number
  /** Clients that have yet to return after a restart. */
  readonly awaited: number
  readonly evictions: number
}

/** Resources, and locks and requests of each, that one status lists; the totals count all. */
const RESOURCES_MAX = 1000
const LOCKS_MAX = 100
const EVENTS_MAX = 2000

/** Status of a lock and data server. */
export function serverStatus(daemon: ServerParts, nowNs: number) {
  const { node, state, log, device, sessions, counts, events, refusals } = daemon
  const resources = [...node.locks.resources()]
  let unreleased = 0
  let waiting = 0
  for (const r of resources) {
    unreleased += r.unreleased
    waiting += r.waiting
  }
  const busiest = resources.sort((a, b) => b.waiting - a.waiting || b.unreleased - a.unreleased || a.id - b.id)
  return {
    kind: 'server',
    version: 1,
    address: daemon.printedAddress,
    pid: process.pid,
    startedMs: daemon.startedMs,
    nowNs,
    epoch: state.epoch,
    policy: daemon.policy,
    evictMs: daemon.evictMs,
    fileSystem: state.fileSystem,
    server: state.server,
    servers: state.servers,
    isOpen: node.locks.isOpen,
    awaitedClients: daemon.awaited,
    evictions: daemon.evictions,
    clients: [...sessions.values()].map(({ client, name, since, peer }) => ({
      client,
      name,
      sinceNs: since,
      received: peer.received,
      sent: peer.sent,
    })),
    locks: { resources: resources.length, unreleased, waiting },
    resources: busiest.slice(0, RESOURCES_MAX).map(resourceStatus),
    messages: counts,
    refusals,
    data: {
      cacheEntries: node.data.cache.entries,
      cacheBytes: node.data.cache.bytes,
      logBytes: log.bytes,
      waitingWrites: device.waiting,
      failing: [...device.failing].map(([resource, errno]) => ({ resource, errno })),
      ...device.counters,
    },
    lastEvent: events.last,
  }
}
export type ServerStatus = ReturnType<typeof serverStatus>

function resourceStatus(resource: LockResource) {
  const locks = []
  for (const l of resource.locks()) {
    if (locks.length === LOCKS_MAX) break
    const { lockId, client, mode, state, sn, minSn, range, revokedAt } = l
    locks.push({ lockId, client, mode, state, sn, minSn, start: range.start, end: range.end, revokedAtNs: revokedAt })
  }
  const requests = []
  for (const w of resource.waiters()) {
    if (requests.length === LOCKS_MAX) break
    const { client, reqId, mode, range, requestedAt } = w
    requests.push({ client, reqId, mode, start: range.start, end: range.end, requestedAtNs: requestedAt })
  }
  return {
    resource: resource.id,
    nextSn: resource.nextSn,
    unreleased: resource.unreleased,
    waiting: resource.waiting,
    locks,
    requests,
  }
}

/** Answers a query: `status`, or `events N` for those after number N. */
export function answerQuery(text: string, status: () => object, events?: EventLog): Buffer {
  const after = /^events (\d{1,15})$/.exec(text)?.[1]
  if (text === 'status') return Buffer.from(JSON.stringify(status()))
  if (after !== undefined && events !== undefined) {
    return Buffer.from(JSON.stringify({ last: events.last, events: events.after(Number(after), EVENTS_MAX) }))
  }
  return Buffer.from(JSON.stringify({ error: 'the query is unknown' }))
}
