/**
 * Interface of a cluster for views, live (the monitor) or recorded: series on one axis of samples, rules at a sample,
 * jobs, events. Data that exist only for the present (readings, leases, the ledger of debts) are not included.
 */
import type { Mark } from '#core/api/frames.ts'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import type { JobColors } from '#core/series/job-colors.ts'
import type { ClusterMonitor } from './monitor.ts'

/** Values of many series on one axis of samples, numbered upwards; NaN is a gap. */
export interface SeriesAt {
  readonly newest: number
  readonly oldest: number
  atMs(sample: number): number
  value(name: string, column: number, sample: number): number
  /** Mean over the last `n` samples up to `sample`, ignoring gaps. */
  mean(name: string, column: number, sample: number, n: number): number
  means(names: readonly string[], column: number, sample: number, n: number): Float64Array
  /** First sample at or after a time, at most `newest`. */
  sampleAt(atMs: number): number
}

/** Series as read by charts. A `SeriesTable` is one. */
export interface SeriesRead extends SeriesAt {
  readonly names: Iterable<string>
  downsample(name: string, column: number, from: number, to: number, step: number): (number | null)[]
  times(from: number, to: number, step: number): number[]
  window(to: number, windowMs: number, points: number): { from: number; to: number; step: number }
}

/** Source of the chart of a window. */
export interface ChartTier {
  readonly tier: { readonly jobs: SeriesRead; readonly totals: SeriesRead }
  /** Last sample of the window in that tier. */
  readonly to: number
  /** Time between two samples of the tier; undefined: the period of the source. */
  readonly stepMs?: number | undefined
}

/** Rules of a server at a time. */
export interface RulesRead {
  readonly text: string
  readonly policy: string
  /** Parsed lines, if stored so. */
  readonly lines?: readonly RuleLine[] | undefined
  /** Same object for lists that differ only in rates, so that jobs match the same rules. */
  readonly shape?: object | undefined
}

export interface RecentRead {
  /** Axis that samples are numbered on. */
  readonly raw: { readonly jobs: SeriesAt; readonly targets: SeriesAt; readonly totals: SeriesAt }
  /** Totals over the measured targets, in samples where others were not measured. */
  readonly partials: SeriesAt
  /** Job sums over the measured targets in the same samples, in the order of PART_COLUMNS. */
  readonly jobParts: SeriesAt
  readonly shares: SeriesRead
  rulesAt(place: string, sample: number): RulesRead | undefined
  /** Finest tier that a window ending at sample `at` is drawn from. */
  tierFor(at: number, windowMs: number): ChartTier
}

export interface JobRead {
  readonly jobId: string
  readonly firstSeenMs: number
  readonly user: string
  readonly account: string
  readonly nodes: number | undefined
  /** Index of its categorical color, 0 = other. */
  readonly colour: number
  /** Targets on which it was seen. */
  readonly targets: ReadonlySet<string>
  /** Operations in the last full second; none in a past view. */
  readonly lastSecond: { readonly ops: ReadonlyMap<string, number> }
}

/** Jobs known at a time, and their ids in the same order. */
export interface KnownJobs {
  readonly jobs: readonly JobRead[]
  readonly names: readonly string[]
}

export interface JobsRead {
  readonly all: Iterable<JobRead>
  readonly size: number
  find(jobId: string): JobRead | undefined
  /** Provided if they need not be collected from all jobs. */
  known?(atMs: number): KnownJobs
  /** Colors of the jobs of this cluster. */
  readonly jobColors: JobColors
}

export interface ClusterView {
  /** Number of the newest sample; 0 before the first. */
  readonly sample: number
  readonly source: { readonly cluster: string; readonly periodNs: number }
  readonly recent: RecentRead
  readonly jobs: JobsRead
  readonly events: { between(fromMs: number, toMs: number, limit: number): Mark[] }
  readonly targets: readonly { readonly target: string; readonly node: string }[]
  /** MDTs; not stored in a recording. */
  readonly metadataTargets?: ClusterView['targets'] | undefined
  /** OSSes. */
  readonly servers: readonly string[]
  /** Live source behind this view; none in a past view. */
  readonly live?: ClusterMonitor | undefined
  nowMs(): number
}
