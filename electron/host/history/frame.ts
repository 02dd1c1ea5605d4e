/**
 * Frame of the history view: a day and a week of one measure, two ranges side by side, and the contents of the store.
 */
import {
  clusterMeasure,
  groupBy,
  moverTable,
  PLANE_MEASURES,
  planeMeasure,
  type HistoryFrame,
  type HistoryMeasure,
  type HistoryQuery,
  type PlaneMeasure,
  type Span,
} from '#core/api/history.ts'
import { PROMINENT, type JobColors } from '#core/series/job-colors.ts'
import { mainEvents } from '../../base/main-events.ts'
import type { History } from '../../history/history.ts'
import type { HistoryReader } from '../../history/reader.ts'

/** Fewest values that determine the usual value. */
const LEAST = 60
/** Times the median deviation from the median; at least three times the median. */
const TIMES = 6
const FACTOR = 3

const middle = (sorted: readonly number[]): number => sorted[sorted.length >> 1] as number

/**
 * Level from which a measure is well above its usual value on a cluster: the median plus six times the median
 * deviation, and at least three times the median. Single peaks shift neither.
 *
 * @param values  past values; null is a gap.
 * @returns       null if too few values are known, or if the usual value is zero.
 */
function watchLevel(values: readonly (number | null)[]): number | null {
  const known = values.filter((v) => v !== null).sort((a, b) => a - b)
  if (known.length < LEAST) return null
  const usual = middle(known)
  const spread = middle(known.map((v) => Math.abs(v - usual)).sort((a, b) => a - b))
  return usual > 0 ? Math.max(usual + TIMES * spread, FACTOR * usual) : null
}

const DAY_MS = 86_400_000
const QUARTERS = 96
const POINTS = 1_200
const OVERLAY_POINTS = 300
const MARKS = 400
const SINCE = 50
/** Limit of counting. */
const SINCE_MOST = 5_000
/** Time for which data read of the past is reused, ms. */
const HELD_MS = 60_000
const GONE = 50

const dayOf = (atMs: number): number => Math.floor(atMs / DAY_MS) * DAY_MS

interface Held<T> {
  readonly key: string
  readonly untilMs: number
  readonly value: T
}

/** Cache of recent reads, by query: nothing is read again for a minute of wall time. */
class Lately {
  readonly #held = new Map<string, Held<unknown>>()

  get<T>(name: string, key: string, read: () => T, holdMs = HELD_MS): T {
    const held = this.#held.get(name) as Held<T> | undefined
    const nowMs = performance.now()
    if (held?.key === key && nowMs < held.untilMs) return held.value
    const value = read()
    this.#held.set(name, { key, untilMs: nowMs + holdMs, value })
    return value
  }

  forget(name: string): void {
    this.#held.delete(name)
  }
}

export interface HistoryParts {
  readonly reader: HistoryReader
  /** Store of the active source. */
  readonly history: History
  readonly recordings: () => HistoryFrame['recordings']
  readonly head: Pick<HistoryFrame, 'seq' | 'sample' | 'atMs'>
  /** Job colors of the cluster whose history is read. */
  readonly jobColors: JobColors
}

export class HistoryFrames {
  #lately = new Lately()
  #of: HistoryReader | undefined

  build({ reader, history, recordings, head, jobColors }: HistoryParts, query: HistoryQuery): HistoryFrame {
    // Another source, or another file.
    if (this.#of !== reader) this.#lately = new Lately()
    this.#of = reader
    const extent = reader.extent()
    const fromMs = query.dayMs ?? dayOf(extent?.toMs ?? head.atMs ?? 0)
    const { measure, a, b } = query
    const end = (span: Span): boolean => extent !== undefined && span.toMs >= extent.toMs - 60_000
    const spanKey = JSON.stringify([a, b, query.by, query.limit, measure])
    const isPast = (span: Span | null): boolean => span === null || !end(span)
    return {
      ...head,
      cluster: reader.cluster,
      kept: extent ? { fromMs: extent.fromMs, toMs: extent.toMs } : null,
      measure,
      planes: this.#lately.get('planes', '', () => planesOf(reader, extent)),
      day: this.#day(reader, query, fromMs),
      week: this.#week(reader, measure, fromMs),
      a,
      b,
      movers: coloredMovers(
        this.#lately.get('movers', spanKey, () => moversOf(reader, query), isPast(a) && isPast(b) ? HELD_MS : 5_000),
        jobColors,
      ),
      overlay: this.#lately.get('overlay', spanKey, () => overlaysOf(reader, query)),
      since: query.leftMs === null ? null : sinceOf(reader, query.leftMs),
      store: { ...this.#store(history) },
      recordings: this.#lately.get('recordings', '', recordings, 5_000),
    }
  }

  /** The kept samples, or their location, have just changed. */
  changed(): void {
    this.#lately = new Lately()
  }

  /** A recording was checked: only its row has changed. */
  recordingsChanged(): void {
    this.#lately.forget('recordings')
  }

  #store(history: History): HistoryFrame['store'] {
    return this.#lately.get('store', '', () => ({ ...history.usage(), evictions: history.evictions(GONE) }), 2_000)
  }

  #day(reader: HistoryReader, { measure, zoom }: HistoryQuery, fromMs: number): HistoryFrame['day'] {
    const toMs = fromMs + DAY_MS
    const shown = zoom ?? { fromMs, toMs }
    const line = this.#lately.get(
      'day',
      `${measure} ${shown.fromMs} ${shown.toMs}`,
      () => lineOf(reader, measure, shown, POINTS),
      5_000,
    )
    const { marks, gaps } = this.#lately.get(
      'marks',
      `${fromMs}`,
      () => ({
        marks: reader.mainEvents(fromMs, toMs, MARKS).reverse(),
        gaps: reader.gaps(fromMs, toMs).map((g) => ({ ...g })),
      }),
      2_000,
    )
    return {
      fromMs,
      toMs,
      tier: line.tier,
      t: line.t,
      values: line.values,
      marks,
      gaps,
      watch: this.#watch(reader, measure, toMs),
    }
  }

  #watch(reader: HistoryReader, measure: HistoryQuery['measure'], toMs: number): number | null {
    return this.#lately.get('watch', `${measure} ${toMs}`, () =>
      watchLevel(lineOf(reader, measure, { fromMs: toMs - 7 * DAY_MS, toMs }, 7 * QUARTERS).values),
    )
  }

  #week(reader: HistoryReader, measure: HistoryQuery['measure'], lastMs: number): HistoryFrame['week'] {
    return this.#lately.get('week', `${measure} ${lastMs}`, () =>
      Array.from({ length: 7 }, (_, i) => {
        const fromMs = lastMs - (6 - i) * DAY_MS
        return { fromMs, values: quartersOf(reader, measure, fromMs) }
      }),
    )
  }
}

