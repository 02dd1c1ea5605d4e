/**
 * What a lock manager did, kept within bounds and read as of any instant that is still kept.
 *
 * The write side only notes; everything that takes thought (what stood in the way, the rule of a grant, words) is found out when
 * it is read. Source: spec/seqdlm 2, 4-6. Deviations: none in what is told; of a server that crashed, what it lost is told to be
 * held or waiting until a request is repeated or the bounds are reached, since no event says otherwise.
 */
import type { ResourceId } from '../messages.ts'
import { isReadMode } from '../modes.ts'
import { SEQDLM } from '../policy.ts'
import { contains } from '../ranges.ts'
import { alarmsAt, EVICTION_NS } from './alarms.ts'
import * as c from './counts.ts'
import { Feed } from './feed.ts'
import { grantRule } from './grant-rule.ts'
import { Ledger } from './ledger.ts'
import { lifeAt, type LifeRecord } from './life.ts'
import { ASKED_NS, CLIENT, ENDED_NS } from './life-columns.ts'
import { LifeStore, type ResourceLives } from './life-store.ts'
import type { MessageRecord } from './message-log.ts'
import { messageWords } from './message-words.ts'
import { inTheWay, obstacles, type TracedPolicy } from './obstacles.ts'
import { fullest } from './queue-search.ts'
import { NONE } from './slots.ts'
import type {
  LockLife,
  ModeCounts,
  ResourceCounts,
  TraceAlarm,
  TracedMessage,
  TraceFeed,
  TraceReader,
} from './trace.ts'

export interface TraceOptions {
  /** How the lock manager is set; SeqDLM unless given. */
  readonly policy?: TracedPolicy
  /** Time after which a client that does not give a revoked lock back is evicted, ns. */
  readonly evictionNs?: number
  readonly limits?: Partial<TraceLimits>
}

export interface TraceLimits {
  readonly lives: number
  readonly livesPerResource: number
  /** Lives that have not ended, followed to their end without room to show them. */
  readonly unlisted: number
  /** Pieces of lock ranges (DLM-datatype), all lives together. */
  readonly pieces: number
  readonly messages: number
  readonly resources: number
  /** Steps that make counts and queues exact to the ns: a power of two, >= 1,024. */
  readonly steps: number
  /** How far back counts go, ns. */
  readonly bucketsNs: number
  /** Ends of buckets kept, all resources together; when there are more, counts go back less far. */
  readonly buckets: number
}

export const TRACE_LIMITS: TraceLimits = {
  ...{ lives: 40_000, livesPerResource: 8_000, unlisted: 80_000, pieces: 500_000, messages: 60_000, resources: 1024 },
  ...{ steps: 2 ** 18, bucketsNs: 600e9, buckets: 200_000 },
}

export class LockTrace implements TraceReader {
  readonly #policy: TracedPolicy
  readonly #timeoutNs: number
  readonly #lives: LifeStore
  readonly #ledger: Ledger
  readonly #feed: Feed

  constructor({ policy = SEQDLM, evictionNs = EVICTION_NS, limits }: TraceOptions = {}) {
    const all = { ...TRACE_LIMITS, ...limits }
    this.#policy = policy
    this.#timeoutNs = evictionNs
    this.#ledger = new Ledger({ steps: all.steps, bucketsNs: all.bucketsNs, copies: all.buckets })
    this.#lives = new LifeStore(all, (here, slot) => this.#feed.lost(here, slot))
    this.#feed = new Feed(this.#lives, this.#ledger, all)
  }

  get feed(): TraceFeed {
    return this.#feed
  }

