/**
 * Interface for reading a history file, either the store of the console or a recording. All times are Unix ms on the cluster's
 * clock; a cluster's history spans all starts of the console, so a job has one identity in all of them.
 *
 * Samples are stored in blocks: one block per instant and tier, with columns over the jobs (or targets) that had a value. NaN is a
 * gap.
 */
import type { Steps } from '#core/base/steps.ts'
import type { ClusterMeasure, GroupBy, Mark, Span, TierId } from '#core/api/history.ts'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import type { PlaneName, PlaneTableId } from '#core/series/plane-tables.ts'
import type { BrwSample, TimeoutSample } from './io-table.ts'
import type { LdlmSample } from './ldlm-table.ts'

/**
 * Columns of a job's sample; rates are per second. A record is an integer and is kept exactly: a Float32 is exact to 2^24, the
 * remainder is in `recordRest`, and the sum of both is exact to 2^48.
 */
export const JOB_COLUMNS = ['rpcs', 'readBps', 'writeBps', 'throttled', 'record', 'mdops', 'recordRest'] as const
export const TARGET_COLUMNS = ['rpcs', 'serviceMs', 'queued'] as const
/** Sums over the cluster: rules is their number, wait is the mean service time weighted by RPCs. */
export const CLUSTER_COLUMNS = [
  'rpcs',
  'readBps',
  'writeBps',
  'serviceMs',
  'queued',
  'rules',
  'onLoan',
  'mdops',
] as const

export interface Block {
  readonly atMs: number
  /** Keys of the series, ascending; `job` or `target` of the reader resolves them. */
  readonly keys: Uint32Array
  /** One array per column, of the length of `keys`. */
  readonly columns: readonly Float32Array[]
}

export interface HistoryJob {
  readonly key: number
  readonly jobId: string
  readonly user: string
  readonly account: string
  /** Program, as far as it can be derived from the job id. */
  readonly exe: string
  readonly nodes: number | null
  readonly firstMs: number
}

export interface HistoryTarget {
  readonly key: number
  readonly target: string
  readonly node: string
}

export interface HistoryRule extends RuleLine {
  readonly server: string
  readonly position: number
  readonly fromMs: number
  /** null: still in force. */
  readonly toMs: number | null
}

/** A job or group whose rate changed between two spans. */
export interface Mover {
  readonly name: string
  readonly user: string
  readonly account: string
  /** Mean RPC/s. */
  readonly a: number
  readonly b: number
}

/** Series of a plane's table. */
export interface PlaneSeries extends PlaneName {
  readonly key: number
  /** True for the row in which the series without one of their own are summed. */
  readonly isOthers: boolean
}

/** Convoy that is kept with its messages: one of the 20 longest of its day. */
export interface KeptConvoy {
  readonly id: number
  /** Lock resource: file and stripe, and its lock server. */
  readonly resource: string
  readonly server: string
  readonly fromMs: number
  readonly toMs: number
  /** Most requests that waited at once. */
  readonly waiting: number
}

