/**
 * Recent history of metadata control: series of jobs in their scopes by sample, and the state of each control cycle.
 */
import type { MetadataSettings } from '#core/api/padll.ts'
import { SeriesTable } from '#core/series/series-table.ts'
import { countOfScope } from '#core/padll/mds/operations.ts'
import type { MeasuredShare } from '#core/padll/mds/controller.ts'
import type { OpCounts } from '#core/padll/mds/operations.ts'
import type { Scope } from '#core/padll/vocabulary.ts'
import { addCounted, secondsOf } from './window.ts'
import { METADATA_COLUMNS, metadataSeries, type MetadataState } from './state.ts'

/** Maximum raw samples: as many as a cluster has in memory. */
const SAMPLES = 1_800
/** Jobs in their scopes that have series; others appear only in the newest state. */
const SERIES = 1_000
/** Stored cycles: three minutes of one a second. */
const STATES = 180
/** Rules, jobs and steps of policies in all stored states: beyond it the oldest states are dropped. */
const ENTRIES = 60_000

/** Operations of one job in one scope over a period. */
export interface MetadataCount {
  readonly job: string
  readonly scope: Scope
  readonly operations: number
  /** Allocation at its last sample; null if unlimited. */
  readonly allocated: number | null
}

export class MetadataSeries {
  /** See `METADATA_COLUMNS`; samples are numbered as in `Recent.raw`. */
  readonly table = new SeriesTable(SAMPLES, METADATA_COLUMNS)
  readonly #spanS: number
  /** Operations of the last samples, by series. */
  readonly #counts = new Map<string, Parameters<typeof addCounted<number>>[0]>()
  /** Operations since `takePeriod`, by series, and the seconds in which they were counted. */
  #period = new Map<string, MetadataCount>()
  #periodS = 0
  #states: MetadataState[] = []
  #entries = 0
  #hasDropped = false

  /** @param spanS  window of a rate, s. */
  constructor(spanS: number) {
    this.#spanS = spanS
  }

  /** Newest state at or before a sample; undefined if it is no longer (or not yet) known. */
  stateAt(sample: number): MetadataState | undefined {
    return this.#states.findLast((s) => s.sample <= sample)
  }

  get newest(): MetadataState | undefined {
    return this.#states.at(-1)
  }

  keep(state: MetadataState): void {
    this.#states.push(state)
    this.#entries += entriesIn(state)
    while (this.#states.length > STATES || (this.#entries > ENTRIES && this.#states.length > 1)) {
      this.#entries -= entriesIn(this.#states.shift() as MetadataState)
      this.#hasDropped = true
    }
  }

  /** Time from the oldest to the newest state, ms, if a sample precedes them and its state was dropped. */
  forgottenAt(sample: number): number | undefined {
    const [oldest] = this.#states
    const newest = this.newest
    if (!oldest || !newest || !this.#hasDropped || sample >= oldest.sample) return undefined
    return newest.atMs - oldest.atMs
  }

  /**
   * Adds one sample.
   *
   * @param jobs  operations of each job in it on all servers; undefined if one was not measured.
   */
  push(
    atMs: number,
    jobs: ReadonlyMap<string, readonly OpCounts[]> | undefined,
    shares: readonly MeasuredShare[],
    { limits }: MetadataSettings,
    periodS: number,
  ): void {
    this.table.push(atMs)
    if (jobs) this.#periodS += periodS
    const scopes = new Map<Scope, { measured: number; allocated: number }>()
    for (const { scope } of limits) scopes.set(scope, { measured: jobs ? 0 : NaN, allocated: 0 })
    const alive = new Set<string>()
    for (const { job, scope, allocated } of shares.slice(0, SERIES)) {
      const name = metadataSeries(job, scope)
      alive.add(name)
      const count = jobs && (jobs.get(job) ?? []).reduce((n, ops) => n + countOfScope(ops, scope), 0)
      if (count !== undefined) this.#count(name, job, scope, count, allocated ?? null)
      const measured = this.#rate(name, count, periodS)
      this.table.set(name, measured, allocated ?? NaN, NaN)
      const sum = scopes.get(scope) ?? { measured: 0, allocated: 0 }
      scopes.set(scope, { measured: sum.measured + measured, allocated: sum.allocated + (allocated ?? 0) })
    }
    for (const [scope, sum] of scopes) {
      for (const [job, ops] of jobs ?? []) {
        const name = metadataSeries(job, scope)
        if (alive.has(name) || alive.size >= SERIES) continue
        const count = ops.reduce((n, o) => n + countOfScope(o, scope), 0)
        // A job without a policy is recorded while it is active.
        if (count === 0) continue
        alive.add(name)
        this.#count(name, job, scope, count, null)
        const measured = this.#rate(name, count, periodS)
        this.table.set(name, measured, NaN, NaN)
        sum.measured += measured
      }
    }
    for (const [scope, { measured, allocated }] of scopes) {
      const name = metadataSeries('', scope)
      alive.add(name)
      this.table.set(name, measured, allocated, limits.find((l) => l.scope === scope)?.rate ?? NaN)
    }
    for (const name of this.#counts.keys()) if (!alive.has(name)) this.#counts.delete(name)
    // Series of jobs that no policy names any more are dropped with the oldest samples.
    if (this.table.newest % SAMPLES === 0) {
      for (const name of [...this.table.names]) if (!alive.has(name)) this.table.drop(name)
    }
  }

  /** Operations counted since the last call, and the seconds that they cover: less than the time in between after gaps. */
  takePeriod(): { readonly counts: readonly MetadataCount[]; readonly seconds: number } {
    const taken = { counts: [...this.#period.values()], seconds: this.#periodS }
    this.#period = new Map()
    this.#periodS = 0
    return taken
  }

  #count(name: string, job: string, scope: Scope, count: number, allocated: number | null): void {
    const operations = (this.#period.get(name)?.operations ?? 0) + count
    this.#period.set(name, { job, scope, operations, allocated })
  }

  /** Mean over the last second; restarts after a gap. */
  #rate(name: string, count: number | undefined, periodS: number): number {
    const counts = this.#counts.get(name) ?? []
    this.#counts.set(name, counts)
    if (count === undefined) {
      counts.length = 0
      return NaN
    }
    addCounted(counts, { counts: count, seconds: periodS }, this.#spanS)
    return counts.reduce((n, c) => n + c.counts, 0) / secondsOf(counts)
  }
}

const entriesIn = (state: MetadataState): number =>
  state.servers.reduce((n, s) => n + s.rules.length, state.jobs.length + state.steps.length)
