/**
 * One stage as its local controller knows it: its handshake state, and for each enforcement object the most that may be
 * in force. An unanswered command counts as in force, and so does the one that it replaces.
 */
import type { HousekeepingRule } from '../rules/housekeeping.ts'
import type { ChannelCounts, Lease, StageEntry, StageIdentity } from './messages.ts'
import type { LayoutObject } from './layout-objects.ts'

export type SessionState =
  | 'silent' // no identity yet
  | 'waiting' // for the rules of a global controller
  | 'housekeeping'
  | 'ready' // sent, no answer yet
  | 'rates' // gets its first rates
  | 'joined'

/** Terms that a stage is laid out by. */
export interface Terms {
  readonly epoch: number
  readonly housekeeping: readonly HousekeepingRule[]
  readonly lease: Lease
}

interface Pending {
  readonly request: number
  readonly rate: number
}

/** Unanswered commands that are told apart; beyond that only their maximum is kept. */
const PENDING_MAX = 16

export class SessionObject {
  readonly layout: LayoutObject
  /** Last rate that the stage confirmed, and the last one sent. */
  confirmed: number
  sentRate: number
  #pending: Pending[] = []

  constructor(layout: LayoutObject) {
    this.layout = layout
    this.confirmed = layout.rate
    this.sentRate = layout.rate
  }

  get isLimiting(): boolean {
    return this.layout.rate > 0
  }

  get most(): number {
    return this.#pending.reduce((most, p) => Math.max(most, p.rate), this.confirmed)
  }

  sent(request: number, rate: number): void {
    this.sentRate = rate
    if (this.#pending.length >= PENDING_MAX) {
      this.confirmed = this.most
      this.#pending = []
    }
    this.#pending.push({ request, rate })
  }

  /** Records that the stage carried a command out; earlier ones have no effect any more. */
  done(request: number): void {
    const of = this.#pending.find((p) => p.request === request)
    if (!of) return
    this.confirmed = of.rate
    this.#pending = this.#pending.filter((p) => p.request > request)
  }

  refused(request: number): void {
    this.#pending = this.#pending.filter((p) => p.request !== request)
  }
}

export class StageSession {
  readonly link: number
  readonly key: string
  state: SessionState = 'silent'
  /** Terms of its layout, unchanged through the whole handshake. */
  terms: Terms | undefined
  identity: StageIdentity | undefined
  objects: readonly SessionObject[] = []
  /** Next housekeeping rule to send. */
  rule = 0
  /** Unanswered requests of the handshake, and their deadline. */
  readonly handshake = new Set<number>()
  deadlineNs = Infinity
  /** Number of the last request. */
  request = 0
  lastSentNs = 0
  /** Consecutive collections without an answer. */
  misses = 0
  /** Calls of its process that it cannot limit, as it reported them. */
  unlimited: string | undefined
  /** Set if its lease was allowed to lapse: its rates are lower than sent, unless it reports otherwise. */
  isLapsed = false
  /** Counts that came after their collection was over; they are added to the next. */
  readonly #late = new Map<string, ChannelCounts>()

  constructor(link: number, key: string) {
    this.link = link
    this.key = key
  }

  get entry(): StageEntry | undefined {
    if (!this.identity) return undefined
    return {
      key: this.key,
      identity: this.identity,
      channels: this.objects.map((o) => ({
        channel: o.layout.channel,
        object: o.layout.object,
        scope: o.layout.scope,
        rate: o.isLimiting ? o.most : 0,
      })),
    }
  }

  addLate(channels: readonly ChannelCounts[]): void {
    for (const c of channels.slice(0, this.objects.length)) {
      const key = `${c.channel} ${c.object}`
      this.#late.set(key, added(c, this.#late.get(key)))
    }
  }

  withLate(channels: readonly ChannelCounts[]): readonly ChannelCounts[] {
    if (this.#late.size === 0) return channels
    const all = channels.map((c) => added(c, this.#late.get(`${c.channel} ${c.object}`)))
    this.#late.clear()
    return all
  }
}

/** Adds counts; `queued` is a current value and is not summed. */
const added = (a: ChannelCounts, b: ChannelCounts | undefined): ChannelCounts =>
  b
    ? {
        ...a,
        arrived: a.arrived + b.arrived,
        served: a.served + b.served,
        waited: a.waited + b.waited,
        throttledNs: a.throttledNs + b.throttledNs,
      }
    : a
