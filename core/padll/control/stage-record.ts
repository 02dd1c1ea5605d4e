/** Local controllers and stages as the global controller knows them: rates that may be in force, and recent counts. */
import type { Forecast } from '../algorithms/algorithm.ts'
import { ArrivalHistory } from '../algorithms/psfa-adaptive.ts'
import type { Scope } from '../vocabulary.ts'
import type { ChannelCounts, StageEntry, StageIdentity } from './messages.ts'
import { RATE_FLOOR } from './protocol.ts'

/** Shortest time over which counts make a rate, as a fraction of the interval. */
const SHORTEST_PART = 0.25
/** Larger than any real count. */
const NUMBER_MAX = 2 ** 50

/** Bounds a number from outside so that it can be summed. */
export const bounded = (n: number): number => (n > 0 ? Math.min(n, NUMBER_MAX) : 0)

/** Counts of a stage's channels for one scope. */
interface ScopeCounts {
  arrived: number
  served: number
  queued: number
}

/** One stage in one scope: its channels for that scope together. Rates in op/s. */
export class StageScope {
  readonly scope: Scope
  readonly stage: StageRecord
  /** Its enforcement objects that have a limit. */
  readonly objects: readonly { readonly channel: number; readonly object: number }[]
  /** Most that may be in force: the last confirmed rate, and all sent since. */
  most: number
  /** Most that was in force at the last counts: the rate to compare them with. */
  held: number
  /** Rate in the last plan. */
  target: number
  /** Set if the rate must be sent again, whatever is in force. */
  isUnsure = false
  /** Last command, while it is unanswered. */
  request: number | undefined
  /** Mean served rate of the last rounds; null in the first cycle. */
  usage: number | null = null
  /** Expected load after the last rounds; null in the first cycle. */
  forecast: Forecast | null = null
  readonly #history = new ArrivalHistory()
  #served = 0
  #arrived = 0
  #queued = 0
  #windowNs = 0

  constructor(stage: StageRecord, scope: Scope, objects: readonly { channel: number; object: number }[], most: number) {
    this.stage = stage
    this.scope = scope
    this.objects = objects
    this.most = most
    this.held = most
    this.target = most
  }

  /** Lowest rate that it can get. */
  get floor(): number {
    return this.objects.length * RATE_FLOOR
  }

  commanded(request: number, rate: number): void {
    this.request = request
    this.most = Math.max(this.most, rate)
    this.isUnsure = false
  }

  /** Records the answer to the last command; answers to earlier ones carry no information any more. */
  answered(request: number, rate: number, isDone: boolean): void {
    if (this.request !== request) return
    this.request = undefined
    if (isDone) this.most = rate
    else this.isUnsure = true
  }

  /** @param queued  operations waiting at the end of the window. */
  sample({ served, arrived, queued }: ScopeCounts, windowNs: number): void {
    this.#served += served
    this.#arrived += arrived
    this.#queued = queued
    this.#windowNs += windowNs
  }

  /** Sets `usage` to the mean served rate of the collected rounds, and the forecast; clears the sums. */
  endRounds(): void {
    if (this.#windowNs === 0) return
    const perSecond = 1e9 / this.#windowNs
    this.usage = this.#served * perSecond
    this.forecast = this.#history.add(this.#arrived * perSecond, this.#queued * perSecond)
    this.#served = 0
    this.#arrived = 0
    this.#windowNs = 0
  }
}

export class StageRecord {
  readonly key: string
  readonly identity: StageIdentity
  readonly joinedNs: number
  /** Number of the last request to its local controller at the time it joined. */
  readonly joinedRequest: number
  readonly scopes = new Map<Scope, StageScope>()
  /** All objects, also those without a limit. */
  readonly channels: StageEntry['channels']
  /** Counts of the last collection, and the time they cover. */
  counts: readonly ChannelCounts[] = []
  windowNs = 0
  isSilent = false
  /** Calls of its process that it cannot limit, as it reported them. */
  unlimited: string | undefined
  /** Time covered by collections without its answer. */
  #missedNs = 0

  constructor(entry: StageEntry, joinedNs: number, joinedRequest: number) {
    this.key = entry.key
    this.identity = entry.identity
    this.channels = entry.channels
    this.joinedNs = joinedNs
    this.joinedRequest = joinedRequest
    const byScope = new Map<Scope, StageEntry['channels'][number][]>()
    for (const c of entry.channels) {
      if (!(c.rate > 0)) continue
      const channels = byScope.get(c.scope)
      if (channels) channels.push(c)
      else byScope.set(c.scope, [c])
    }
    for (const [scope, channels] of byScope) {
      const most = channels.reduce((sum, c) => sum + bounded(c.rate), 0)
      this.scopes.set(scope, new StageScope(this, scope, channels, most))
    }
  }

  /** Updates from a repeated entry: more may be in force than is known here, so its rate is sent again in any case. */
  refresh(entry: StageEntry): void {
    const sums = new Map<Scope, number>()
    for (const c of entry.channels) sums.set(c.scope, (sums.get(c.scope) ?? 0) + bounded(c.rate))
    for (const [scope, stageScope] of this.scopes) {
      stageScope.most = Math.max(stageScope.most, sums.get(scope) ?? 0)
      stageScope.isUnsure = true
    }
  }

  /** Records a collection of `windowNs` that the stage did not answer. */
  missed(windowNs: number): void {
    this.isSilent = true
    this.#missedNs += bounded(windowNs)
  }

  /** Records the counts of a collection; ignored if they cover too little time for a rate. */
  take(counts: readonly ChannelCounts[], windowNs: number, nowNs: number, intervalNs: number): void {
    this.isSilent = false
    const ns = Math.min(windowNs + this.#missedNs, nowNs - this.joinedNs)
    this.#missedNs = 0
    if (!(ns >= intervalNs * SHORTEST_PART)) return
    this.counts = counts
    this.windowNs = ns
    const sums = new Map<Scope, ScopeCounts>()
    for (const c of counts) {
      let sum = sums.get(c.scope)
      if (!sum) sums.set(c.scope, (sum = { arrived: 0, served: 0, queued: 0 }))
      sum.arrived += bounded(c.arrived)
      sum.served += bounded(c.served)
      sum.queued += bounded(c.queued)
    }
    for (const [scope, stageScope] of this.scopes) {
      stageScope.sample(sums.get(scope) ?? { arrived: 0, served: 0, queued: 0 }, ns)
      stageScope.held = stageScope.most
    }
  }
}

/** Connection of a local controller. */
export class LocalPeer {
  readonly link: number
  local = ''
  hostname = ''
  /**
   * Welcomed: this controller introduced itself to it. Accepted: it obeys this controller and has reported its stages.
   */
  isWelcomed = false
  isAccepted = false
  readonly stages = new Map<string, StageRecord>()
  /** Unanswered commands, by request. */
  readonly commands = new Map<number, readonly { readonly of: StageScope; readonly rate: number }[]>()
  /** Unanswered collection. */
  collect: number | undefined
  misses = 0
  lastSeenNs = 0
  /** Set if it reported a stage that is not known here. */
  isUnsure = false

  constructor(link: number, nowNs: number) {
    this.link = link
    this.lastSeenNs = nowNs
  }
}