/** Line of a measure over a span, of the cluster or of a plane. */
function lineOf(
  reader: HistoryReader,
  id: HistoryMeasure,
  span: Span,
  points: number,
): ReturnType<HistoryReader['line']> {
  const measure = planeMeasure(id)
  return measure
    ? reader.planeLine(measure.table, measure.column, span, points)
    : reader.line(clusterMeasure.parse(id), span, points)
}

/** Planes with rows; a young store has no minute yet. */
function planesOf(reader: HistoryReader, extent: Span | undefined): HistoryFrame['planes'] {
  if (!extent) return []
  const has = ({ table }: PlaneMeasure): boolean =>
    (['1min', '1s'] as const).some((tier) => {
      const blocks = reader.planeBetween(table, tier, extent.fromMs, extent.toMs)[Symbol.iterator]()
      return blocks.next().done !== true
    })
  return [...Map.groupBy(PLANE_MEASURES, (m) => m.plane)].flatMap(([plane, all]) => (all.some(has) ? [plane] : []))
}

/** Means per quarter hour of a day, at the instants that the store returns. */
function quartersOf(reader: HistoryReader, measure: HistoryQuery['measure'], fromMs: number): (number | null)[] {
  const { t, values } = lineOf(reader, measure, { fromMs, toMs: fromMs + DAY_MS }, QUARTERS * 3)
  const sums = Array.from({ length: QUARTERS }, () => ({ sum: 0, n: 0 }))
  t.forEach((at, i) => {
    const v = values[i]
    const quarter = sums[Math.floor((at - fromMs) / (DAY_MS / QUARTERS))]
    if (!quarter || v === null || v === undefined) return
    quarter.sum += v
    quarter.n++
  })
  return sums.map(({ sum, n }) => (n === 0 ? null : sum / n))
}

type Movers = Omit<HistoryFrame['movers'], 'colour'>

const RPC_UNIT = 'RPC/s'

/** Means of the main column of a table's series, or RPC/s of jobs and groups of them. */
function changesOf(reader: HistoryReader, a: Span, b: Span, { by, limit }: HistoryQuery) {
  const table = moverTable(by)
  if (table) {
    const unit = table.columns.find((c) => c.name === table.main)?.unit ?? ''
    const { rows, rest } = reader.planeMovers(table.id, table.main, a, b, limit)
    return { unit, rows: rows.map((row) => ({ ...row, user: '', account: '' })), rest }
  }
  const { rows, rest } = reader.movers(a, b, groupBy.parse(by), limit)
  return { unit: RPC_UNIT, rows: rows.map((row) => ({ ...row, place: '', jobId: '' })), rest }
}

function moversOf(reader: HistoryReader, query: HistoryQuery): Movers {
  const { a, b, by } = query
  const none = { unit: RPC_UNIT, rows: [], rest: { names: 0, a: 0, b: 0 } }
  const { unit, rows, rest } = a && b ? changesOf(reader, a, b, query) : none
  return {
    by,
    unit,
    name: rows.map((r) => r.name),
    place: rows.map((r) => r.place),
    jobId: rows.map((r) => r.jobId),
    user: rows.map((r) => r.user),
    account: rows.map((r) => r.account),
    a: rows.map((r) => r.a),
    b: rows.map((r) => r.b),
    rest,
  }
}

/** Movers with the current colors of jobs, which change less often than they are read. */
function coloredMovers(movers: Movers, jobColors: JobColors): HistoryFrame['movers'] {
  const jobs = movers.by === 'job' ? movers.name : movers.jobId
  jobColors.colors(jobs.slice(0, PROMINENT).filter((jobId) => jobId !== ''))
  return { ...movers, colour: jobs.map((jobId) => (jobId === '' ? 0 : jobColors.of(jobId))) }
}

function overlaysOf(reader: HistoryReader, { a, b, measure }: HistoryQuery): HistoryFrame['overlay'] {
  if (!a || !b) return null
  const of = (span: Span) => {
    const { t, values } = lineOf(reader, measure, span, OVERLAY_POINTS)
    return { offsetMs: t.map((at) => at - span.fromMs), values }
  }
  return { a: of(a), b: of(b) }
}

/** Events since `lastSeenMs`, oldest first; above the limit those of operators are preferred, and the others counted. */
function sinceOf(reader: HistoryReader, lastSeenMs: number): HistoryFrame['since'] {
  const all = reader.mainEvents(lastSeenMs, Number.MAX_SAFE_INTEGER, SINCE_MOST)
  return { leftMs: lastSeenMs, marks: mainEvents(all, SINCE).reverse(), more: Math.max(0, all.length - SINCE) }
}
