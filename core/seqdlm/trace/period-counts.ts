/**
 * Counts of lock resources and lock servers by second, and convoys as they end.
 *
 * A second excludes its beginning and includes its end, as every range of the trace, and is closed by the time of events, so
 * that its counts do not depend on when it is read. O(1) a step, O(resources in use) a second.
 */
import { NS_PER_S } from '../../base/units.ts'
import type { ResourceId, ServerId } from '../messages.ts'
import { LOCK_MODES } from '../modes.ts'
import { CONVOY_WAITING, HAD_WAITED, IS_CONVERTED, WAS_HELD } from './counts.ts'
import * as step from './step-log.ts'
import type { LockPeriod, LockPeriodCounts, TracedConvoy } from './trace.ts'

/** Closed seconds that wait to be taken; the oldest is dropped first. */
const SECONDS_MAX = 60
/** Ended convoys that wait to be taken; the oldest is dropped first. */
const CONVOYS_MAX = 1_000

class Tally {
  conflicts = 0
  revocations = 0
  grants = 0
  conversions = 0
  cancels = 0
  held = 0
  waiting = 0
  mostWaiting = 0
  /** Resources in a convoy, time since when there is one, and time with one in this second, ns. */
  convoys = 0
  #convoySinceNs = 0
  #convoyNs = 0
  /** Waits of the grants of this second that are not zero, ns. */
  #waits: number[] = []
  #waitedNs = 0

  granted(waitedNs: number): void {
    this.grants++
    this.held++
    if (waitedNs <= 0) return
    this.#waits.push(waitedNs)
    this.#waitedNs += waitedNs
  }

  startWaiting(): void {
    this.waiting++
    if (this.waiting > this.mostWaiting) this.mostWaiting = this.waiting
  }

  startConvoy(at: number): void {
    if (this.convoys++ === 0) this.#convoySinceNs = at
  }

  endConvoy(at: number): void {
    if (--this.convoys === 0) this.#convoyNs += at - this.#convoySinceNs
  }

  /** Returns the counts of the second that ends, and begins the next. */
  close(endNs: number, oldestWaitNs: number): LockPeriodCounts {
    if (this.convoys > 0) {
      this.#convoyNs += endNs - this.#convoySinceNs
      this.#convoySinceNs = endNs
    }
    const waits = this.#waits.sort((a, b) => a - b)
    const { grants, conflicts, revocations, conversions, cancels, held, mostWaiting } = this
    // Nearest rank; grants without a wait come first.
    const rank = Math.ceil(0.95 * grants) - 1 - (grants - waits.length)
    const longest = Math.max(waits.at(-1) ?? 0, oldestWaitNs)
    const counts: LockPeriodCounts = {
      conflicts,
      revocations,
      grants,
      conversions,
      cancels,
      held,
      mostWaiting,
      waitMeanNs: grants > 0 ? this.#waitedNs / grants : undefined,
      waitP95Ns: grants > 0 ? (rank < 0 ? 0 : waits[rank]) : undefined,
      waitLongestNs: grants > 0 || oldestWaitNs > 0 ? longest : undefined,
      convoyNs: this.#convoyNs,
    }
    this.conflicts = 0
    this.revocations = 0
    this.grants = 0
    this.conversions = 0
    this.cancels = 0
    this.mostWaiting = this.waiting
    this.#convoyNs = 0
    this.#waits = []
    this.#waitedNs = 0
    return counts
  }
}

class ServerTally extends Tally {
  /** Resources with a lock or a waiting request. */
  resources = 0
  /** Longest current wait of its requests, ns; while a second is closed. */
  oldestWaitNs = 0
  /** In the order of `LOCK_MODES`. */
  readonly heldByMode = LOCK_MODES.map(() => 0)
}

class ResourceTally extends Tally {
  readonly server: ServerTally
  readonly serverId: ServerId
  /** Times of the requests that wait, in order, by the number of their life. */
  readonly queue = new Map<number, number>()
  convoyFromNs = 0
  convoyWaiting = 0

  constructor(server: ServerTally, serverId: ServerId) {
    super()
    this.server = server
    this.serverId = serverId
  }

  get inUse(): number {
    return this.held + this.waiting
  }
}

export class PeriodCounts {
  readonly #resources = new Map<ResourceId, ResourceTally>()
  readonly #servers = new Map<ServerId, ServerTally>()
  #closed: LockPeriod[] = []
  #convoys: TracedConvoy[] = []
  /** End of the present second, ns. */
  #endNs = NS_PER_S

