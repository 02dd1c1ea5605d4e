/**
 * History and time travel: stored samples of a cluster, and queries over them. Times are Unix ms on the source's clock; days are UTC
 * days.
 */
import * as z from 'zod'
import { PLANE_TABLES, planeTable, type Plane, type PlaneTable, type PlaneTableId } from '../series/plane-tables.ts'
import { level, ms, streamHead as head } from './parts.ts'

const count = z.number().int().nonnegative()
const numbers = z.array(z.number())
const texts = z.array(z.string())
/** null: not measured; a gap is never a zero. */
const gappy = z.array(z.number().nullable())

/** Resolutions of stored samples, finest first: as taken, then means of 1 s, 10 s, 1 min. */
export const TIERS = ['raw', '1s', '10s', '1min'] as const
export const tierId = z.enum(TIERS)
export type TierId = z.infer<typeof tierId>

/** Measures that can be charted over a day. */
export const clusterMeasure = z.enum(['rpcs', 'readBps', 'writeBps', 'serviceMs', 'queued'])
export type ClusterMeasure = z.infer<typeof clusterMeasure>

/** Measure of a plane: a column of one of its tables, over all series. */
export interface PlaneMeasure {
  readonly id: `${PlaneTableId}.${string}`
  readonly table: PlaneTableId
  readonly plane: Plane
  readonly column: string
  readonly title: string
  /** Empty for a count or a share. */
  readonly unit: string
  readonly about: string
}
export const PLANE_MEASURES: readonly PlaneMeasure[] = PLANE_TABLES.flatMap(
  (table: PlaneTable & { id: PlaneTableId }) =>
    table.columns.flatMap(({ name, title, unit, about }): PlaneMeasure[] => {
      if (!table.measures.includes(name)) return []
      const { id, plane } = table
      return [{ id: `${id}.${name}`, table: id, plane, column: name, title: `${table.title}: ${title}`, unit, about }]
    }),
)
const BY_ID: ReadonlyMap<unknown, PlaneMeasure> = new Map(PLANE_MEASURES.map((m) => [m.id, m]))
/** undefined: a measure of the cluster. */
export const planeMeasure = (id: HistoryMeasure): PlaneMeasure | undefined => BY_ID.get(id)
/** Measures that can be charted over a day: those of the cluster, and those of planes. */
export const historyMeasure = z.union([clusterMeasure, z.custom<PlaneMeasure['id']>((v) => BY_ID.has(v))])
export type HistoryMeasure = z.infer<typeof historyMeasure>

export const groupBy = z.enum(['job', 'user', 'account', 'exe'])
export type GroupBy = z.infer<typeof groupBy>

/** Tables whose series can be movers. */
export const MOVER_TABLES = [
  'lock_resources',
  'metadata_channels',
  'metadata_jobs',
  'token_clients',
] as const satisfies readonly PlaneTableId[]
export type MoverTable = (typeof MOVER_TABLES)[number]
export const moversBy = z.enum([...groupBy.options, ...MOVER_TABLES])
export type MoversBy = z.infer<typeof moversBy>
/** Table of a choice of movers; undefined: jobs or groups of them. */
export const moverTable = (by: MoversBy): (PlaneTable & { readonly id: MoverTable }) | undefined => {
  const id = MOVER_TABLES.find((table) => table === by)
  return id && { ...planeTable(id), id }
}

/** [fromMs, toMs), not empty. */
export const span = z.object({ fromMs: ms, toMs: ms }).refine((s) => s.toMs > s.fromMs, 'an end after its beginning')
export type Span = z.infer<typeof span>

/** Event kinds. `alarm` is an alert, or, with the subject Locks, a lock condition. */
export const markKind = z.enum(['start', 'stop', 'change', 'controller', 'job', 'lost', 'mode', 'alarm', 'note'])
/** Kinds of events of operators: changes of rules, modes and probes, and notes. Other kinds may occur many times a minute. */
export const OPERATOR_KINDS = ['start', 'stop', 'change', 'mode', 'note'] as const satisfies readonly z.infer<
  typeof markKind
>[]
export const mark = z.object({
  atMs: ms,
  kind: markKind,
  level,
  /** Short noun for the second column of the feed: Rule, AdapTBF, Job, Source, Mode. */
  subject: z.string(),
  text: z.string(),
  /** Target or node; may be empty. */
  where: z.string(),
})
export type Mark = z.infer<typeof mark>

/** Set while a view shows recorded data in place of the cluster or the emulator, which continues in the background. */
export const playback = z.object({
  /** Name of the recording or the bundle; null for the local store. */
  file: z.string().nullable(),
  /** Metadata of a bundle, and the result of its verification. */
  bundle: z
    .object({
      title: z.string(),
      env: z.enum(['PROD', 'STAGE', 'DEV', 'DEMO']),
      redacted: z.boolean(),
      verified: z.boolean(),
    })
    .optional(),
  tier: tierId,
  /** Range that can be stepped through without reopening. */
  fromMs: ms,
  toMs: ms,
})
export type Playback = z.infer<typeof playback>

