/**
 * Live source backed by its store: a window that reaches further back than memory is drawn from the store, joined with
 * the intervals in memory that are not rolled up yet.
 */
import type { JobColors } from '#core/series/job-colors.ts'
import type { ClusterMonitor } from '../cluster/monitor.ts'
import { TOTAL } from '../cluster/state/recent.ts'
import type { ChartTier, JobRead, JobsRead, RecentRead, SeriesRead, ClusterView } from '../cluster/cluster-view.ts'
import { GridJobs, GridTotals, type Tail } from './grid.ts'
import type { RecordedJobRegistry } from './job-registry.ts'
import { Past } from './past.ts'
import { chartPoints } from './recorded-cluster.ts'
import { tierOfWindow } from './tiers.ts'

/** Interval of checks for stored data, ms of the source. */
const LOOK_MS = 1000

/** Jobs in memory, and in the store those that memory no longer has. */
class LongJobs implements JobsRead {
  readonly #monitor: ClusterMonitor
  readonly #registry: () => RecordedJobRegistry | undefined

  constructor(monitor: ClusterMonitor, registry: () => RecordedJobRegistry | undefined) {
    this.#monitor = monitor
    this.#registry = registry
  }

  get all(): Iterable<JobRead> {
    return this.#monitor.jobs.all
  }
  get size(): number {
    return this.#monitor.jobs.size
  }
  find(jobId: string): JobRead | undefined {
    const registry = this.#registry()
    return this.#monitor.jobs.find(jobId) ?? registry?.jobs[registry.slotOf(jobId)]
  }
  get jobColors(): JobColors {
    return this.#monitor.jobs.jobColors
  }
}

export class LongView implements ClusterView {
  readonly live: ClusterMonitor
  readonly jobs: JobsRead
  readonly recent: RecentRead
  readonly #tail: Tail
  #past: Past | undefined
  #lookedMs = -Infinity
  #charts = new Map<string, ChartTier>()

  constructor(monitor: ClusterMonitor) {
    this.live = monitor
    this.jobs = new LongJobs(monitor, () => this.#past?.registry)
    const { recent } = monitor
    this.#tail = {
      job: (name, column, from, to) => meanOf(recent.seconds.jobs, recent.raw.jobs, name, column, from, to),
      total: (column, from, to) => meanOf(recent.seconds.totals, recent.raw.totals, TOTAL, column, from, to),
    }
    this.recent = {
      raw: recent.raw,
      partials: recent.partials,
      jobParts: recent.jobParts,
      shares: recent.shares,
      rulesAt: (place, sample) => recent.rulesAt(place, sample),
      tierFor: (at, windowMs) => this.#long(at, windowMs) ?? recent.tierFor(at, windowMs),
    }
  }

  get sample(): number {
    return this.live.sample
  }
  get source(): ClusterView['source'] {
    return this.live.source
  }
  get events(): ClusterView['events'] {
    return this.live.events
  }
  get targets(): ClusterView['targets'] {
    return this.live.targets
  }
  get metadataTargets(): ClusterView['targets'] {
    return this.live.metadataTargets
  }
  get servers(): readonly string[] {
    return this.live.servers
  }
  nowMs(): number {
    return this.live.nowMs()
  }

  /** Stored history of this source; undefined if it cannot be read. */
  get past(): Past | undefined {
    const atMs = this.live.nowMs()
    try {
      this.#past ??= new Past(this.live.history.reader(), this.live.jobs.jobColors)
      if (Math.abs(atMs - this.#lookedMs) >= LOOK_MS) {
        this.#lookedMs = atMs
        this.#charts.clear()
        this.#past.refresh()
      }
    } catch {
      // A broken history is reported elsewhere; charts then show the data in memory.
      return undefined
    }
    return this.#past
  }

  #long(sample: number, windowMs: number): ChartTier | undefined {
    const { raw, seconds } = this.live.recent
    const atMs = raw.totals.atMs(sample)
    const oldest = (t: { totals: SeriesRead }): number =>
      t.totals.newest === 0 ? Infinity : t.totals.atMs(t.totals.oldest)
    const memoryMs = Math.min(oldest(raw), oldest(seconds))
    if (!(atMs - windowMs < memoryMs - 1000)) return undefined
    const past = this.past
    const recorded = past?.tiers.filter((t) => t.id !== 'raw') ?? []
    // If the store does not reach further back, memory is finer.
    if (!past || !recorded.some((t) => t.fromMs < memoryMs - t.stepMs)) return undefined
    const name = `${sample} ${windowMs}`
    let chart = this.#charts.get(name)
    if (chart) return chart
    const tier = tierOfWindow(recorded, atMs - windowMs, atMs, chartPoints(this.live.jobs.size))
    if (!tier) return undefined
    const grid = past.grid(tier)
    // A stored interval is shown when it has ended; the current one comes from memory up to now.
    const to = Math.max(grid.lastBefore(atMs), grid.slotOf(tier.toMs) < grid.slotOf(atMs) ? grid.slotOf(atMs) : 0)
    const clipped: Tail = {
      job: (n, column, from, end) => this.#tail.job(n, column, from, Math.min(end, atMs + 1)),
      total: (column, from, end) => this.#tail.total(column, from, Math.min(end, atMs + 1)),
    }
    const parts = { cache: past.cache, registry: past.registry, sums: past.sums(grid), tail: clipped }
    chart = {
      tier: {
        jobs: new GridJobs(grid, to, grid.slotOf(atMs - windowMs), parts),
        totals: new GridTotals(grid, to, past.totals, clipped),
      },
      to,
      stepMs: tier.stepMs,
    }
    this.#charts.set(name, chart)
    if (this.#charts.size > 6) this.#charts.delete(this.#charts.keys().next().value as string)
    return chart
  }
}

/** Mean over [fromMs, toMs) of the data in memory: of whole seconds, or of single samples if none has ended yet. */
function meanOf(
  seconds: SeriesRead,
  raw: SeriesRead,
  name: string,
  column: number,
  fromMs: number,
  toMs: number,
): number {
  for (const table of [seconds, raw]) {
    if (table.newest === 0) continue
    const first = table.sampleAt(fromMs)
    let last = table.sampleAt(toMs)
    if (table.atMs(last) >= toMs) last--
    if (last < first || table.atMs(first) < fromMs) continue
    const mean = table.mean(name, column, last, last - first + 1)
    if (mean === mean) return mean
  }
  return NaN
}
