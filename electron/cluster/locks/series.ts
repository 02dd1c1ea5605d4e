/** Locks held, granted, cancelled and waited for: every sample for three minutes, means of a second for an hour. */
import { SeriesTable } from '#core/series/series-table.ts'

const RAW = 1_800
const SECONDS = 3_600
/** Counts are counted, rates are a second. */
export const LOCK_COLUMNS = ['held', 'grants', 'cancels', 'waiting'] as const
export type LockMeasure = (typeof LOCK_COLUMNS)[number]
const ALL = 'all'
const column = (m: LockMeasure): number => LOCK_COLUMNS.indexOf(m)

const orNull = (v: number): number | null => (Number.isNaN(v) ? null : v)

export class LockSeries {
  readonly #raw = new SeriesTable(RAW, LOCK_COLUMNS)
  readonly #seconds = new SeriesTable(SECONDS, LOCK_COLUMNS)
  #secondMs = 0
  #secondFrom = 1

  /** Takes the next sample; samples are counted from 1, without holes. */
  add(atMs: number, values: Readonly<Record<LockMeasure, number>>): void {
    const second = Math.floor(atMs / 1000) * 1000
    if (second !== this.#secondMs) this.#closeSecond(second)
    this.#raw.push(atMs)
    this.#raw.set(ALL, ...LOCK_COLUMNS.map((m) => values[m]))
  }

  value(measure: LockMeasure, sample: number): number | null {
    return orNull(this.#raw.value(ALL, column(measure), sample))
  }

  /** Mean of the last `n` samples up to `sample`; null where none of them is known. */
  mean(measure: LockMeasure, sample: number, n: number): number | null {
    return orNull(this.#raw.mean(ALL, column(measure), sample, n))
  }

  /** Mean of the window before the one that ends at a sample; null where that is not known in whole. */
  meanBefore(measure: LockMeasure, sample: number, windowMs: number): number | null {
    const { table, to } = this.#tableFor(sample, 2 * windowMs)
    const border = table.sampleAt(table.atMs(to) - windowMs)
    const from = table.sampleAt(table.atMs(border) - windowMs)
    if (!(table.atMs(border) - windowMs >= table.atMs(table.oldest))) return null
    return orNull(table.mean(ALL, column(measure), border, border - from))
  }

  /**
   * The window that ends at a sample, thinned by means.
   *
   * @param points  most points, >= 2.
   */
  window(
    sample: number,
    windowMs: number,
    points: number,
  ): { readonly t: number[] } & Readonly<Record<LockMeasure, (number | null)[]>> {
    const { table, to } = this.#tableFor(sample, windowMs)
    if (to === 0) return { t: [], held: [], grants: [], cancels: [], waiting: [] }
    const { from, step } = table.window(to, windowMs, points)
    const of = (m: LockMeasure): (number | null)[] => table.downsample(ALL, column(m), from, to, step)
    return {
      t: table.times(from, to, step),
      ...{ held: of('held'), grants: of('grants'), cancels: of('cancels'), waiting: of('waiting') },
    }
  }

  /** Samples as taken while they reach back far enough, else seconds. */
  #tableFor(sample: number, windowMs: number): { table: SeriesTable; to: number } {
    const raw = { table: this.#raw, to: Math.min(sample, this.#raw.newest) }
    const atMs = this.#raw.atMs(raw.to)
    const isEnough = this.#raw.oldest === 1 || atMs - windowMs >= this.#raw.atMs(this.#raw.oldest)
    if (isEnough) return raw
    // A second is known from its end on: a coarse picture of the past never holds what came after it.
    const next = this.#seconds.sampleAt(atMs - 1000)
    const to = this.#seconds.atMs(next) <= atMs - 1000 ? next : next - 1
    return to >= this.#seconds.oldest ? { table: this.#seconds, to } : raw
  }

  #closeSecond(next: number): void {
    const [from, to] = [this.#secondFrom, this.#raw.newest]
    if (to >= from && this.#secondMs > 0) {
      this.#seconds.push(this.#secondMs)
      this.#seconds.set(ALL, ...LOCK_COLUMNS.map((_, c) => this.#raw.mean(ALL, c, to, to - from + 1)))
    }
    this.#secondMs = next
    this.#secondFrom = to + 1
  }
}
