/**
 * Data replayed by README.html: values at up to 600 times, rules, events; embedded in the page as JSON. Values are rounded to
 * display precision, names are display names (odd ones escaped); times are Unix ms on the source's clock, null is a gap.
 */
import * as z from 'zod'
import { COLORS } from '../base/categorical-color.ts'

export const REPLAY_FORMAT = 1
/** Limits of a page, which a browser on any machine must open. */
export const INSTANTS_MOST = 600
export const JOBS_MOST = 40
export const TARGETS_MOST = 512
export const RULES_MOST = 400
export const STATES_MOST = 4_000
export const EVENTS_MOST = 500
/** Series of a table of locks, metadata or tokens; the others are one row. */
export const SERIES_MOST = 16
export const CONVOYS_MOST = 20
/** Lock lifetimes and messages of a convoy. */
export const LIVES_MOST = 200
export const MESSAGES_MOST = 500

const ms = z.number()
const count = z.number().int().nonnegative()
const name = z.string().max(1_024)
const long = z.string().max(16_384)

/** One value per time; a single value if all are equal. */
export const column = z.union([z.array(z.number().nullable()).max(INSTANTS_MOST), z.number().nullable()])
export type Column = z.infer<typeof column>

/** Measures of the whole source: rates per second; service time ms; queued RPCs; active rules; tokens on loan. */
export const CLUSTER_MEASURES = [
  ...(['rpcs', 'readBps', 'writeBps', 'serviceMs', 'queued', 'rules', 'onLoan', 'mdops'] as const),
] as const
/** Measures of a job: rates per second, share of the time at its limit (0 to 1), record in tokens. */
export const JOB_MEASURES = ['rpcs', 'readBps', 'writeBps', 'mdops', 'throttled', 'record'] as const
export const TARGET_MEASURES = ['rpcs', 'serviceMs', 'queued'] as const
export type ClusterMeasureName = (typeof CLUSTER_MEASURES)[number]
export type JobMeasureName = (typeof JOB_MEASURES)[number]
export type TargetMeasureName = (typeof TARGET_MEASURES)[number]

const columns = <M extends string>(measures: readonly M[]): z.ZodObject<Record<M, typeof column>> =>
  z.object(Object.fromEntries(measures.map((m) => [m, column])) as Record<M, typeof column>)

const gappy = z.array(z.number().nullable())

/** Table of locks, metadata or tokens, with its own titles and units: the page has no other description of it. */
const planeTable = z.object({
  id: z.string().max(64),
  plane: z.enum(['locks', 'metadata', 'tokens']),
  title: name,
  /** Meaning of a series' name, and of its place; empty if the table has no place. */
  nameIs: name,
  placeIs: name,
  hasJob: z.boolean(),
  columns: z.array(z.object({ name: z.string().max(64), title: name, unit: z.string().max(32) })).max(40),
  /** Column by whose mean the series are ordered. */
  main: count,
  /** Largest first. ink: color of its job, or by its position; 0: gray. values: one column for each of `columns`. */
  series: z
    .array(
      z.object({
        name,
        place: name,
        job: name,
        ink: z.number().int().min(0).max(COLORS),
        mean: z.number().nullable(),
        values: z.array(column),
      }),
    )
    .max(SERIES_MOST),
  /** All other series together; null if there are none. */
  others: z.array(column).nullable(),
  /** All series together. */
  total: z.array(column),
})

/** Chart of one measure of series, or of several measures of a whole table. */
const planeChart = z.object({
  plane: planeTable.shape.plane,
  title: name,
  unit: z.string().max(32),
  isStacked: z.boolean(),
  lines: z.array(z.object({ name, ink: z.number().int().min(0).max(COLORS), values: column })).max(12),
})

/** Kept convoy with lock lifetimes and messages, in order of request and of sending; times are ms from its start. */
const convoy = z.object({
  resource: name,
  server: name,
  fromMs: ms,
  toMs: ms,
  /** Most requests that waited at once. */
  waiting: count,
  lives: z.object({
    client: z.array(name).max(LIVES_MOST),
    job: z.array(name).max(LIVES_MOST),
    mode: z.array(z.string().max(16)).max(LIVES_MOST),
    /** null: before or after the kept range, or never. */
    asked: gappy.max(LIVES_MOST),
    granted: gappy.max(LIVES_MOST),
    released: gappy.max(LIVES_MOST),
  }),
  livesMore: count,
  messages: z.object({
    sent: z.array(z.number()).max(MESSAGES_MOST),
    arrived: gappy.max(MESSAGES_MOST),
    client: z.array(name).max(MESSAGES_MOST),
    /** true: from the client to the lock server. */
    isUp: z.array(z.boolean()).max(MESSAGES_MOST),
    text: z.array(long).max(MESSAGES_MOST),
  }),
  messagesMore: count,
})

export const replayData = z.object({
  format: z.literal(REPLAY_FORMAT),
  fromMs: ms,
  toMs: ms,
  /** Source resolution, and the number of its samples averaged for each time. */
  tier: z.string().max(16),
  meanOf: count,
  /** Usual interval, ms. */
  stepMs: z.number().positive(),
  t: z.array(ms).max(INSTANTS_MOST),
  /** Time ranges without samples. */
  gaps: z.array(z.object({ fromMs: ms, toMs: ms, why: long })).max(1_000),
  cluster: columns(CLUSTER_MEASURES),
  /** Targets by node, then by name. */
  targets: z.array(z.object({ name, node: name, ...columns(TARGET_MEASURES).shape })).max(TARGETS_MOST),
  targetsMore: count,
  /** Jobs by mean RPC/s, descending. ink: color of the job, 1 to 14, 0: gray. */
  jobs: z
    .array(
      z.object({
        name,
        user: name,
        account: name,
        nodes: count.nullable(),
        ink: z.number().int().min(0).max(COLORS),
        mean: z.number().nullable(),
        ...columns(JOB_MEASURES).shape,
      }),
    )
    .max(JOBS_MOST),
  /** Sums over all other jobs. */
  other: z.object({ jobs: count, rpcs: column, readBps: column, writeBps: column, mdops: column }),
  servers: z.array(name).max(2_000),
  /** Rules as written, with their periods: server, position in the list, from, to (null: still active). */
  rules: z
    .array(
      z.object({
        queue: z.string().max(16),
        name,
        conditions: long,
        rate: z.number(),
        stood: z.array(z.tuple([count, count, ms, ms.nullable()])).max(STATES_MOST),
      }),
    )
    .max(RULES_MOST),
  rulesMore: count,
  /** Oldest first. */
  events: z
    .array(
      z.object({
        atMs: ms,
        kind: z.string().max(16),
        level: z.string().max(16),
        subject: long,
        text: long,
        where: long,
      }),
    )
    .max(EVENTS_MOST),
  /** Number of events before those. */
  eventsMore: count,
  /** Tables of locks, metadata and tokens that have rows, in the order of their registry. */
  planes: z.array(planeTable).max(16),
  planeCharts: z.array(planeChart).max(16),
  /** The longest kept convoys, oldest first. */
  convoys: z.array(convoy).max(CONVOYS_MOST),
  convoysMore: count,
})
export type ReplayData = z.infer<typeof replayData>
export type ReplayJob = ReplayData['jobs'][number]
export type ReplayTarget = ReplayData['targets'][number]
export type ReplayPlane = ReplayData['planes'][number]
export type ReplaySeries = ReplayPlane['series'][number]
export type ReplayPlaneChart = ReplayData['planeCharts'][number]
export type ReplayConvoy = ReplayData['convoys'][number]
