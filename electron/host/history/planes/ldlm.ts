/**
 * Counters of Lustre's lock manager at a past instant, from the readings that a history has of the last day. They are put into the
 * series of the live view, so that rows, conditions and charts are the same. Not recorded: why a server did not answer. A server
 * that is silent for longer than the window is not known to be missing.
 */
import type { Notice } from '#core/api/parts.ts'
import { byCodeUnit } from '#core/base/order.ts'
import { targetOfNamespace } from '#core/lustre/ldlm-counters.ts'
import { LDLM_COLUMNS, LdlmSeries, type LdlmReading } from '../../../cluster/locks/ldlm-series.ts'
import type { LdlmSample } from '../../../history/ldlm-table.ts'
import { cadenceOf, isHole, missingFrom } from '../../../history/parts.ts'
import type { HistoryReader } from '../../../history/reader.ts'
import { ldlmPart, type LdlmCounts, type LdlmPart, type LdlmQuery } from '../../views/locks/ldlm.ts'
import { ageNotice, notRecorded } from './head.ts'

const SECOND_MS = 1000
/** Range that conditions need: cancels of now, and those of five minutes before. */
const RECENT_MS = 310_000
/** Readings are read up to the next multiple of it, and used for all instants until then. */
const AHEAD_MS = 30_000
/** A longer window is read as means in so many steps. */
const STEPS = 280
const STEPS_AHEAD = 8
/** Time after which readings of an instant are on disk. */
const WRITTEN_MS = 15_000
const LOADED_MAX = 4
const NOT_RECORDED_REASON = 'no reading was recorded at this instant'

const orUndefined = (v: number | null): number | undefined => v ?? undefined
const orNaN = (v: number | null): number => v ?? NaN

const readingOf = (s: LdlmSample): LdlmReading => ({
  namespace: s.namespace,
  target: targetOfNamespace(s.namespace),
  locks: orUndefined(s.locks),
  unused: orUndefined(s.unused),
  resources: orUndefined(s.resources),
  timeouts: orUndefined(s.timeouts),
  contentions: orUndefined(s.contentions),
  granted: orUndefined(s.granted),
  limit: orUndefined(s.limit),
  rates: { grantRate: orNaN(s.grants), cancelRate: orNaN(s.cancels) },
  contendedLocks: undefined,
  grantRate: undefined,
  cancelRate: undefined,
  total: undefined,
})

interface Loaded {
  readonly series: LdlmSeries
  /** Namespaces of each server's last answer that did not fit. */
  readonly left: ReadonlyMap<string, number>
}

/** Fills a series with readings, oldest first; missing ones are rows without values. */
function seriesOf(samples: readonly LdlmSample[], hosts: Iterable<string>, leastMs: number): Loaded {
  const series = new LdlmSeries(hosts)
  const left = new Map<string, number>()
  const rows = Map.groupBy(samples, (s) => s.atMs)
  const instants = Float64Array.from(rows.keys())
  const cadence = cadenceOf(instants, leastMs)
  const missing = missingFrom(cadence)
  instants.forEach((atMs, i) => {
    if (isHole(instants, i, missing)) {
      for (let t = (instants[i - 1] as number) + cadence; t < atMs - cadence / 2; t += cadence) series.push(t)
    }
    series.push(atMs)
    for (const [node, own] of Map.groupBy(rows.get(atMs) ?? [], (s) => s.node)) {
      const granted = orUndefined(own.find((s) => s.namespace === '')?.granted ?? null)
      const readings = own.filter((s) => s.namespace !== '').map(readingOf)
      left.set(node, series.set(node, readings, granted))
    }
  })
  return { series, left }
}

/** Servers with a namespace in a series at or before a row. */
const hostsAt = ({ known }: LdlmSeries, row: number): Set<string> =>
  new Set([...known].flatMap((n) => (n.firstRow <= row ? [n.node] : [])))

/** Servers with a value at a row, or shortly before. */
const answeredAt = (series: LdlmSeries, row: number): Set<string> =>
  new Set(
    [...series.known].flatMap(({ key, node }) =>
      LDLM_COLUMNS.some((_, c) => !Number.isNaN(series.value(series.table, key, c, row))) ? [node] : [],
    ),
  )

class PastCounters {
  readonly #reader: HistoryReader
  /** Series by range, the oldest first. */
  readonly #loaded = new Map<string, Loaded>()

