/**
 * Trace of a running lock manager, for display: lives of locks, messages, queues, counters.
 *
 * Times are integer ns of the simulation. Memory is bounded: the oldest lives and messages are dropped first, and
 * `keptSince` is the start of complete data.
 */
import type { Failure } from '../../base/result.ts'
import type { ClientId, Message, ResourceId, ServerId } from '../messages.ts'
import type { LockEvent } from '../lock-events.ts'
import type { LockMode } from '../modes.ts'
import type { LockRange } from '../ranges.ts'

/**
 * Obstacle of a life: it has to wait until another one is CANCELING, or released.
 *
 * For a current obstacle it is a forecast: a BW or PW is assumed to become NBW when it is canceled, if the lock manager
 * downgrades; a PR that waits for a PW shows `release`, although a PW held by readers only becomes PR and may be passed
 * earlier; one that is CANCELING and still an obstacle shows `release`, although a downgrade may let NBW and BW pass
 * earlier.
 */
export interface Obstacle {
  readonly life: number
  readonly until: 'canceling' | 'release'
}

/** One lock from its request to its end. */
export interface LockLife {
  /** Unique in a trace, ascending in order of requests. */
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
  /** Lives that it replaced. */
  readonly absorbed: readonly number[]
  /**
   * Obstacles at its request or later: at most 64, current ones first. A lock of its own client that it cannot merge
   * with is included (A18).
   */
  readonly behind: readonly Obstacle[]
  /** Explanation of the grant; empty while it waits. */
  readonly rule: string
  /**
   * Data of its SN that arrived at the server (not: is on its device): bytes, and the time of its last flush's arrival.
   */
  readonly bytes: number
  readonly dataNs: number | undefined
  /** Bytes of its SN written by the application so far; at least `bytes`. */
  readonly writtenBytes: number
}

export interface TracedMessage {
  readonly resource: ResourceId
  readonly client: ClientId
  readonly server: ServerId
  /** True for a message from the client to the server. */
  readonly isUp: boolean
  readonly sentNs: number
  readonly arrivedNs: number | undefined
  readonly kind: Message['kind']
  readonly life: number | undefined
  readonly text: string
}

/** Counts of one resource over a time range. */
export interface ResourceCounts {
  readonly resource: ResourceId
  /** Waiting requests and held locks at the end of the range. */
  readonly waiting: number
  readonly held: number
  /** Counts in the range: requests with obstacles, revocations sent, grants, releases. */
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
  /** Number of write grants to another client than the one before. */
  readonly ownerChanges: number
}

export interface ModeCounts {
  readonly mode: LockMode
  readonly held: number
  readonly waiting: number
  readonly grants: number
}

/** Counts of a resource or a server in one period. Waits are those of its grants, from request to grant. */
export interface LockPeriodCounts {
  /** Requests that met a conflicting lock. */
  readonly conflicts: number
  readonly revocations: number
  readonly grants: number
  /** Upgrades and downgrades. */
  readonly conversions: number
  /** Locks that ended. */
  readonly cancels: number
  /** Locks held at its end. */
  readonly held: number
  /** Most requests that waited at once. */
  readonly mostWaiting: number
  /** Undefined without a grant. */
  readonly waitMeanNs: number | undefined
  /** Nearest rank. */
  readonly waitP95Ns: number | undefined
  /** Includes the requests that wait at its end. */
  readonly waitLongestNs: number | undefined
  /** Time with a convoy: for a server, on any of its resources. */
  readonly convoyNs: number
}

/** One second of a lock manager; it excludes its beginning and includes its end. */
export interface LockPeriod {
  readonly fromNs: number
  readonly toNs: number
  /** Resources with a lock, a request or an event in it. */
  readonly resources: readonly (LockPeriodCounts & { readonly resource: ResourceId; readonly server: ServerId })[]
  readonly servers: readonly (LockPeriodCounts & {
    readonly server: ServerId
    /** Resources with a lock or a waiting request at its end. */
    readonly resources: number
    /** Locks held at its end, in the order of `LOCK_MODES`. */
    readonly heldByMode: readonly number[]
  })[]
}

/** Convoy that has ended: from the first time at which four requests waited until fewer did. */
export interface TracedConvoy {
  readonly resource: ResourceId
  readonly server: ServerId
  readonly fromNs: number
  readonly toNs: number
  /** Most requests that waited at once. */
  readonly waiting: number
}

/** Write side: fed by servers (`observe`) and by message transports. */
export interface TraceFeed {
  readonly observe: (server: ServerId, event: LockEvent) => void
  /** A message is sent; its number is passed again when it arrives. */
  readonly sent: (at: number, server: ServerId, client: ClientId, isUp: boolean, message: Message) => number
  readonly arrived: (message: number, at: number) => void
  /** An application wrote bytes under a lock; default time: the latest event's. */
  readonly wrote: (resource: ResourceId, sn: number, bytes: number, at?: number) => void
}

/**
 * Read side. `at` is inclusive; later events are not visible (time travel). A range of `spanNs` before it excludes its
 * own beginning: consecutive ranges count everything once.
 */
