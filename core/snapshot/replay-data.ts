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
})
export type ReplayData = z.infer<typeof replayData>
export type ReplayJob = ReplayData['jobs'][number]
export type ReplayTarget = ReplayData['targets'][number]