  /**
   * Counts a step of a life.
   *
   * @param at     not before that of the last step.
   * @param value  time of the request, if it waits now; time that it waited, if it was granted, ns.
   */
  step(
    { resource, server }: { readonly resource: ResourceId; readonly server: ServerId },
    life: number,
    at: number,
    code: number,
    modes: number,
    flags: number,
    value: number,
  ): void {
    if (at > this.#endNs) this.#closeBefore(at)
    const here = this.#resources.get(resource) ?? this.#open(resource, server)
    const its = here.server
    const used = here.inUse
    const mode = modes & 3
    switch (code) {
      case step.REQUESTED:
        return
      case step.WAITING:
        here.conflicts++
        its.conflicts++
        this.#wait(here, life, at, value)
        break
      case step.GRANTED:
        if (flags & HAD_WAITED) this.#stopWaiting(resource, here, life, at)
        here.granted(value)
        its.granted(value)
        its.heldByMode[mode]!++
        if (flags & IS_CONVERTED) this.#converted(here)
        break
      case step.REVOKED:
        here.revocations++
        its.revocations++
        return
      case step.DOWNGRADED:
        this.#converted(here)
        its.heldByMode[mode]!--
        its.heldByMode[modes >> 2]!++
        return
      case step.RELEASED:
      case step.ABSORBED:
        this.#ended(here, mode)
        break
      case step.LOST:
        if (flags & WAS_HELD) this.#ended(here, mode)
        else if (flags & HAD_WAITED) this.#stopWaiting(resource, here, life, at)
        break
      default:
        if (flags & HAD_WAITED) this.#stopWaiting(resource, here, life, at)
    }
    if (used === 0 && here.inUse > 0) its.resources++
    else if (used > 0 && here.inUse === 0) its.resources--
  }

  /** Seconds that ended by `at`, oldest first, each once. */
  take(at: number): readonly LockPeriod[] {
    if (at >= this.#endNs) this.#closeBefore(at + 1)
    const taken = this.#closed.filter((p) => p.toNs <= at)
    this.#closed = this.#closed.slice(taken.length)
    return taken
  }

  /** Convoys that ended by `at`, in order of their ends, each once. */
  takeConvoys(at: number): readonly TracedConvoy[] {
    const taken = this.#convoys.filter((c) => c.toNs <= at)
    this.#convoys = this.#convoys.slice(taken.length)
    return taken
  }

  #open(resource: ResourceId, serverId: ServerId): ResourceTally {
    let server = this.#servers.get(serverId)
    if (server === undefined) this.#servers.set(serverId, (server = new ServerTally()))
    const here = new ResourceTally(server, serverId)
    this.#resources.set(resource, here)
    return here
  }

  #wait(here: ResourceTally, life: number, at: number, requestedNs: number): void {
    here.queue.set(life, requestedNs)
    here.startWaiting()
    here.server.startWaiting()
    if (here.waiting === CONVOY_WAITING) {
      here.startConvoy(at)
      here.server.startConvoy(at)
      here.convoyFromNs = at
      here.convoyWaiting = 0
    }
    here.convoyWaiting = Math.max(here.convoyWaiting, here.waiting)
  }

  #stopWaiting(resource: ResourceId, here: ResourceTally, life: number, at: number): void {
    here.queue.delete(life)
    here.waiting--
    here.server.waiting--
    if (here.waiting !== CONVOY_WAITING - 1) return
    here.endConvoy(at)
    here.server.endConvoy(at)
    const { serverId: server, convoyFromNs: fromNs, convoyWaiting: waiting } = here
    this.#convoys.push({ resource, server, fromNs, toNs: at, waiting })
    if (this.#convoys.length > CONVOYS_MAX) this.#convoys.shift()
  }

  #converted(here: ResourceTally): void {
    here.conversions++
    here.server.conversions++
  }

  #ended(here: ResourceTally, mode: number): void {
    for (const tally of [here, here.server]) {
      tally.cancels++
      tally.held--
    }
    here.server.heldByMode[mode]!--
  }

  /** Closes every second that ended before `at`; of a long silence only the last ones. */
  #closeBefore(at: number): void {
    while (this.#endNs < at) {
      this.#close()
      const silentFrom = Math.ceil(at / NS_PER_S - 1 - SECONDS_MAX) * NS_PER_S
      this.#endNs = Math.max(this.#endNs + NS_PER_S, silentFrom)
    }
  }

  #close(): void {
    const toNs = this.#endNs
    const resources: LockPeriod['resources'][number][] = []
    for (const [resource, here] of this.#resources) {
      const [requestedNs = toNs] = here.queue.values()
      const oldestNs = toNs - requestedNs
      here.server.oldestWaitNs = Math.max(here.server.oldestWaitNs, oldestNs)
      resources.push({ ...here.close(toNs, oldestNs), resource, server: here.serverId })
      if (here.inUse === 0) this.#resources.delete(resource)
    }
    const servers = [...this.#servers].map(([server, its]) => {
      const counts = its.close(toNs, its.oldestWaitNs)
      its.oldestWaitNs = 0
      return { ...counts, server, resources: its.resources, heldByMode: [...its.heldByMode] }
    })
    this.#closed.push({ fromNs: toNs - NS_PER_S, toNs, resources, servers })
    if (this.#closed.length > SECONDS_MAX) this.#closed.shift()
  }
}
