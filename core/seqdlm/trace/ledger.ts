/**
 * Counts of every resource at any time: copies at the ends of buckets, refined by the steps since.
 *
 * Exact to the ns as far back as the steps are kept; before that, as of the last end of a bucket at or before the time,
 * so that later events are never counted.
 */
import type { ResourceId } from '../messages.ts'
import { BUCKET_NS, Counts, follow, LONGEST, RESOURCE_WIDTH, WAITING, WIDTH } from './counts.ts'
import { StepLog } from './step-log.ts'

export interface LedgerLimits {
  /** Steps kept: a power of two. */
  readonly steps: number
  /** Time span of the counts. */
  readonly bucketsNs: number
  /** Copies of rows, all resources together. */
  readonly copies: number
}

export class Ledger {
  readonly all = new Counts(0)
  readonly #limits: LedgerLimits
  readonly #log: StepLog
  readonly #counts = new Map<ResourceId, Counts>()
  #places = 0
  #copies = 0
  /** Longest time span that fits, ns. */
  #retentionNs: number
  /** Start of the known counts, ns. */
  #since = -Infinity

  constructor(limits: LedgerLimits) {
    this.#limits = limits
    this.#log = new StepLog(limits.steps)
    this.#retentionNs = limits.bucketsNs
  }

  /** Start of the known counts, ns; -Infinity while nothing was dropped. */
  get since(): number {
    return this.#since
  }

  get copies(): number {
    return this.#copies
  }

  get resources(): ReadonlyMap<ResourceId, Counts> {
    return this.#counts
  }

  of(resource: ResourceId): Counts {
    let counts = this.#counts.get(resource)
    if (counts === undefined) this.#counts.set(resource, (counts = new Counts(++this.#places)))
    return counts
  }

  forget(resource: ResourceId): void {
    this.#copies -= this.#counts.get(resource)?.copies ?? 0
    this.#counts.delete(resource)
  }

  step(counts: Counts, at: number, code: number, modes: number, flags: number, value: number): void {
    this.#log.push(at, counts.place, code, modes, flags, value)
    if (counts.step(at, code, modes, flags, value)) this.#copied(counts, at)
    if (this.all.step(at, code, modes, flags, value)) this.#copied(this.all, at)
  }

  /** Row at a time, inclusive; null if no longer known. */
  rowAt(counts: Counts, at: number): Float64Array | null {
    if (counts.lastAt <= at) return counts.row
    const row = new Float64Array(WIDTH)
    if (at < this.#since || !counts.before(at, row)) return null
    const from = Math.floor(at / BUCKET_NS) * BUCKET_NS
    if (this.#log.reaches(from)) {
      for (let s = this.#log.after(from); s < this.#log.next && this.#log.at(s) <= at; s++) {
        if (counts.place === 0 || this.#log.placeOf(s) === counts.place) this.#follow(row, s)
      }
    }
    return row
  }

  /** Rows of every resource at a time, read together; the longest queue is that of the current bucket. */
  rowsAt(at: number): (counts: Counts) => Float64Array | null {
    if (this.all.lastAt <= at) return (counts) => counts.row
    const rows = new Map<number, Float64Array>()
    const from = Math.floor(at / BUCKET_NS) * BUCKET_NS
    if (this.#log.reaches(from) && at >= this.#since) {
      const later = new Map<number, Counts>()
      for (const c of this.#counts.values()) if (c.lastAt > at) later.set(c.place, c)
      for (let s = this.#log.after(from); s < this.#log.next && this.#log.at(s) <= at; s++) {
        const counts = later.get(this.#log.placeOf(s))
        if (counts === undefined) continue
        let row = rows.get(counts.place)
        if (row === undefined) {
          row = new Float64Array(WIDTH)
          if (!counts.before(at, row)) continue
          row[LONGEST] = row[WAITING] as number
          rows.set(counts.place, row)
        }
        this.#follow(row, s)
      }
    }
    return (counts) => {
      if (counts.lastAt <= at) return counts.row
      const known = rows.get(counts.place)
      if (known !== undefined) return known
      const row = new Float64Array(RESOURCE_WIDTH)
      if (at < this.#since || !counts.before(at, row)) return null
      row[LONGEST] = row[WAITING] as number
      return row
    }
  }

  /**
   * Longest queue of each of `bins` equal bins of [from, to]; NaN if unknown.
   *
   * Exact as far back as the steps are kept. Before that a bin has the longest queue of the buckets it touches that
   * ended by `to`; the first of these buckets may begin before the bin.
   */
  queue(counts: Counts, from: number, to: number, bins: number): Float64Array {
    const out = new Float64Array(bins).fill(NaN)
    const width = (to - from) / bins
    const exactFrom = this.#exactFrom(counts, from)
    for (let i = 0; i < bins; i++) {
      const start = from + i * width
      if (start >= exactFrom || start < this.#since) continue
      const bucketEnd = Math.ceil((start + width) / BUCKET_NS) * BUCKET_NS
      out[i] = counts.longest(start, Math.min(bucketEnd, to))
    }
    this.steps(counts, Math.max(from, exactFrom), to, (start, end, waiting) => {
      const first = width > 0 ? Math.min(Math.floor((start - from) / width), bins - 1) : 0
      const last = width > 0 && end > start ? Math.ceil((end - from) / width) - 1 : width > 0 ? first : bins - 1
      for (let i = first; i <= Math.min(last, bins - 1); i++) if (!(out[i]! >= waiting)) out[i] = waiting
    })
    return out
  }

  /**
   * Reports every length of the queue in [from, to] with its start and end (exclusive, except for zero duration);
   * nothing where the steps are not kept.
   */
  steps(counts: Counts, from: number, to: number, report: (start: number, end: number, waiting: number) => void): void {
    if (from > to) return
    const row = new Float64Array(WIDTH)
    const base = Math.floor(from / BUCKET_NS) * BUCKET_NS
    // A bucket includes its end: events exactly at a border belong to the bucket before.
    if (counts.lastAt < from || (counts.lastAt === from && base === from)) {
      report(from, to, counts.row[WAITING] as number)
      return
    }
    if (!this.#log.reaches(base) || !counts.before(from, row)) return
    let at = -Infinity
    for (let s = this.#log.after(base); s < this.#log.next; s++) {
      const next = this.#log.at(s)
      if (next > to) break
      if (this.#log.placeOf(s) !== counts.place) continue
      const waiting = row[WAITING] as number
      this.#follow(row, s)
      if (row[WAITING] === waiting) continue
      if (next > from || at === from) report(Math.max(at, from), next, waiting)
      at = next
    }
    report(Math.max(at, from), to, row[WAITING] as number)
  }

  /** Time at or after `from` from which the kept steps suffice. */
  #exactFrom(counts: Counts, from: number): number {
    const { droppedAt } = this.#log
    if (counts.lastAt < from || droppedAt === -Infinity) return from
    return Math.max(from, Math.ceil(droppedAt / BUCKET_NS) * BUCKET_NS)
  }

  #follow(row: Float64Array, step: number): void {
    this.#log.visit(step, row, follow)
  }

  #copied(counts: Counts, at: number): void {
    this.#copies++
    if (at - this.#retentionNs > 0) this.#copies -= counts.trim(at - this.#retentionNs)
    while (this.#copies > this.#limits.copies && this.#retentionNs > 4 * BUCKET_NS) {
      this.#retentionNs *= 0.75
      for (const c of [...this.#counts.values(), this.all]) this.#copies -= c.trim(at - this.#retentionNs)
    }
    if (at - this.#retentionNs > this.#since) this.#since = at - this.#retentionNs
  }
}
