/**
 * History and time travel: what is kept of a cluster's past, and the verbs that move through it. Times are Unix ms on the
 * source's clock; days are days of UTC.
 */
import * as z from 'zod'
import { level, ms, streamHead as head } from './parts.ts'

const count = z.number().int().nonnegative()
const numbers = z.array(z.number())
const texts = z.array(z.string())
/** null where nothing was measured: a gap is never a zero. */
const gappy = z.array(z.number().nullable())

/** Resolutions in which samples are kept, finest first: as taken, then means of a second, of ten, of a minute. */
export const TIERS = ['raw', '1s', '10s', '1min'] as const
export const tierId = z.enum(TIERS)
export type TierId = z.infer<typeof tierId>

/** What a day is drawn by. */
export const clusterMeasure = z.enum(['rpcs', 'readBps', 'writeBps', 'serviceMs', 'queued'])
export type ClusterMeasure = z.infer<typeof clusterMeasure>

export const groupBy = z.enum(['job', 'user', 'account', 'exe'])
export type GroupBy = z.infer<typeof groupBy>

/** [fromMs, toMs), not empty. */
export const span = z.object({ fromMs: ms, toMs: ms }).refine((s) => s.toMs > s.fromMs, 'an end after its beginning')
export type Span = z.infer<typeof span>

/** Event kinds. A storm of locks is an alarm with the subject Locks. */
export const markKind = z.enum(['start', 'stop', 'change', 'controller', 'job', 'lost', 'mode', 'alarm', 'note'])
export const mark = z.object({
  atMs: ms,
  kind: markKind,
  level,
  /** Short noun for the second column of the feed: Rule, AdapTBF, Job, Source, Mode. */
  subject: z.string(),
  text: z.string(),
  /** Where: a target, a node, or empty. */
  where: z.string(),
})
export type Mark = z.infer<typeof mark>

/** Set while a view shows what was recorded, in the place of the cluster or the emulator, which goes on behind it. */
export const playback = z.object({
  /** Name of the recording or the bundle; null for the local store. */
  file: z.string().nullable(),
  /** Of a bundle: what it says of itself, and whether it is as it was written. */
  bundle: z
    .object({
      title: z.string(),
      env: z.enum(['PROD', 'STAGE', 'DEV', 'DEMO']),
      redacted: z.boolean(),
      verified: z.boolean(),
    })
    .optional(),
  tier: tierId,
  /** What can be stepped through without another opening. */
  fromMs: ms,
  toMs: ms,
})
export type Playback = z.infer<typeof playback>

/** Values of one measure over a span, drawn over those of another by the distance from its beginning. */
const overlay = z.object({ offsetMs: numbers, values: gappy })

export const historyQuery = z.object({
  /** First instant of the day drawn; null: the day of the newest sample. */
  dayMs: ms.nullable().default(null),
  measure: clusterMeasure.default('serviceMs'),
  /** What of that day is read as a line, so finer; null: all of it. The frame's day stays the whole one. */
  zoom: span.nullable().default(null),
  a: span.nullable().default(null),
  b: span.nullable().default(null),
  by: groupBy.default('job'),
  /** Rows of who moved. */
  limit: z.number().int().min(1).max(200).default(12),
  /** When the operator was last here; null: not known. */
  leftMs: ms.nullable().default(null),
})
export type HistoryQuery = z.infer<typeof historyQuery>

export const historyFrame = z.object({
  ...head,
  cluster: z.string(),
  /** What is kept in all; null while there is nothing. */
  kept: z.object({ fromMs: ms, toMs: ms }).nullable(),
  measure: clusterMeasure,
  day: z.object({
    fromMs: ms,
    toMs: ms,
    tier: tierId,
    /** At most 1,200 points, of the day or of what was zoomed into. */
    t: numbers,
    values: gappy,
    marks: z.array(mark),
    /** Stretches without samples, and why as far as known. */
    gaps: z.array(z.object({ fromMs: ms, toMs: ms, why: z.string() })),
    /** From here on a value is well above what is usual on this cluster; null: too little is known. */
    watch: z.number().nullable(),
  }),
  /** Seven days up to that day, oldest first, 96 quarter hours each. */
  week: z.array(z.object({ fromMs: ms, values: gappy })),
  a: span.nullable(),
  b: span.nullable(),
  /** Mean RPC/s of who changed most between A and B, largest change first; empty without both. */
  movers: z.object({
    by: groupBy,
    name: texts,
    user: texts,
    account: texts,
    colour: numbers,
    a: numbers,
    b: numbers,
    /** RPC/s in A and B of those beyond the limit. */
    rest: z.object({ names: count, a: z.number(), b: z.number() }),
  }),
  overlay: z.object({ a: overlay, b: overlay }).nullable(),
  /** What happened since the operator left, oldest first, at most 50; null when that is not known. */
  since: z.object({ leftMs: ms, marks: z.array(mark), more: count }).nullable(),
  store: z.object({
    file: z.string(),
    bytes: count,
    quotaBytes: count,
    /** Free on the disk of the file; null when it cannot be told. */
    freeBytes: count.nullable(),
    tiers: z.array(
      z.object({
        id: tierId,
        keepMs: z.number(),
        /** Limits of what may be chosen. */
        leastMs: z.number(),
        mostMs: z.number(),
        oldestMs: ms.nullable(),
        samples: count,
        bytes: count,
      }),
    ),
    /** Events, rules, decisions, ledgers, locks. */
    otherBytes: count,
    /** What was taken out and why, newest first. `quota` and `disk` came before its time. */
    evictions: z.array(
      z.object({
        atMs: ms,
        tier: tierId,
        fromMs: ms,
        toMs: ms,
        samples: count,
        reason: z.enum(['retention', 'quota', 'disk']),
      }),
    ),
  }),
  recordings: z.array(
    z.object({
      name: z.string(),
      cluster: z.string(),
      fromMs: ms,
      toMs: ms,
      bytes: count,
      /** Why it cannot be opened; empty for one that can. */
      fault: z.string(),
      /** It is being read through: whether it can be opened is not known yet. */
      isChecking: z.boolean(),
    }),
  ),
})
export type HistoryFrame = z.infer<typeof historyFrame>

/** What is written as CSV. */
export const csvQuery = z.object({
  fromMs: ms,
  toMs: ms,
  what: z.enum(['jobs', 'targets', 'cluster', 'events', 'rules', 'disk', 'timeouts']),
  /** null: the finest that reaches back so far. */
  tier: tierId.nullable().default(null),
  by: groupBy.default('job'),
})
export type CsvQuery = z.infer<typeof csvQuery>

/** Parts of a CSV, in order. */
export const csvPart = z.object({
  ...{ text: z.string(), rows: count, isLast: z.boolean() },
  /** Part of the stretch that is written, 0..1; absent where that cannot be told. */
  done: z.number().min(0).max(1).optional(),
})
