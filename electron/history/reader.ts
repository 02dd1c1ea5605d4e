/**
 * What is read back from a history file, whoever wrote it: the store that the console writes, or a recording. All times are Unix
 * ms on the cluster's clock; a cluster's past runs over every start of the console, so a job is the same one in all of them.
 *
 * Samples lie in blocks: one block an instant and tier, columns over the jobs (or targets) that had a value. NaN is a gap.
 */
import type { Steps } from '#core/base/steps.ts'
import type { ClusterMeasure, GroupBy, Mark, Span, TierId } from '#core/api/history.ts'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import type { BrwSample, TimeoutSample } from './io-table.ts'

/**
 * Columns of a job's sample; rates are per second. A record is a whole number and is kept exactly: a Float32 is exact to 2^24, what
 * it leaves is in `recordRest`, and the sum of both is exact to 2^48.
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
  /** Keys of the series, ascending; `job` or `target` of the reader names them. */
  readonly keys: Uint32Array
  /** One array a column, of the length of `keys`. */
  readonly columns: readonly Float32Array[]
}

export interface KeptJob {
  readonly key: number
  readonly jobId: string
  readonly user: string
  readonly account: string
  /** Program, as far as the job id tells. */
  readonly exe: string
  readonly nodes: number | null
  readonly firstMs: number
}

export interface KeptTarget {
  readonly key: number
  readonly target: string
  readonly node: string
}

export interface KeptRule extends RuleLine {
  readonly server: string
  readonly position: number
  readonly fromMs: number
  /** null: it stands still. */
  readonly toMs: number | null
}

/** One who moved between two spans. */
export interface Mover {
  readonly name: string
  readonly user: string
  readonly account: string
  /** Mean RPC/s. */
  readonly a: number
  readonly b: number
}

/** Reads one cluster's past in one file. */
export interface HistoryReader {
  readonly cluster: string
  /** First and last instant of which anything is kept; undefined: nothing. */
  kept(): { readonly fromMs: number; readonly toMs: number } | undefined
  /** First and last instant of a tier. */
  keptOf(tier: TierId): { readonly fromMs: number; readonly toMs: number } | undefined
  /** The finest tier that reaches back to `fromMs` and has at most `points` instants up to `toMs`; the coarsest if none has. */
  tierFor(fromMs: number, toMs: number, points: number): TierId
  /** Instants of the samples in [fromMs, toMs], ascending. */
  instants(tier: TierId, fromMs: number, toMs: number): Float64Array
  jobs(tier: TierId, atMs: number): Block | undefined
  targets(tier: TierId, atMs: number): Block | undefined
  /** The same of every instant in [fromMs, toMs], oldest first. */
  jobsBetween(tier: TierId, fromMs: number, toMs: number): Iterable<Block>
  targetsBetween(tier: TierId, fromMs: number, toMs: number): Iterable<Block>
  /** CLUSTER_COLUMNS at `t`; NaN for gaps. */
  clusterBetween(
    tier: TierId,
    fromMs: number,
    toMs: number,
  ): { readonly t: Float64Array; readonly columns: readonly Float32Array[] }
  job(key: number): KeptJob | undefined
  jobByName(jobId: string): KeptJob | undefined
  /** Jobs whose id, user or account has all of the words in it, newest first; of a long past only its newest jobs are looked at. */
  findJobs(words: readonly string[], limit: number): readonly KeptJob[]
  target(key: number): KeptTarget | undefined
  allTargets(): readonly KeptTarget[]
  /** One measure of the cluster over a span as at most `points` means; null: a gap. */
  line(
    measure: ClusterMeasure,
    span: Span,
    points: number,
  ): { readonly t: number[]; readonly values: (number | null)[]; readonly tier: TierId }
  /** The names with the largest mean RPC/s over a span, largest first, and each one's mean in at most `points` parts. */
  top(
    span: Span,
    by: GroupBy,
    limit: number,
    points: number,
  ): {
    readonly t: number[]
    readonly series: { readonly name: string; readonly mean: number; readonly values: (number | null)[] }[]
  }
  /** The same; between two steps the history may be written to. */
  topInSteps(...of: Parameters<HistoryReader['top']>): Steps<ReturnType<HistoryReader['top']>>
  /** Who changed most from A to B, largest change first. */
  movers(
    a: Span,
    b: Span,
    by: GroupBy,
    limit: number,
  ): { readonly rows: Mover[]; readonly rest: { readonly names: number; readonly a: number; readonly b: number } }
  /** The newest reading of a target's disk in (fromMs, toMs], and those of all targets in [fromMs, toMs]. */
  brwAt(target: string, fromMs: number, toMs: number): BrwSample | undefined
  brwBetween(fromMs: number, toMs: number): Iterable<BrwSample>
  /** The same of service estimates, those of one server and of all. */
  timeoutsAt(node: string, fromMs: number, toMs: number): TimeoutSample[]
  timeoutsBetween(fromMs: number, toMs: number): Iterable<TimeoutSample>
  rulesAt(atMs: number): KeptRule[]
  rulesBetween(fromMs: number, toMs: number): KeptRule[]
  moversInSteps(...of: Parameters<HistoryReader['movers']>): Steps<ReturnType<HistoryReader['movers']>>
  /** Events in (fromMs, toMs], newest first. */
  events(fromMs: number, toMs: number, limit: number): Mark[]
  eventBeside(atMs: number, direction: 'next' | 'previous'): number | undefined
  /** Stretches within [fromMs, toMs] without any sample. */
  gaps(fromMs: number, toMs: number): { readonly fromMs: number; readonly toMs: number; readonly why: string }[]
  /** The newest kept frame of a view that keeps none of its samples (locks, metadata, tokens) at or before an instant. */
  frame(view: string, atMs: number): { readonly atMs: number; readonly frame: unknown } | undefined
  close(): void
}