  constructor(reader: HistoryReader) {
    this.#reader = reader
  }

  at(atMs: number, windowMs: number, staleMs: number): LdlmCounts {
    const charts = windowMs > RECENT_MS ? this.#chart(atMs, windowMs).series : undefined
    const { series, left } = this.#recent(atMs, charts)
    return {
      series,
      ...(charts && { charts }),
      omitted: [...left.values()].reduce((n, v) => n + v, 0),
      missingAt: (at) => {
        const row = series.rowAt(at)
        const isStale = row === 0 || at - series.table.atMs(row) > staleMs
        const answered = isStale ? new Set<string>() : answeredAt(series, row)
        const hosts = new Set([...hostsAt(series, row), ...(charts ? hostsAt(charts, charts.rowAt(at)) : [])])
        const silent = [...hosts].filter((node) => !answered.has(node)).sort(byCodeUnit)
        return silent.map((node) => ({ node, reason: NOT_RECORDED_REASON }))
      },
    }
  }

  /** Every reading of the last minutes before an instant. */
  #recent(atMs: number, charts: LdlmSeries | undefined): Loaded {
    const startMs = Math.floor(atMs / AHEAD_MS) * AHEAD_MS
    const fromMs = startMs - RECENT_MS
    const toMs = startMs + AHEAD_MS
    const before = charts ? [...hostsAt(charts, charts.rowAt(fromMs))].sort() : []
    return this.#cached(JSON.stringify([fromMs, before]), toMs, () =>
      seriesOf(this.#reader.ldlmBetween(fromMs, toMs), before, SECOND_MS),
    )
  }

  /** Means over the steps of a window that ends at an instant. */
  #chart(atMs: number, windowMs: number): Loaded {
    const stepMs = Math.ceil(windowMs / STEPS / SECOND_MS) * SECOND_MS
    const aheadMs = Math.max(STEPS_AHEAD, Math.ceil(AHEAD_MS / stepMs)) * stepMs
    const startMs = Math.floor(atMs / aheadMs) * aheadMs
    const fromMs = startMs - (STEPS + 1) * stepMs
    const toMs = startMs + aheadMs
    return this.#cached(JSON.stringify([fromMs, stepMs]), toMs, () =>
      seriesOf(this.#reader.ldlmBetween(fromMs, toMs - 1, stepMs), [], stepMs),
    )
  }

  /** Series of a range; read again while the history may still get readings of it. */
  #cached(range: string, toMs: number, load: () => Loaded): Loaded {
    const writtenMs = Math.min(this.#reader.extent()?.toMs ?? 0, toMs + WRITTEN_MS)
    const key = `${range} ${writtenMs}`
    const loaded = this.#loaded.get(key) ?? load()
    this.#loaded.delete(key)
    this.#loaded.set(key, loaded)
    for (const old of this.#loaded.keys()) if (this.#loaded.size > LOADED_MAX) this.#loaded.delete(old)
    return loaded
  }
}

const counters = new WeakMap<HistoryReader, PastCounters>()

/** Distance to the newest reading, in steps of the tier shown, and at least this time. */
const STEPS_STALE = 1.5
const STALE_MS = 3_000

/** Lock counters at an instant; undefined without any reading in the window before it. */
export function pastLdlm(
  reader: HistoryReader,
  { atMs, stepMs }: { readonly atMs: number; readonly stepMs: number },
  query: LdlmQuery,
): LdlmPart | undefined {
  const past = counters.get(reader) ?? new PastCounters(reader)
  counters.set(reader, past)
  const staleMs = Math.max(STALE_MS, STEPS_STALE * stepMs)
  const counts = past.at(atMs, query.windowMs, staleMs)
  const row = counts.series.rowAt(atMs)
  if (row === 0 && (counts.charts?.rowAt(atMs) ?? 0) === 0) return undefined
  const ageMs = row === 0 ? Infinity : atMs - counts.series.table.atMs(row)
  const notice: Notice =
    ageMs > staleMs ? notRecorded('Lock counters') : ageNotice('Lock counters', ageMs, NOT_IN_ROWS, stepMs)
  return { ...ldlmPart(counts, query, { atMs }, staleMs), notices: [notice] }
}

const NOT_IN_ROWS = 'rows do not have the reasons why servers did not answer'
