/**
 * What views read of a cluster, of one that goes on (the monitor) or of its recorded past: series on one axis of samples, rules as they
 * stood, jobs, events. What only the present has (readings, leases, the ledger of debts) is not in it.
 */
import type { Mark } from '#core/api/frames.ts'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import type { ClusterMonitor } from './monitor.ts'

/** Values of many series on one axis of samples, numbered upwards; NaN is a gap. */
export interface SeriesAt {
  readonly newest: number
  readonly oldest: number
  atMs(sample: number): number
  value(name: string, column: number, sample: number): number
  /** Mean over the last `n` samples up to `sample`; gaps do not count. */
  mean(name: string, column: number, sample: number, n: number): number
  means(names: readonly string[], column: number, sample: number, n: number): Float64Array
  /** First sample at or after an instant, at most `newest`. */
  sampleAt(atMs: number): number
}

/** The same as charts take it. A `SeriesTable` is one. */
export interface SeriesRead extends SeriesAt {
  readonly names: Iterable<string>
  downsample(name: string, column: number, from: number, to: number, step: number): (number | null)[]
  times(from: number, to: number, step: number): number[]
  window(to: number, windowMs: number, points: number): { from: number; to: number; step: number }
}

/** Where the chart of a window is drawn from. */
export interface ChartTier {
  readonly tier: { readonly jobs: SeriesRead; readonly totals: SeriesRead }
  /** Last sample of the window in that tier. */
  readonly to: number
  /** Time between two samples of the tier; undefined: the period of the source. */
  readonly stepMs?: number | undefined
}

/** The rules of a server as they stood. */
export interface RulesRead {
  readonly text: string
  readonly policy: string
  /** The same taken apart, where it was kept so. */
  readonly lines?: readonly RuleLine[] | undefined
  /** The same object for lists that differ in rates only: which rule a job falls under is the same, too. */
  readonly shape?: object | undefined
}

export interface RecentRead {
  /** The axis that samples are numbered on. */
  readonly raw: { readonly jobs: SeriesAt; readonly targets: SeriesAt; readonly totals: SeriesAt }
  /** Totals over the targets that were measured, where others were not. */
  readonly partials: SeriesAt
  /** The same of jobs, in the order of PART_COLUMNS. */
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
  /** Index of its categorical ink, 0 = other. */
  readonly colour: number
  /** Targets on which it was seen. */
  readonly targets: ReadonlySet<string>
  /** Operations in the last full second; a picture of the past has none. */
  readonly lastSecond: { readonly ops: ReadonlyMap<string, number> }
}

/** Jobs known at an instant, and their ids in the same order. */
export interface KnownJobs {
  readonly jobs: readonly JobRead[]
  readonly names: readonly string[]
}

export interface JobsRead {
  readonly all: Iterable<JobRead>
  readonly size: number
  find(jobId: string): JobRead | undefined
  /** Where they need not be gathered from all that are there. */
  known?(atMs: number): KnownJobs
  colour(top: readonly string[]): void
}

export interface Viewed {
  /** Number of the newest sample; 0 before the first. */
  readonly sample: number
  readonly source: { readonly cluster: string; readonly periodNs: number }
  readonly recent: RecentRead
  readonly jobs: JobsRead
  readonly events: { between(fromMs: number, toMs: number, limit: number): Mark[] }
  readonly targets: readonly { readonly target: string; readonly node: string }[]
  /** MDTs; of a recorded past they are not kept. */
  readonly metadataTargets?: Viewed['targets'] | undefined
  /** OSSes. */
  readonly servers: readonly string[]
  /** The source that goes on, where this is more than it; a picture of the past has none. */
  readonly live?: ClusterMonitor | undefined
  nowMs(): number
}
