/**
 * Recorded state of a cluster: sample n is the n-th sample time of one tier in one stored range. Views read it like a
 * live cluster; data that exist only for the present are absent.
 */
import type { Mark, TierId } from '#core/api/history.ts'
import { byCodeUnit } from '#core/base/order.ts'
import { NS_PER_MS } from '#core/base/units.ts'
import { SeriesTable } from '#core/series/series-table.ts'
import type { ChartTier, RecentRead, RulesRead, ClusterView } from '../cluster/cluster-view.ts'
import { GridJobs, GridTotals } from './grid.ts'
import { RecordedJobs } from './job-registry.ts'
import type { Past } from './past.ts'
import { RecordedRules } from './recorded-rules.ts'
import { Axis, JobSamples, TargetSamples } from './sample-table.ts'
import { StateAt, type JobsAt } from './state-at.ts'
import { tierOfWindow, usualStep, type RecordedTier } from './tiers.ts'
import { TotalSamples } from './totals.ts'

/** Maximum series in the window of a chart: a window of many jobs is drawn from a coarser tier. */
const CHART_ROWS = 3_000_000
const POINTS_LEAST = 60
const POINTS_MOST = 600
/** Times whose known jobs and records are cached: the cursor's, and A's. */
const STATES = 4

/** Most points of a chart over so many jobs. */
export const chartPoints = (jobs: number): number =>
  Math.min(POINTS_MOST, Math.max(POINTS_LEAST, Math.floor(CHART_ROWS / Math.max(1, jobs))))

export class RecordedCluster implements ClusterView {
  readonly past: Past
  readonly tier: RecordedTier
  readonly source: { readonly cluster: string; readonly periodNs: number }
  readonly recent: RecentRead
  readonly jobs: RecordedJobs
  readonly targets: readonly { readonly target: string; readonly node: string }[]
  readonly servers: readonly string[]
  readonly events: ClusterView['events']
  readonly axis: Axis
  readonly #stateAt: StateAt
  readonly #jobsAt = new Map<number, JobsAt>()
  readonly #rules: RecordedRules
  readonly #charts = new Map<string, ChartTier>()

  /**
   * @param tier  tier whose sample times are the samples.
   * @param span  range of the samples, both ends included.
   */
  constructor(past: Past, tier: RecordedTier, span: { readonly fromMs: number; readonly toMs: number }) {
    const { reader, cache, registry } = past
    const times = reader.instants(tier.id, span.fromMs, span.toMs)
    const stepMs = tier.id === 'raw' ? (usualStep(times) ?? tier.stepMs) : tier.stepMs
    this.past = past
    this.tier = { ...tier, stepMs }
    this.axis = new Axis(times, stepMs)
    this.source = { cluster: reader.cluster, periodNs: Math.max(1, stepMs * NS_PER_MS) }
    const from = past.tiers.findIndex((t) => t.id === tier.id)
    this.#stateAt = new StateAt(cache, registry, past.tiers.slice(Math.max(0, from)), times)
    this.#rules = new RecordedRules(reader)
    this.jobs = new RecordedJobs(registry, (atMs) => this.#jobsAtSample(this.#nearest(atMs)).known)
    const kept = reader.allTargets()
    this.servers = [...new Set(kept.map((t) => t.node))].sort(byCodeUnit)
    this.targets = kept
      .map(({ target, node }) => ({ target, node }))
      .sort((a, b) => byCodeUnit(a.node, b.node) || byCodeUnit(a.target, b.target))
    const keys = new Map(kept.map((t) => [t.target, t.key]))
    const none = new SeriesTable(1, [])
    this.recent = {
      raw: {
        jobs: new JobSamples(this.axis, cache, this.tier, registry, (sample) => this.#jobsAtSample(sample).records),
        targets: new TargetSamples(this.axis, cache, this.tier, keys),
        totals: new TotalSamples(this.axis, past.totals, tier.id),
      },
      partials: none,
      jobParts: none,
      shares: none,
      rulesAt: (place, sample) => this.rulesAt(sample).get(place),
      tierFor: (at, windowMs) => this.#chart(at, windowMs),
    }
    this.events = { between: (fromMs, toMs, limit): Mark[] => reader.mainEvents(Math.max(0, fromMs), toMs, limit) }
  }

  get sample(): number {
    return this.axis.newest
  }

  get fromMs(): number {
    return this.axis.times[0] ?? 0
  }

  get toMs(): number {
    return this.axis.times.at(-1) ?? 0
  }

  get tierId(): TierId {
    return this.tier.id
  }

  nowMs(): number {
    return this.toMs
  }

  /** Rules at a sample, by place. */
  rulesAt(sample: number): ReadonlyMap<string, RulesRead> {
    return this.#rules.at(this.axis.atMs(sample))
  }

  /** Sample nearest to a time; 0 if there is none. */
  nearest(atMs: number): number {
    return this.#nearest(atMs)
  }

  #nearest(atMs: number): number {
    if (this.sample === 0) return 0
    const after = this.axis.sampleAt(atMs)
    const before = Math.max(1, after - 1)
    return atMs - this.axis.atMs(before) < this.axis.atMs(after) - atMs ? before : after
  }

  #jobsAtSample(sample: number): JobsAt {
    let jobs = this.#jobsAt.get(sample)
    if (jobs) this.#jobsAt.delete(sample)
    else
      jobs = sample > 0 ? this.#stateAt.at(sample - 1) : { known: { jobs: [], names: [] }, records: new Float64Array() }
    this.#jobsAt.set(sample, jobs)
    if (this.#jobsAt.size > STATES) this.#jobsAt.delete(this.#jobsAt.keys().next().value as number)
    return jobs
  }

  #chart(sample: number, windowMs: number): ChartTier {
    const name = `${sample} ${windowMs}`
    let chart = this.#charts.get(name)
    if (chart) return chart
    const { past } = this
    const toMs = this.axis.atMs(sample)
    const jobs = this.#jobsAtSample(sample).known.jobs.length
    // A chart is never finer than the tier of the cursor.
    const coarser = past.tiers.slice(
      Math.max(
        0,
        past.tiers.findIndex((t) => t.id === this.tier.id),
      ),
    )
    const tier = tierOfWindow(coarser, toMs - windowMs, toMs, chartPoints(jobs)) ?? this.tier
    const grid = past.grid(tier.id === this.tier.id ? this.tier : tier, this.axis)
    const to = grid.lastBefore(toMs)
    const parts = { cache: past.cache, registry: past.registry, sums: past.sums(grid) }
    const first = grid.slotOf(toMs - windowMs)
    chart = {
      tier: {
        jobs: new GridJobs(grid, to, first, parts, (atMs) => this.#jobsAtSample(this.#nearest(atMs)).records),
        totals: new GridTotals(grid, to, past.totals),
      },
      to,
      stepMs: tier.stepMs,
    }
    this.#charts.set(name, chart)
    if (this.#charts.size > 6) this.#charts.delete(this.#charts.keys().next().value as string)
    return chart
  }
}