  get keptSince(): number {
    // A life that is not shown and has not ended is missing at any instant.
    if (this.#lives.unlisted > 0) return this.#feed.now
    return Math.max(0, this.#lives.since, this.#feed.messages.since, this.#feed.droppedAt, this.#ledger.since)
  }

  /** Counts and queues are known from here on, ns: longer than lives and messages. */
  get countedSince(): number {
    return Math.max(0, this.#ledger.since, this.#feed.droppedAt)
  }

  /** What is in memory. */
  get kept(): Readonly<Record<'lives' | 'unlisted' | 'messages' | 'resources' | 'buckets', number>> {
    const { size, unlisted, resources } = this.#lives
    const [messages, buckets] = [this.#feed.messages.size, this.#ledger.copies]
    return { lives: size, unlisted, messages, resources: resources.size, buckets }
  }

  resources(at: number, spanNs: number): readonly ResourceCounts[] {
    const endOf = this.#ledger.rowsAt(at)
    const beginOf = this.#ledger.rowsAt(Math.max(at - spanNs, this.#ledger.since))
    const found: ResourceCounts[] = []
    for (const [resource, counts] of this.#ledger.resources) {
      const [end, begin] = [endOf(counts), beginOf(counts)]
      if (end !== null && begin !== null && end[c.ASKED]! > 0) found.push(countsOf(resource, begin, end))
    }
    return found.sort((a, b) => b.waiting - a.waiting || b.conflicts - a.conflicts || a.resource - b.resource)
  }

  longest(at: number, spanNs: number): ReadonlyMap<ResourceId, number> {
    const endOf = this.#ledger.rowsAt(at)
    const found = new Map<ResourceId, number>()
    for (const [resource, counts] of this.#ledger.resources) {
      const end = endOf(counts)
      const most = end === null ? 0 : longestOf(counts, end, at - spanNs, at)
      if (most > 0) found.set(resource, most)
    }
    return found
  }

  modes(at: number, spanNs: number): readonly ModeCounts[] {
    const end = this.#ledger.rowAt(this.#ledger.all, at)
    const begin = this.#ledger.rowAt(this.#ledger.all, Math.max(at - spanNs, this.#ledger.since))
    return c.MODES.map((mode, i) => ({
      ...{ mode, held: end?.[c.HELD_BY_MODE + i] ?? 0, waiting: end?.[c.WAITING_BY_MODE + i] ?? 0 },
      grants: end && begin ? end[c.GRANTS_BY_MODE + i]! - begin[c.GRANTS_BY_MODE + i]! : 0,
    }))
  }

  lives(
    resource: ResourceId,
    from: number,
    to: number,
    most: number,
  ): { readonly lives: readonly LockLife[]; readonly more: number } {
    const here = this.#lives.resources.get(resource)
    if (here === undefined) return { lives: [], more: 0 }
    // Steps that have not come are at Infinity.
    if (to === Infinity) return this.lives(resource, from, Number.MAX_VALUE, most)
    const { table } = this.#lives
    const touching = this.#lives.notEndedBefore(here, ENDED_NS, from).filter((slot) => table.get(slot, ASKED_NS) <= to)
    const more = Math.max(0, touching.length - Math.max(0, most))
    const shown = touching.slice(more).map((slot) => table.record(slot))
    const around = shown[0] === undefined ? [] : this.#lives.around(here, shown[0].id)
    return { lives: shown.map((life) => this.#lifeAt(life, to, around)), more }
  }

  messages(
    resource: ResourceId,
    from: number,
    to: number,
    most: number,
  ): { readonly messages: readonly TracedMessage[]; readonly more: number } {
    const found = this.#feed.messages.sentIn(resource, from, to)
    const more = Math.max(0, found.length - Math.max(0, most))
    const here = this.#lives.resources.get(resource)
    return { messages: found.slice(more).map((n) => this.#messageAt(this.#feed.messages.read(n), to, here)), more }
  }

  queue(resource: ResourceId, from: number, to: number, bins: number): Float64Array {
    const counts = this.#ledger.resources.get(resource)
    if (counts !== undefined) return this.#ledger.queue(counts, from, to, bins)
    // Nothing was heard of it, unless that was forgotten.
    const width = (to - from) / bins
    return Float64Array.from({ length: bins }, (_, i) => (from + i * width > this.#feed.droppedAt ? 0 : NaN))
  }

  busiest(resource: ResourceId, at: number, spanNs: number, backNs: number): number | undefined {
    const counts = this.#ledger.resources.get(resource)
    const since = this.#lives.resources.get(resource)?.since ?? -Infinity
    return counts && fullest(this.#ledger, counts, { at, spanNs, from: Math.max(at - backNs, since) })
  }

  alarms(at: number): readonly TraceAlarm[] {
    const [ledger, store, policy, timeoutNs] = [this.#ledger, this.#lives, this.#policy, this.#timeoutNs]
    return alarmsAt({ ledger, store, policy, timeoutNs }, at)
  }

  #messageAt(m: MessageRecord, to: number, here: ResourceLives | undefined): TracedMessage {
    const { resource, client, server, isUp, sentNs, arrivedNs, kind } = m
    const life = kind === 'read-request' || kind === 'read-reply' ? this.#readUnder(m, here) : this.#lives.known(m)
    return {
      ...{ resource, client, server, isUp, sentNs, kind },
      arrivedNs: arrivedNs <= to && arrivedNs < Infinity ? arrivedNs : undefined,
      // A request is sent before it is asked for.
      life: life !== null && life.askedNs <= to ? life.id : undefined,
      text: messageWords(m, life),
    }
  }

  /** The lock that a client read under: the latest of those that allow it. */
  #readUnder({ client, range, sentNs }: MessageRecord, here: ResourceLives | undefined): LifeRecord | null {
    const { table } = this.#lives
    for (let s = here?.listed.last ?? NONE; s !== NONE; s = this.#lives.previousListed(s)) {
      if (table.get(s, CLIENT) !== client || !table.isHeldAt(s, sentNs)) continue
      const life = table.record(s)
      if (isReadMode(life.modeAt(sentNs)) && range !== null && contains(life.range, range)) return life
    }
    return null
  }

  #lifeAt(life: LifeRecord, to: number, around: readonly LifeRecord[]): LockLife {
    const isSettled = Math.min(life.grantedNs, life.endedNs) <= to
    if (!isSettled) return lifeAt(life, to, obstacles(inTheWay(life, to, around, this.#policy)), '')
    if (life.behind === null) {
      const found = inTheWay(life, to, around, this.#policy)
      life.behind = obstacles(found)
      life.rule = life.grantedNs <= to ? grantRule(life, found, around) : ''
    }
    return lifeAt(life, to, life.behind, life.rule ?? '')
  }
}

function countsOf(resource: ResourceId, begin: Float64Array, end: Float64Array): ResourceCounts {
  const during = (column: number): number => end[column]! - begin[column]!
  const cancels = during(c.CANCELS)
  return {
    ...{ resource, waiting: end[c.WAITING]!, held: end[c.HELD]!, conflicts: during(c.CONFLICTS) },
    ...{ revocations: during(c.REVOCATIONS), asked: during(c.ASKED), grants: during(c.GRANTS) },
    ...{ earlyGrants: during(c.EARLY_GRANTS), earlyRevocations: during(c.EARLY_REVOCATIONS) },
    ...{ conversions: during(c.CONVERSIONS), releases: during(c.RELEASES), ownerChanges: during(c.OWNER_CHANGES) },
    cancelNs: cancels > 0 ? during(c.CANCEL_NS) / cancels : undefined,
  }
}

/** Of (from, at], from the row at its end and the buckets before. */
function longestOf(counts: c.Counts, end: Float64Array, from: number, at: number): number {
  // A row that nothing happened to since before the stretch still tells the longest queue of its last bucket.
  const isOld = Math.ceil(counts.lastAt / c.BUCKET_NS) * c.BUCKET_NS <= from
  return Math.max(isOld ? end[c.WAITING]! : end[c.LONGEST]!, counts.longest(from, at) || 0)
}
