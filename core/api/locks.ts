/**
 * Locks in the contract. Two planes: `seqdlm` shows a lock manager that reports every step (SeqDLM's ccPFS, emulated); `ldlm` shows the
 * counters of Lustre's lock manager, which is all that servers export: no modes, no queues, no resources.
 */
import * as z from 'zod'
import { against, level, ms, notice, streamHead as head } from './parts.ts'

const count = z.number().int().nonnegative()
const numbers = z.array(z.number())
const texts = z.array(z.string())
const gappy = z.array(z.number().nullable())

export const locksPlane = z.enum(['seqdlm', 'ldlm'])
export type LocksPlane = z.infer<typeof locksPlane>
export const lockMode = z.enum(['PR', 'NBW', 'BW', 'PW'])
export const lockManager = z.enum(['seqdlm', 'datatype', 'lustre', 'basic'])
export type LockManagerName = z.infer<typeof lockManager>

export const locksSort = z.enum(['waiting', 'conflicts', 'revocations', 'cancel', 'name'])
export type LocksSort = z.infer<typeof locksSort>

/** Time range of the lanes: its end, Unix ms with fractions, and its length. */
export const lanesRange = z.object({ endMs: ms, spanMs: z.number().min(0.1).max(10_000) })
export type LanesRange = z.infer<typeof lanesRange>

const conditionKind = z.enum(['convoy', 'ping-pong', 'eviction'])
/** Convoy, ping-pong and eviction risk; each kind may also be inactive (`level` ok or idle). */
export const lockCondition = z.object({
  kind: conditionKind,
  level,
  /** Key of the resource; empty for inactive ones. */
  resource: z.string(),
  /** `Convoy on ckpt.h5 / 3, 14 behind 1 PR lock`. */
  text: z.string(),
  /** Duration: `0.031 s`; or the limit it is measured against: `of 100 s`. */
  note: z.string(),
})
export type LockCondition = z.infer<typeof lockCondition>

/**
 * Lock lifetimes that overlap a range, in order of request, as known at its end. Times are ms from the range's start, negative before it;
 * null: not yet.
 */
export const lockLives = z.object({
  /** Unique in the source; references in `behind` use it. */
  id: numbers,
  /** Number of the client node in `clients`. */
  client: numbers,
  asked: numbers,
  granted: gappy,
  /** Time from which the lock server knew that no new operation would use it. */
  canceling: gappy,
  released: gappy,
  /** Time at which the last of its data reached the server; null: nothing was written under it, or not yet. */
  dataAt: gappy,
  mode: z.array(lockMode),
  /** Requested mode; differs after an upgrade. */
  askedMode: z.array(lockMode),
  /** Sequence number; for a PR the one it saw; null before the grant. */
  sn: gappy,
  minSn: gappy,
  /** Inclusive bytes: requested, and granted after expansion; `end` null is the end of the file. */
  start: numbers,
  requiredEnd: gappy,
  end: gappy,
  isEarlyGrant: z.array(z.boolean()),
  isEarlyRevocation: z.array(z.boolean()),
  /** Bytes written under it that are not on the server at the end of the range, and in total. */
  dirtyBytes: numbers,
  bytes: numbers,
  /** Time and resulting mode of a downgrade during cancellation. */
  downgradedAt: gappy,
  downgradedTo: z.array(lockMode.nullable()),
  /** Ids of locks of the same client that it replaced, at most 16. */
  absorbed: z.array(numbers),
  /** Obstacles at the time of the request or later, at most 16: ids of lives, and the step of each that it waited for. */
  behind: z.array(numbers),
  behindUntil: z.array(z.array(z.enum(['canceling', 'release']))),
  /** Rule of Table II (or of the queue) that decided its grant; empty while it waits. */
  rule: texts,
  /** Its end, if it was not released: `evicted`, `withdrawn`, `absorbed`; else empty. */
  ending: texts,
})
export type LockLives = z.infer<typeof lockLives>

/** Messages of one resource in a range, in order of sending; times as in `lockLives`. */
export const lockMessages = z.object({
  sent: numbers,
  /** null: in flight, or lost. */
  arrived: gappy,
  /** Index into `clients`; the server of the resource is the other end. */
  client: numbers,
  /** true: from the client to the server. */
  isUp: z.array(z.boolean()),
  kind: texts,
  /** Related life, null if none. */
  life: gappy,
  /** Message as text: `requests NBW 0 .. 65 535`, `grant #4 127 NBW, early`. */
  text: texts,
})
export type LockMessages = z.infer<typeof lockMessages>