export interface TraceReader {
  /** Requests that wait for one resource from which on they are a convoy. */
  readonly convoyWaiting: number
  /** Start of complete data, ns. */
  readonly keptSince: number
  /** Start of the known counts and queues, ns: longer ago than that of lives and messages. */
  readonly countedSince: number
  /** Most contended first: by waiting, then conflicts, then name. */
  resources(at: number, spanNs: number): readonly ResourceCounts[]
  modes(at: number, spanNs: number): readonly ModeCounts[]
  /**
   * Longest queue of each resource over a range, for those with a queue. It begins with a whole bucket of 250 ms, so
   * that it is cheap for many resources.
   */
  longest(at: number, spanNs: number): ReadonlyMap<ResourceId, number>
  /**
   * Lives that touch [from, to], in order of requests, as known at `to`; at most `most`, the newest, and the number of
   * the rest.
   */
  lives(
    resource: ResourceId,
    from: number,
    to: number,
    most: number,
  ): { readonly lives: readonly LockLife[]; readonly more: number }
  /** Messages sent in [from, to], in order; at most `most`, the newest, and the number of the rest. */
  messages(
    resource: ResourceId,
    from: number,
    to: number,
    most: number,
  ): { readonly messages: readonly TracedMessage[]; readonly more: number }
  /** Longest queue of each of `bins` equal bins of [from, to]; NaN if no longer known. */
  queue(resource: ResourceId, from: number, to: number, bins: number): Float64Array
  /**
   * End of the range of `spanNs` before `at` with the most waiting requests (the newest of equals), looking back
   * `backNs`.
   */
  busiest(resource: ResourceId, at: number, spanNs: number, backNs: number): number | undefined
  /** Resources with requests in the range of `spanNs` before `at`. */
  waits(at: number, spanNs: number): readonly ResourceWaits[]
  /**
   * First request to each server since its lock service last processed a message: its resource and send time, ns. As of
   * the newest event; a request in transit is one, too.
   */
  unprocessed(): readonly { readonly resource: ResourceId; readonly sentNs: number }[]
  /** `sinceNs` is a time, not a duration; of each kind the most urgent one first. */
  conditions(at: number): readonly TracedCondition[]
  /** Seconds that ended by `at`, oldest first, each once; at most the last 60. `at` must not be later than the events. */
  takePeriods(at: number): readonly LockPeriod[]
  /** Convoys that ended by `at`, in order of their ends, each once; at most the last 1,000. */
  takeConvoys(at: number): readonly TracedConvoy[]
}

/** Waits of the requests of one resource over a range, those without obstacles included. */
export interface ResourceWaits {
  readonly resource: ResourceId
  /** Requests granted in the range, or still waiting at its end. */
  readonly requests: number
  /** 95th percentile by nearest rank, ns; waits that have not ended count with their age. */
  readonly p95Ns: number
}

/** Contention of a resource, or the oldest revocation, whose client may be evicted. */
export type TracedCondition =
  /**
   * Many requests behind one lock: waiting requests, time since when the queue is not empty, mode that the first of
   * them waits for.
   */
  | {
      readonly kind: 'convoy'
      readonly resource: ResourceId
      readonly waiting: number
      readonly sinceNs: number
      readonly behindMode: LockMode
    }
  /** The owner changes repeatedly, and each new owner had to wait: changes per second, since when. */
  | { readonly kind: 'ping-pong'; readonly resource: ResourceId; readonly perSecond: number; readonly sinceNs: number }
  /**
   * The oldest revocation of a lock that was not released, answered or not: its age, and the time after which a client
   * is evicted.
   */
  | {
      readonly kind: 'eviction'
      readonly resource: ResourceId
      readonly client: ClientId
      readonly ageNs: number
      readonly timeoutNs: number
    }

/** State of reading a trace from servers. */
export interface LockReading {
  /** End of the events of all servers that answer, ns; later events have not been read. */
  readonly seenNs: number
  /** True while no server answers. */
  readonly isSilent: boolean
  /** False if events of a range were lost, or their times are not known. */
  isComplete(fromNs: number, toNs: number): boolean
  /** Faults that change the meaning of the figures at a time: servers that do not answer, lost events. */
  notices(atNs: number): readonly Failure[]
}

/** All data of one ccPFS for the console. */
export interface LockWorld {
  readonly trace: TraceReader
  /** State of reading the servers of a ccPFS that runs elsewhere; undefined: the trace is complete up to now. */
  readonly reading?: LockReading | undefined
  /** server: a message has one time, at which the server received or sent it; data messages are unknown. Default: both ends. */
  readonly messageTimes?: 'server' | undefined
  /** `SeqDLM`, and its options. */
  readonly manager: string
  readonly managerName: string
  /** Name of a resource, its server, its users; undefined for an invalid number. */
  describe(resource: ResourceId):
    | {
        readonly name: string
        readonly server: string
        readonly about: string
        /** The name of its file may be read later. */
        readonly isProvisional?: boolean
      }
    | undefined
  find(name: string): ResourceId | undefined
  client(client: ClientId): { readonly name: string; readonly jobId: string }
}
