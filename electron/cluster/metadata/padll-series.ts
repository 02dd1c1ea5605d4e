/**
 * Series of jobs, scopes and channels over the last hour, second by second, as reported by the global controller. Every
 * reading is one sample of all tables, an unanswered one a gap in all of them. Bounded: job ids are chosen by users.
 */
import type { PadllStatus } from '#core/padll/status.ts'
import { SeriesTable } from '#core/series/series-table.ts'

const HOUR = 3_600
const SPARK = 300
/** Maximum series; further ones are shown at the cursor only, without history. */
const JOBS_MAX = 400
const CHANNELS_MAX = 2_000
const SCOPES_MAX = 40

export const PADLL_JOB_COLUMNS = ['asked', 'measured', 'allocated', 'throttledS'] as const
export const PADLL_SCOPE_COLUMNS = ['asked', 'measured', 'limit', 'unused'] as const
export const jobColumnOf = (m: (typeof PADLL_JOB_COLUMNS)[number]): number => PADLL_JOB_COLUMNS.indexOf(m)
export const scopeColumnOf = (m: (typeof PADLL_SCOPE_COLUMNS)[number]): number => PADLL_SCOPE_COLUMNS.indexOf(m)

/** Names are user text: their lengths separate them unambiguously. */
export const jobSeries = (job: string, scope: string): string => `${scope.length} ${scope}${job}`
export const channelSeries = (local: string, stage: string, channel: number, object: number): string =>
  `${channel}.${object} ${local.length} ${local}${stage}`

type JobNow = PadllStatus['jobs'][number]

/** A job waits if its queue takes longer than this at its rate, s: less is the granularity of the buckets. */
const WAITS_S = 0.05

/** True if operations of a job wait for its rate. */
export const waitsForRate = (j: Pick<JobNow, 'allocated' | 'queued'>): boolean =>
  j.queued > WAITS_S * (j.allocated ?? Infinity)

/** A job runs at its limit from this share of it on: as in throttling.ts. */
const AT_LIMIT = 0.9

/** True if a job runs at its rate: where waits are not known, its operations count as waiting. */
export const runsAtLimit = (measured: number, allocated: number): boolean => measured >= AT_LIMIT * allocated

/**
 * False allocation of each job: rate that it holds and does not use while operations of another job wait, op/s. A job that
 * waits itself does not count its own demand against the others.
 */
export function falseAllocations(
  jobs: readonly { readonly allocated: number | null; readonly measured: number; readonly waits: boolean }[],
): number[] {
  const waiting = jobs.filter((j) => j.waits).length
  return jobs.map(({ allocated, measured, waits }) =>
    allocated !== null && waiting > (waits ? 1 : 0) ? Math.max(0, allocated - measured) : 0,
  )
}

/** Sum over the jobs of a scope, op/s. */
export const falseAllocation = (jobs: readonly Pick<JobNow, 'allocated' | 'measured' | 'queued'>[]): number =>
  falseAllocations(jobs.map((j) => ({ ...j, waits: waitsForRate(j) }))).reduce((a, b) => a + b, 0)

/** Table with a maximum number of series, and the time at which each was last seen. */
class Bounded {
  readonly table: SeriesTable
  readonly #most: number
  readonly #seen = new Map<string, number>()

  constructor(table: SeriesTable, most: number) {
    this.table = table
    this.#most = most
  }

  set(name: string, values: readonly number[]): void {
    if (!this.#seen.has(name) && this.#seen.size >= this.#most && !this.#grow()) return
    // Newest last, so the first is the one absent for longest.
    this.#seen.delete(name)
    this.#seen.set(name, this.table.newest)
    this.table.set(name, ...values)
  }

  /** Series that were present at a sample or later, the one absent for longest first. */
  since(sample: number): string[] {
    return [...this.#seen].filter(([, at]) => at >= sample).map(([name]) => name)
  }

  /** Drops series whose whole history has left the table. */
  sweep(): void {
    for (const [name, at] of this.#seen) {
      if (at >= this.table.oldest) return
      this.#drop(name)
    }
  }

  /** Drops the series absent for longest, unless it was present in the previous sample. */
  #grow(): boolean {
    const [first] = this.#seen
    if (!first || first[1] >= this.table.newest - 1) return false
    this.#drop(first[0])
    return true
  }

  #drop(name: string): void {
    this.#seen.delete(name)
    this.table.drop(name)
  }
}

export class PadllSeries {
  readonly #jobs = new Bounded(new SeriesTable(HOUR, PADLL_JOB_COLUMNS, ['throttledS']), JOBS_MAX)
  readonly #scopes = new Bounded(new SeriesTable(HOUR, PADLL_SCOPE_COLUMNS), SCOPES_MAX)
  readonly #channels = new Bounded(new SeriesTable(SPARK, ['measured']), CHANNELS_MAX)

  get jobs(): SeriesTable {
    return this.#jobs.table
  }
  /** Jobs of a scope that were present at a sample or later, the one absent for longest first. */
  jobsSince(scope: string, sample: number): string[] {
    const before = jobSeries('', scope)
    return this.#jobs.since(sample).flatMap((name) => (name.startsWith(before) ? [name.slice(before.length)] : []))
  }
  get scopes(): SeriesTable {
    return this.#scopes.table
  }
  get channels(): SeriesTable {
    return this.#channels.table
  }

  /** Adds one reading; undefined if there was none. */
  add(atMs: number, status: PadllStatus | undefined): void {
    for (const b of [this.#jobs, this.#scopes, this.#channels]) {
      b.table.push(atMs)
      b.sweep()
    }
    if (!status) return
    const byScope = new Map<string, JobNow[]>(status.limits.map((l) => [l.scope, []]))
    for (const j of status.jobs) {
      const list = byScope.get(j.scope)
      if (list) list.push(j)
      else byScope.set(j.scope, [j])
      this.#jobs.set(jobSeries(j.job, j.scope), [j.asked, j.measured, j.allocated ?? NaN, j.throttledS])
    }
    for (const [scope, jobs] of byScope) {
      const sum = (of: (j: JobNow) => number): number => jobs.reduce((n, j) => n + of(j), 0)
      const limit = status.limits.find((l) => l.scope === scope)?.rate ?? NaN
      this.#scopes.set(scope, [sum((j) => j.asked), sum((j) => j.measured), limit, falseAllocation(jobs)])
    }
    for (const l of status.locals) {
      if (l.state === 'lost') continue
      for (const s of l.stages) {
        for (const c of s.channels) this.#channels.set(channelSeries(l.id, s.key, c.channel, c.object), [c.served])
      }
    }
  }
}
