/** Jobs of one scope by demand, at the cursor and over the window; the largest, and the sum of the others. */
import type { MetadataFrame } from '#core/api/padll.ts'
import { isSuperseded, type PadllStatus } from '#core/padll/status.ts'
import type { SeriesTable } from '#core/series/series-table.ts'
import type { JobRegistry } from '../../../cluster/state/job-registry.ts'
import {
  jobColumnOf,
  jobSeries,
  PADLL_JOB_COLUMNS,
  scopeColumnOf,
  type PadllSeries,
} from '../../../cluster/metadata/padll-series.ts'
import { upTo } from './channels.ts'
import { emptyJobs } from './empty.ts'
import { orNull } from '../../position.ts'

const TOP = 7
const POINTS = 300

type Jobs = MetadataFrame['jobs']
type JobNow = PadllStatus['jobs'][number]
type Values = (number | null)[]

/** Spans of the window in one table. */
export interface Spans {
  readonly table: SeriesTable
  readonly from: number
  readonly to: number
  readonly step: number
}

/** Spans of a window that ends at an instant; undefined before the first reading. */
export function spansOf(table: SeriesTable, atMs: number, windowMs: number): Spans | undefined {
  if (table.newest === 0) return undefined
  const to = upTo(table, atMs)
  return to < table.oldest ? undefined : { table, ...table.window(to, windowMs, POINTS) }
}

const sumOf = (values: readonly (number | null)[]): number | null => {
  const known = values.filter((v) => v !== null)
  return known.length === 0 ? null : known.reduce((n, v) => n + v, 0)
}

/** Remainder of each span of `all` without the named series. */
const beyond = (all: Values, named: readonly Values[]): Values =>
  all.map((v, k) => (v === null ? null : Math.max(0, v - named.reduce((n, s) => n + (s[k] ?? 0), 0))))

/** Waits of a job in the window: increase of the sum; it restarts with the controller. */
function throttled({ table, from, to }: Spans, name: string, now: number): number {
  const column = jobColumnOf('throttledS')
  for (let s = Math.max(from, table.oldest); s < to; s++) {
    const then = table.value(name, column, s)
    if (!Number.isNaN(then)) return then <= now ? now - then : now
  }
  return 0
}

/** @param named  jobs that may be listed, if a filter hides others: those are part of the sum of all others. */
export function jobsOf(
  status: PadllStatus,
  scope: string,
  spans: Spans | undefined,
  totals: { readonly asked: Values; readonly measured: Values },
  registry: JobRegistry,
  series: PadllSeries,
  named?: ReadonlySet<string>,
): Jobs {
  const out = emptyJobs()
  const all = status.jobs
    .filter((j) => j.scope === scope)
    .sort((a, b) => b.asked - a.asked || b.measured - a.measured || (a.job < b.job ? -1 : 1))
  const isFrozen = isSuperseded(status)
  const top = (named ? all.filter((j) => named.has(j.job)) : all).slice(0, TOP)
  const rest = all.filter((j) => !top.includes(j))
  // Ended jobs fill free places: otherwise the stack would show unused capacity that did not exist.
  const there = new Set(all.map((j) => j.job))
  const of = (job: string, m: (typeof PADLL_JOB_COLUMNS)[number]): Values =>
    spans ? spans.table.downsample(jobSeries(job, scope), jobColumnOf(m), spans.from, spans.to, spans.step) : []
  // At a past sample, later jobs do not exist yet.
  const gone = (spans ? series.jobsSince(scope, spans.from) : [])
    .filter((job) => !there.has(job) && of(job, 'measured').some((v) => v !== null && !Number.isNaN(v)))
    .reverse()
  const shownGone = named ? [] : gone.slice(0, Math.max(0, TOP - top.length))
  registry.jobColors.colors([...top.map((j) => j.job), ...shownGone])
  const add = (jobId: string, jobs: readonly JobNow[], series: readonly [Values, Values, Values]): void => {
    out.jobId.push(jobId)
    out.colour.push(registry.jobColors.of(jobId))
    out.stages.push(jobs.reduce((n, j) => n + j.stages, 0))
    out.demandPolicy.push(sumOf(jobs.map((j) => j.demand)))
    out.limitPolicy.push(sumOf(jobs.map((j) => j.limit)))
    out.asked.push(isFrozen ? null : sumOf(jobs.map((j) => j.asked)))
    out.allocated.push(sumOf(jobs.map((j) => j.allocated)))
    out.measured.push(isFrozen ? null : sumOf(jobs.map((j) => j.measured)))
    out.queued.push(jobs.reduce((n, j) => n + j.queued, 0))
    out.throttledS.push(
      jobs.reduce((n, j) => n + (spans ? throttled(spans, jobSeries(j.job, scope), j.throttledS) : 0), 0),
    )
    out.askedSeries.push(series[0])
    out.measuredSeries.push(series[1])
    out.allocatedSeries.push(series[2])
  }
  const { asked, measured } = totals
  const none: Values = asked.map(() => null)
  for (const j of top) add(j.job, [j], [of(j.job, 'asked'), of(j.job, 'measured'), of(j.job, 'allocated')])
  for (const job of shownGone) add(job, [], [of(job, 'asked'), of(job, 'measured'), of(job, 'allocated')])
  if (rest.length + gone.length > shownGone.length) {
    add('', rest, [beyond(asked, out.askedSeries), beyond(measured, out.measuredSeries), none])
  }
  return out
}

/** Totals of the scope over the window. */
export function totalsOf(
  series: PadllSeries,
  scope: string,
  atMs: number,
  windowMs: number,
): Pick<MetadataFrame, 't' | 'asked' | 'falseAllocation' | 'limits'> & { readonly measured: Values } {
  const spans = spansOf(series.scopes, atMs, windowMs)
  if (!spans) return { t: [], asked: [], measured: [], falseAllocation: [], limits: [] }
  const { table, from, to, step } = spans
  const of = (m: Parameters<typeof scopeColumnOf>[0]): Values =>
    table.downsample(scope, scopeColumnOf(m), from, to, step).map((v) => (v === null ? null : orNull(v)))
  const asked = of('asked')
  const measured = of('measured')
  return { t: table.times(from, to, step), asked, measured, falseAllocation: of('unused'), limits: of('limit') }
}