export const locksFrame = z.object({
  ...head,
  windowMs: z.number(),
  /** Planes of this source, and the one shown; null if it has neither. */
  planes: z.array(locksPlane),
  plane: locksPlane.nullable(),
  /** Locks held, granted per second (LGR) and canceled per second (LCR), as in LMT; null: a gap. */
  held: z.number().nullable(),
  grants: z.number().nullable(),
  cancels: z.number().nullable(),
  /** The same over the window. */
  series: z.object({ t: numbers, held: gappy, grants: gappy, cancels: gappy, waiting: gappy }),
  /** Name and settings of the lock manager, as text. */
  manager: z.string(),
  /** Locks by mode: held, granted per second, waiting (seqdlm plane); null: not recorded. Empty for ldlm. */
  modes: z.array(
    z.object({
      mode: lockMode,
      held: z.number().nullable(),
      grants: z.number().nullable(),
      waiting: z.number().nullable(),
    }),
  ),
  /** Set if the filter is invalid; the rows are then unfiltered. */
  filterError: z.object({ column: count, message: z.string() }).optional(),
  known: count,
  shown: count,
  offset: count,
  against,
  /** Resources by contention (seqdlm): one entry per row. */
  rows: z.object({
    key: texts,
    /** `ckpt.h5 / 3`. */
    name: texts,
    server: texts,
    /** Longest queue of the last 15 s; the current queue is usually gone before it is read. */
    waiting: numbers,
    /** Conflicts and revocations per second. */
    conflicts: numbers,
    revocations: numbers,
    /** Mean time from a revocation to the release, ms; null without one. */
    cancelMs: gappy,
    held: numbers,
    level: z.array(level),
    why: texts,
    /** Kind of its worst condition. */
    alarm: z.array(conditionKind.nullable()),
    /** Values at A, if two instants are compared; null: no row there. */
    against: z.object({ waiting: gappy, conflicts: gappy }).optional(),
  }),
  /** Kept convoys of the day of the cursor, newest first: they can be replayed lock by lock. */
  convoys: z.array(
    z.object({
      id: count,
      resource: z.string(),
      server: z.string(),
      fromMs: ms,
      toMs: ms,
      /** Most requests that waited at once. */
      waiting: z.number(),
    }),
  ),
  /** Conditions by kind, the worst of each kind first. */
  alarms: z.array(lockCondition),
  /** The selected resource, or the most contended one; null if there is none. */
  resource: z
    .object({
      key: z.string(),
      name: z.string(),
      server: z.string(),
      /** `16 writers, N-1 strided`. */
      about: z.string(),
      /** Client nodes of the lives and messages, and the job of each; `number` is also the index in this list. */
      clients: z.array(z.object({ number: z.number(), name: z.string(), jobId: z.string() })),
      moment: lanesRange,
      /** True if the range was chosen automatically (the peak of the queue), false if requested. */
      isFound: z.boolean(),
      /** false: that range is no longer in memory. */
      isKept: z.boolean(),
      /** Longest queue, by bin, over the last seconds, for choosing a range. Unix ms. */
      queue: z.object({ t: numbers, waiting: gappy }),
      lives: lockLives,
      /** Lives beyond those sent. */
      moreLives: count,
      messages: lockMessages,
      moreMessages: count,
      /** server: each message has only the time at the server, and messages of data are missing; absent: times of both ends. */
      messageTimes: z.literal('server').optional(),
      /** Early grants, all grants, early revocations and conversions in the second before the sample; null: not recorded. */
      early: z.object({ grants: count, all: count, revocations: count, conversions: count }).nullable(),
      /** Recorded counters over the window; absent: read from the lock manager itself. */
      past: z
        .object({ t: numbers, waiting: gappy, conflicts: gappy, revocations: gappy, waitMean: gappy, waitP95: gappy })
        .optional(),
    })
    .nullable(),
  /** Namespaces of Lustre servers (ldlm): one entry per row. Counts; null if the server does not export it. */
  ldlm: z
    .object({
      namespace: texts,
      target: texts,
      node: texts,
      locks: gappy,
      unused: gappy,
      resources: gappy,
      granted: gappy,
      /** Locks per second, as reported by the server's pool. */
      grantRate: gappy,
      cancelRate: gappy,
      limit: gappy,
      timeouts: gappy,
      contentions: gappy,
      level: z.array(level),
      why: texts,
      spark: z.array(gappy),
      /** The selected namespace, and its counters over the window. */
      selected: z.string(),
      series: z.object({ t: numbers, locks: gappy, grantRate: gappy, cancelRate: gappy, limit: gappy }),
      /** Servers whose counters are not read, and why. */
      missing: z.array(z.object({ node: z.string(), reason: z.string() })),
    })
    .nullable(),
  notices: z.array(notice),
})
export type LocksFrame = z.infer<typeof locksFrame>

/** The same pattern under other lock managers: a run of the model, not of a cluster. */
export const locksCompare = z.object({
  seconds: z.number(),
  seed: z.number(),
  results: z.array(
    z.object({
      manager: lockManager,
      name: z.string(),
      /** Bytes per second written and read, as seen by the application; null if there was none, or the run failed. */
      writeBps: z.number().nullable(),
      readBps: z.number().nullable(),
      /** The same per file, in the order of the scenario, since patterns are not comparable. */
      files: z.array(z.object({ file: z.string(), writeBps: z.number().nullable(), readBps: z.number().nullable() })),
      /** Longest wait for a lock, ms. */
      longestWaitMs: z.number().nullable(),
    }),
  ),
})
export type LocksCompare = z.infer<typeof locksCompare>