/** Reader of one cluster's history in one file. */
export interface HistoryReader {
  readonly cluster: string
  /** First and last instant with data; undefined if there is none. */
  extent(): { readonly fromMs: number; readonly toMs: number } | undefined
  /** First and last instant of a tier. */
  extentOf(tier: TierId): { readonly fromMs: number; readonly toMs: number } | undefined
  /** Finest tier that reaches back to `fromMs` and has at most `points` instants up to `toMs`; otherwise the coarsest. */
  tierFor(fromMs: number, toMs: number, points: number): TierId
  /** Instants of the samples in [fromMs, toMs], ascending. */
  instants(tier: TierId, fromMs: number, toMs: number): Float64Array
  jobs(tier: TierId, atMs: number): Block | undefined
  targets(tier: TierId, atMs: number): Block | undefined
  /** Blocks of every instant in [fromMs, toMs], oldest first. */
  jobsBetween(tier: TierId, fromMs: number, toMs: number): Iterable<Block>
  targetsBetween(tier: TierId, fromMs: number, toMs: number): Iterable<Block>
  /** CLUSTER_COLUMNS at `t`; NaN for gaps. */
  clusterBetween(
    tier: TierId,
    fromMs: number,
    toMs: number,
  ): { readonly t: Float64Array; readonly columns: readonly Float32Array[] }
  job(key: number): HistoryJob | undefined
  jobByName(jobId: string): HistoryJob | undefined
  /** Jobs with all of the words in their id, user or account, newest first; of a long history only the newest jobs are searched. */
  findJobs(words: readonly string[], limit: number): readonly HistoryJob[]
  target(key: number): HistoryTarget | undefined
  allTargets(): readonly HistoryTarget[]
  /** One metric of the cluster over a span as at most `points` means; null: a gap. */
  line(
    measure: ClusterMeasure,
    span: Span,
    points: number,
  ): { readonly t: number[]; readonly values: (number | null)[]; readonly tier: TierId }
  /** Names with the largest mean RPC/s over a span, largest first, each with its mean in at most `points` parts. */
  top(
    span: Span,
    by: GroupBy,
    limit: number,
    points: number,
  ): {
    readonly t: number[]
    readonly series: { readonly name: string; readonly mean: number; readonly values: (number | null)[] }[]
  }
  /** The same in steps; the history may be written to between them. */
  topInSteps(...of: Parameters<HistoryReader['top']>): Steps<ReturnType<HistoryReader['top']>>
  /** Largest changes in RPC/s from A to B, largest first. */
  movers(
    a: Span,
    b: Span,
    by: GroupBy,
    limit: number,
  ): { readonly rows: Mover[]; readonly rest: { readonly names: number; readonly a: number; readonly b: number } }
  /** Latest reading of a target's disk in (fromMs, toMs], and those of all targets in [fromMs, toMs]. */
  brwAt(target: string, fromMs: number, toMs: number): BrwSample | undefined
  brwBetween(fromMs: number, toMs: number): Iterable<BrwSample>
  /** Service estimates: the latest of one server, and those of all. */
  timeoutsAt(node: string, fromMs: number, toMs: number): TimeoutSample[]
  timeoutsBetween(fromMs: number, toMs: number): Iterable<TimeoutSample>
  /**
   * Readings of all lock namespaces in [fromMs, toMs], oldest first; if there are too many, the newest. With a step of at least
   * a second, one for each namespace and step, at the end of the step: of the rates and counts their mean over its first 12 s, of
   * timeouts and contentions the largest.
   */
  ldlmBetween(fromMs: number, toMs: number, stepMs?: number): LdlmSample[]
  rulesAt(atMs: number): HistoryRule[]
  rulesBetween(fromMs: number, toMs: number): HistoryRule[]
  moversInSteps(...of: Parameters<HistoryReader['movers']>): Steps<ReturnType<HistoryReader['movers']>>
  /** Events in (fromMs, toMs], newest first. */
  events(fromMs: number, toMs: number, limit: number): Mark[]
  /** The same; if there are more, those of operators before others. */
  mainEvents(fromMs: number, toMs: number, limit: number): Mark[]
  eventBeside(atMs: number, direction: 'next' | 'previous'): number | undefined
  /** Ranges within [fromMs, toMs] without any sample. */
  gaps(fromMs: number, toMs: number): { readonly fromMs: number; readonly toMs: number; readonly why: string }[]
  /**
   * Rows of a plane at an instant: of the finest tier, the newest in (atMs - withinMs, atMs] or 1.5 steps of the tier; undefined if
   * there are none. Planes have no raw samples: their finest tier is that of a second, the one in which a period began.
   */
  planeAt(table: PlaneTableId, atMs: number, withinMs: number): Block | undefined
  /** Rows of every second, or interval of a coarser tier, in [fromMs, toMs], oldest first. */
  planeBetween(table: PlaneTableId, tier: TierId, fromMs: number, toMs: number): Iterable<Block>
  /** Finest tier, from a second on, for a chart of a span with at most `points` instants. */
  planeTierFor(fromMs: number, toMs: number, points: number): TierId
  /** Series by its key in a block. */
  planeSeries(key: number): PlaneSeries | undefined
  /** Series of a table with rows, in the order of their keys. */
  allPlaneSeries(table: PlaneTableId): readonly PlaneSeries[]
  /**
   * One column over a span as at most `points` points: of one series, or over all rows by the column's rule for others. Of the
   * periods in a point the mean; for a column that is rolled up by max or min, that. null: a gap.
   */
  planeLine(
    table: PlaneTableId,
    column: string,
    span: Span,
    points: number,
    key?: number,
  ): { readonly t: number[]; readonly values: (number | null)[]; readonly tier: TierId }
  /** Series whose mean of a column changed most from A to B, largest change first, and the sums of the rest. */
  planeMovers(
    table: PlaneTableId,
    column: string,
    a: Span,
    b: Span,
    limit: number,
  ): {
    readonly rows: readonly (PlaneSeries & { readonly a: number; readonly b: number })[]
    readonly rest: { readonly names: number; readonly a: number; readonly b: number }
  }
  /** Kept convoys that overlap [fromMs, toMs], oldest first. */
  convoys(fromMs: number, toMs: number, limit: number): readonly KeptConvoy[]
  /** Messages and lock lives of a kept convoy, as the window shows them; undefined if they cannot be read. */
  convoyFrame(id: number): unknown
  close(): void
}
