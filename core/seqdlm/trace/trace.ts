/**
 * What is remembered of a lock manager at work, for whoever looks at it: lives of locks, messages, queues, counters.
 *
 * Times are integer ns of the simulation. Memory is bounded: the oldest lives and messages are forgotten first, and
 * `keptSince` says from when on nothing is missing.
 */
import type { ClientId, Message, ResourceId, ServerId } from '../messages.ts'
import type { LockEvent } from '../lock-events.ts'
import type { LockMode } from '../modes.ts'
import type { LockRange } from '../ranges.ts'

/**
 * Why one life waits for another: it cannot go on before that one is CANCELING, or before it is released.
 *
 * Of one that is still in the way it is what is to be expected: a BW or PW is taken to become NBW when it is cancelled, if the
 * lock manager downgrades; a PR that waits for a PW is told `release`, though a PW held by readers only becomes PR and may be
 * passed before; one that is CANCELING and still in the way is told as `release`, though a downgrade may let NBW and BW pass
 * before.
 */
export interface Obstacle {
  readonly life: number
  readonly until: 'canceling' | 'release'
}

/** One lock from its request to its end. */
export interface LockLife {
  /** Unique in a trace, ascending in order of asking. */
  readonly id: number
  readonly resource: ResourceId
  readonly client: ClientId
  readonly reqId: number
  readonly askedNs: number
  readonly askedMode: LockMode
  readonly required: LockRange
  readonly lockId: number | undefined
  readonly grantedNs: number | undefined
  readonly mode: LockMode
  readonly range: LockRange
  readonly sn: number | undefined
  readonly minSn: number | undefined
  readonly isEarlyGrant: boolean
  readonly isEarlyRevocation: boolean
  readonly revokedNs: number | undefined
  readonly cancelingNs: number | undefined
  readonly downgradedNs: number | undefined
  readonly downgradedTo: LockMode | undefined
  readonly endedNs: number | undefined
  readonly ending: 'released' | 'evicted' | 'withdrawn' | 'absorbed' | undefined
  /** Lives that it took the place of. */
  readonly absorbed: readonly number[]
  /**
   * What stood in its way when it was asked for or came into it since: at most 64, those still in the way first. A lock of its
   * own client that it cannot merge with is among them (A18).
   */
  readonly behind: readonly Obstacle[]
  /** The rule that decided the grant, in words; empty while it waits. */
  readonly rule: string
  /** Data of its SN that arrived at the server (not: is on its device): bytes, and when the last flush of it did. */
  readonly bytes: number
  readonly dataNs: number | undefined
  /** Bytes of its SN written by the application so far; at least `bytes`. */
  readonly writtenBytes: number
}

export interface TracedMessage {
  readonly resource: ResourceId
  readonly client: ClientId
  readonly server: ServerId
  /** From the client to the server. */
  readonly isUp: boolean
  readonly sentNs: number
  readonly arrivedNs: number | undefined
  readonly kind: Message['kind']
  readonly life: number | undefined
  readonly text: string
}

/** Counts of one resource over a stretch of time. */
export interface ResourceCounts {
  readonly resource: ResourceId
  /** At the end of the stretch. */
  readonly waiting: number
  readonly held: number
  /** Requests that found something in their way, revocations sent, grants, releases: in the stretch. */
  readonly conflicts: number
  readonly revocations: number
  readonly asked: number
  readonly grants: number
  readonly earlyGrants: number
  readonly earlyRevocations: number
  readonly conversions: number
  readonly releases: number
  /** Mean time from a revocation to the release, ns; undefined without one. */
  readonly cancelNs: number | undefined
  /** Times that the client which is granted a write lock is another than the one before. */
  readonly ownerChanges: number
}

export interface ModeCounts {
  readonly mode: LockMode
  readonly held: number
  readonly waiting: number
  readonly grants: number
}

/** Write side: fed by servers (`observe`) and by whoever carries messages. */
export interface TraceFeed {
  readonly observe: (server: ServerId, event: LockEvent) => void
  /** A message leaves; the number is named again when it arrives. */
  readonly sent: (at: number, server: ServerId, client: ClientId, isUp: boolean, message: Message) => number
  readonly arrived: (message: number, at: number) => void
  /** An application wrote bytes under a lock; at the latest instant told so far unless one is given. */
  readonly wrote: (resource: ResourceId, sn: number, bytes: number, at?: number) => void
}

/**
 * Read side. `at` is inclusive; nothing later than it is told (time travel). A stretch of `spanNs` before it does not have its
 * own beginning: stretches that follow one another count everything once.
 */
export interface TraceReader {
  /** From here on nothing has been forgotten, ns. */
  readonly keptSince: number
  /** Counts and queues are known from here on, ns: longer than lives and messages. */
  readonly countedSince: number
  /** Most contended first: by waiting, then conflicts, then name. */
  resources(at: number, spanNs: number): readonly ResourceCounts[]
  modes(at: number, spanNs: number): readonly ModeCounts[]
  /**
   * Longest queue of each resource over a stretch, of those that had one. It begins with a whole bucket of 250 ms, so that it
   * is cheap for many resources.
   */
  longest(at: number, spanNs: number): ReadonlyMap<ResourceId, number>
  /** Lives that touch [from, to], in order of asking, as they were known at `to`; at most `most`, the newest, and how many more. */
  lives(
    resource: ResourceId,
    from: number,
    to: number,
    most: number,
  ): { readonly lives: readonly LockLife[]; readonly more: number }
  /** Messages sent in [from, to], in order; at most `most`, the newest, and how many more. */
  messages(
    resource: ResourceId,
    from: number,
    to: number,
    most: number,
  ): { readonly messages: readonly TracedMessage[]; readonly more: number }
  /** Longest queue of each of `bins` equal bins of [from, to]; NaN where it is no longer known. */
  queue(resource: ResourceId, from: number, to: number, bins: number): Float64Array
  /** End of the stretch of `spanNs` before `at` in which most waited (the newest of equals), looking back `backNs`. */
  busiest(resource: ResourceId, at: number, spanNs: number, backNs: number): number | undefined
  /** Instants, not lengths of time, in `sinceNs`; of each kind the one to look at first comes first. */
  alarms(at: number): readonly TraceAlarm[]
}

export type TraceAlarm =
  /** Many behind one: requests that wait, for how long the queue has not been empty, what the first of them waits for. */
  | {
      readonly kind: 'convoy'
      readonly resource: ResourceId
      readonly waiting: number
      readonly sinceNs: number
      readonly behindMode: LockMode
    }
  /** The owner changes again and again, and who gets it had to wait for it: changes a second, since when. */
  | { readonly kind: 'ping-pong'; readonly resource: ResourceId; readonly perSecond: number; readonly sinceNs: number }
  /** The oldest revocation whose lock has not come back, answered or not: its age, and the time after which a client is evicted. */
  | {
      readonly kind: 'eviction'
      readonly resource: ResourceId
      readonly client: ClientId
      readonly ageNs: number
      readonly timeoutNs: number
    }

/** Everything that is known of one ccPFS, as the console sees it. */
export interface LockWorld {
  readonly trace: TraceReader
  /** `SeqDLM`, and how it is set. */
  readonly manager: string
  /** Name of a resource, its server, what uses it; undefined for a number that is none. */
  describe(resource: ResourceId): { readonly name: string; readonly server: string; readonly about: string } | undefined
  find(name: string): ResourceId | undefined
  client(client: ClientId): { readonly name: string; readonly jobId: string }
}
