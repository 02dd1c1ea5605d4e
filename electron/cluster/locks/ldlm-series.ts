/**
 * Lock manager counters of the last hour, one row a second: each namespace on each server, and the sums over all of
 * them. Bounded, because servers may print anything.
 */
import type { LdlmCounters } from '#core/lustre/ldlm-counters.ts'
import { SeriesTable } from '#core/series/series-table.ts'

const HOUR = 3_600
/** Maximum namespaces with history; further ones are not shown. */
const SERIES_MAX = 600
/** A value applies up to two rows later: answers of one second do not arrive at once. */
const LOOK_BACK = 2

/** Counts, and grants and cancels a second. */
export const LDLM_COLUMNS = [
  'locks',
  'unused',
  'resources',
  'granted',
  'grantRate',
  'cancelRate',
  'limit',
  'timeouts',
  'contentions',
] as const
export type LdlmMeasure = (typeof LDLM_COLUMNS)[number]
export const ldlmColumn = (m: LdlmMeasure): number => LDLM_COLUMNS.indexOf(m)

export const LDLM_TOTAL_COLUMNS = ['held', 'grants', 'cancels', 'waiting'] as const
export const LDLM_TOTAL = 'total'

/** Rates of a namespace between two readings, locks/s; NaN if unknown. */
export interface LdlmRates {
  readonly grantRate: number
  readonly cancelRate: number
}

export type LdlmReading = LdlmCounters & { readonly rates: LdlmRates }

/** A namespace on a server, and its first and last row. */
export interface KnownNamespace {
  /** Name of its series. */
  readonly key: string
  readonly namespace: string
  readonly target: string
  readonly node: string
  readonly firstRow: number
  lastRow: number
}

const orNaN = (v: number | undefined): number => v ?? NaN

export class LdlmSeries {
  readonly table = new SeriesTable(HOUR, LDLM_COLUMNS)
  readonly totals = new SeriesTable(HOUR, LDLM_TOTAL_COLUMNS)
  /** All locks granted by a server, as it reports them. */
  readonly nodes = new SeriesTable(HOUR, ['granted'])
  readonly #known = new Map<string, KnownNamespace>()
  /** Answers of each server for the newest row. */
  readonly #row = new Map<string, readonly LdlmReading[]>()
  /** Servers that have answered since the start: sums need all of them. */
  readonly #hosts: Set<string>

  /** @param hosts  servers that answered before the first row. */
  constructor(hosts: Iterable<string> = []) {
    this.#hosts = new Set(hosts)
  }

  get known(): IterableIterator<KnownNamespace> {
    return this.#known.values()
  }

  /** Opens the next row: every series is a gap until its server answers. */
  push(atMs: number): void {
    for (const t of [this.table, this.totals, this.nodes]) t.push(atMs)
    this.#row.clear()
    for (const n of this.#known.values()) if (n.lastRow < this.table.oldest) this.#drop(n)
  }

  /** Adds a server's answer; returns how many of its namespaces did not fit. */
  set(node: string, readings: readonly LdlmReading[], grantedOnNode: number | undefined): number {
    let left = 0
    const { newest } = this.table
    for (const r of readings) {
      const key = `${node}\u0000${r.namespace}`
      let n = this.#known.get(key)
      if (!n && this.#known.size >= SERIES_MAX && !this.#grow()) {
        left++
        continue
      }
      if (!n) {
        n = { key, namespace: r.namespace, target: r.target, node, firstRow: newest, lastRow: newest }
        this.#known.set(key, n)
      }
      n.lastRow = newest
      const counts = [r.locks, r.unused, r.resources, r.granted].map(orNaN)
      const rest = [r.limit, r.timeouts, r.contentions].map(orNaN)
      this.table.set(key, ...counts, r.rates.grantRate, r.rates.cancelRate, ...rest)
    }
    this.nodes.set(node, orNaN(grantedOnNode))
    this.#row.set(node, readings)
    this.#hosts.add(node)
    this.#sum()
    return left
  }

  /** Newest row at or before a time; 0 if there is none. */
  rowAt(atMs: number): number {
    const { table } = this
    if (table.newest === 0 || !(table.atMs(table.oldest) <= atMs)) return 0
    const at = table.sampleAt(atMs)
    return table.atMs(at) > atMs ? at - 1 : at
  }

  /** Value of a series at a row, or the last one up to `LOOK_BACK` rows before it; NaN if there is none. */
  value(t: SeriesTable, key: string, column: number, row: number): number {
    for (let r = row; r >= Math.max(1, row - LOOK_BACK); r--) {
      const v = t.value(key, column, r)
      if (!Number.isNaN(v)) return v
    }
    return NaN
  }

  /** Sums of a row exist once all servers have answered: a partial sum would be wrong. */
  #sum(): void {
    for (const host of this.#hosts) if (!this.#row.has(host)) return
    const all = [...this.#row.values()].flat()
    const sum = (of: (r: LdlmReading) => number): number => all.reduce((n, r) => n + of(r), 0)
    this.totals.set(
      LDLM_TOTAL,
      sum((r) => orNaN(r.granted ?? r.locks)),
      sum((r) => r.rates.grantRate),
      sum((r) => r.rates.cancelRate),
      sum((r) => Math.max(0, orNaN(r.locks) - orNaN(r.granted))),
    )
  }

  /** Drops the namespace that has been gone for longest, unless it had a value in this row or the one before. */
  #grow(): boolean {
    let oldest: KnownNamespace | undefined
    for (const n of this.#known.values()) if (!oldest || n.lastRow < oldest.lastRow) oldest = n
    if (!oldest || oldest.lastRow >= this.table.newest - 1) return false
    this.#drop(oldest)
    return true
  }

  #drop({ key }: KnownNamespace): void {
    this.#known.delete(key)
    this.table.drop(key)
  }
}
