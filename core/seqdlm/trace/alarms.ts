/** What an operator should look at: convoys, ping-pong, a client that does not answer. */
import { BUCKET_NS, BUSY_SINCE, HANDOVERS, WAITING, type Counts } from './counts.ts'
import type { Ledger } from './ledger.ts'
import { ENDED_NS, REVOKED_NS } from './life-columns.ts'
import type { LifeStore, ResourceLives } from './life-store.ts'
import type { LockMode } from '../modes.ts'
import { inTheWay, type TracedPolicy } from './obstacles.ts'
import { NONE } from './slots.ts'
import type { TraceAlarm } from './trace.ts'

/** Waiting requests that make a convoy: with fewer, two or three clients simply take turns. */
export const CONVOY = 4
/**
 * Changes of owner a second that make a ping-pong, in both halves of the last second.
 *
 * A lock that changes hands costs its client a cancel and a new request, a millisecond or two each: at 20 a second that is
 * several percent of the time of every client involved, and far more than clients that open a file now and then cause.
 */
export const PING_PONG = 20
/** Time after which a client that has not given a lock back is evicted, as Lustre's `timeout`. */
export const EVICTION_NS = 100e9

const SECOND = 1_000_000_000
const HALF = SECOND / 2

export interface AlarmSource {
  readonly ledger: Ledger
  readonly store: LifeStore
  readonly policy: TracedPolicy
  readonly timeoutNs: number
}

/** Alarms as of `at`, the ones to look at first of each kind first. */
export function alarmsAt(source: AlarmSource, at: number): TraceAlarm[] {
  const { ledger, store } = source
  const convoys: (TraceAlarm & { kind: 'convoy' })[] = []
  const pingPongs: (TraceAlarm & { kind: 'ping-pong' })[] = []
  const rowOf = ledger.rowsAt(at)
  for (const [resource, counts] of ledger.resources) {
    const here = store.resources.get(resource)
    const row = rowOf(counts)
    if (row === null || here === undefined) continue
    const waiting = row[WAITING] as number
    const behindMode = waiting >= CONVOY ? modeBehind(source, here, at) : undefined
    if (behindMode !== undefined) {
      convoys.push({ kind: 'convoy', resource, waiting, sinceNs: row[BUSY_SINCE] as number, behindMode })
    }
    const pingPong = (row[HANDOVERS] as number) >= PING_PONG ? pingPongOf(ledger, counts, at) : null
    if (pingPong !== null) pingPongs.push({ kind: 'ping-pong', resource, ...pingPong })
  }
  const inConvoy = new Set(convoys.map((c) => c.resource))
  // A convoy that is served hands its lock over too; there the queue is what matters.
  const rank = (p: (typeof pingPongs)[number]): number => (inConvoy.has(p.resource) ? 1 : 0)
  convoys.sort((a, b) => b.waiting - a.waiting || a.resource - b.resource)
  pingPongs.sort((a, b) => rank(a) - rank(b) || b.perSecond - a.perSecond || a.resource - b.resource)
  const eviction = oldestRevocation(source, at)
  return [...convoys, ...pingPongs, ...(eviction === null ? [] : [eviction])]
}

/** Mode of what the oldest waiting request waits for; undefined when that is forgotten. */
function modeBehind({ store, policy }: AlarmSource, here: ResourceLives, at: number): LockMode | undefined {
  const { table } = store
  const slot = store.notEndedBefore(here, ENDED_NS, at).find((s) => table.isWaitingAt(s, at))
  if (slot === undefined) return undefined
  const first = table.record(slot)
  const found = inTheWay(first, at, store.around(here, first.id), policy).filter((o) => o.clearedSeq === Infinity)
  return (found.find((o) => o.life.isHeldAt(at)) ?? found[0])?.mode
}

/** Handovers between two instants; of before the beginning of what is known there were none. */
function handovers(ledger: Ledger, counts: Counts, from: number, to: number): number {
  const begin = ledger.rowAt(counts, Math.max(from, ledger.since))
  const end = ledger.rowAt(counts, to)
  return begin === null || end === null ? 0 : (end[HANDOVERS] as number) - (begin[HANDOVERS] as number)
}

function pingPongOf(ledger: Ledger, counts: Counts, at: number): { perSecond: number; sinceNs: number } | null {
  const halves = [handovers(ledger, counts, at - HALF, at), handovers(ledger, counts, at - SECOND, at - HALF)]
  if (halves.some((n) => n < PING_PONG / 2)) return null
  // Further back at ends of buckets, where the counts are as good as they get.
  let since = Math.floor((at - SECOND) / BUCKET_NS) * BUCKET_NS
  while (since > ledger.since && handovers(ledger, counts, since - HALF, since) >= PING_PONG / 2) since -= HALF
  return { perSecond: halves.reduce((a, b) => a + b), sinceNs: Math.max(0, ledger.since, Math.min(since, at - SECOND)) }
}

function oldestRevocation({ store, timeoutNs }: AlarmSource, at: number): TraceAlarm | null {
  const { table } = store
  let oldest = NONE
  let oldestNs = Infinity
  for (const here of store.resources.values()) {
    for (const slot of store.notEndedBefore(here, ENDED_NS, at)) {
      const revokedNs = table.get(slot, REVOKED_NS)
      if (revokedNs > at || revokedNs >= oldestNs || table.get(slot, ENDED_NS) <= at) continue
      oldest = slot
      oldestNs = revokedNs
    }
  }
  if (oldest === NONE) return null
  const { resource, client } = table.record(oldest)
  return { kind: 'eviction', resource, client, ageNs: at - oldestNs, timeoutNs }
}