/** Values of one measure over a range, drawn over those of another by the offset from its start. */
const overlay = z.object({ offsetMs: numbers, values: gappy })

export const historyQuery = z.object({
  /** Start of the day shown; null: the day of the newest sample. */
  dayMs: ms.nullable().default(null),
  measure: historyMeasure.default('serviceMs'),
  /** Part of that day at a finer resolution; null: all of it. The frame's day is always the whole day. */
  zoom: span.nullable().default(null),
  a: span.nullable().default(null),
  b: span.nullable().default(null),
  by: moversBy.default('job'),
  /** Rows of the movers table. */
  limit: z.number().int().min(1).max(200).default(12),
  /** End of the operator's last visit; null if unknown. */
  leftMs: ms.nullable().default(null),
})
export type HistoryQuery = z.infer<typeof historyQuery>

export const historyFrame = z.object({
  ...head,
  cluster: z.string(),
  /** Total range stored; null while there is nothing. */
  kept: z.object({ fromMs: ms, toMs: ms }).nullable(),
  measure: historyMeasure,
  /** Planes with rows. */
  planes: z.array(z.enum(['locks', 'metadata', 'tokens'])),
  day: z.object({
    fromMs: ms,
    toMs: ms,
    tier: tierId,
    /** Times of at most 1,200 points, of the day or the zoomed part. */
    t: numbers,
    values: gappy,
    marks: z.array(mark),
    /** Ranges without samples, and the cause if known. */
    gaps: z.array(z.object({ fromMs: ms, toMs: ms, why: z.string() })),
    /** Level from which a value is well above normal on this cluster; null if too little is known. */
    watch: z.number().nullable(),
  }),
  /** Seven days up to that day, oldest first, 96 quarter hours each. */
  week: z.array(z.object({ fromMs: ms, values: gappy })),
  a: span.nullable(),
  b: span.nullable(),
  /** Means of the largest changes between A and B, largest first: RPC/s, or the main column of a table; empty without both. */
  movers: z.object({
    by: moversBy,
    unit: z.string(),
    name: texts,
    /** Place and job of a series of a plane; empty for jobs and groups of them. */
    place: texts,
    jobId: texts,
    user: texts,
    account: texts,
    colour: numbers,
    a: numbers,
    b: numbers,
    /** Number of further names, and their sums in A and B. */
    rest: z.object({ names: count, a: z.number(), b: z.number() }),
  }),
  overlay: z.object({ a: overlay, b: overlay }).nullable(),
  /** Events since the operator's last visit, oldest first, at most 50; null if that is unknown. */
  since: z.object({ leftMs: ms, marks: z.array(mark), more: count }).nullable(),
  store: z.object({
    file: z.string(),
    bytes: count,
    quotaBytes: count,
    /** Free space on the disk of the file; null if unknown. */
    freeBytes: count.nullable(),
    tiers: z.array(
      z.object({
        id: tierId,
        keepMs: z.number(),
        /** Bounds of the settings. */
        leastMs: z.number(),
        mostMs: z.number(),
        oldestMs: ms.nullable(),
        samples: count,
        bytes: count,
      }),
    ),
    /** Events, rules, decisions, ledgers, locks. */
    otherBytes: count,
    /** Deleted ranges and reasons, newest first. `quota` and `disk`: deleted before retention ended. */
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
      /** Reason why it cannot be opened; empty if it can. */
      fault: z.string(),
      /** Verification is running; the result is unknown yet. */
      isChecking: z.boolean(),
    }),
  ),
})
export type HistoryFrame = z.infer<typeof historyFrame>

/** Tables of locks, metadata and tokens that can be exported, in the order of their registry. */
export const planeExports = PLANE_TABLES.map(({ id, title, most }) => ({
  id,
  title,
  note: `at most ${most} rows a second, and one of the others`,
}))

/** Content of a CSV export. */
export const csvQuery = z.object({
  fromMs: ms,
  toMs: ms,
  what: z.enum([
    'jobs',
    'targets',
    'cluster',
    'events',
    'rules',
    'disk',
    'timeouts',
    ...PLANE_TABLES.map(({ id }) => id),
  ]),
  /** null: the finest with data that far back. */
  tier: tierId.nullable().default(null),
  by: groupBy.default('job'),
})
export type CsvQuery = z.infer<typeof csvQuery>

/** Parts of a CSV, in order. */
export const csvPart = z.object({
  text: z.string(),
  rows: count,
  isLast: z.boolean(),
  /** Fraction of the range written, 0..1; absent if unknown. */
  done: z.number().min(0).max(1).optional(),
})
