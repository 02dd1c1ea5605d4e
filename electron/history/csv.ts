/**
 * CSV export of the history (RFC 4180), as a generator of parts, so that a year takes no more memory than a minute. Times are ISO
 * 8601 in UTC, a gap is an empty cell. Names are chosen by users of the cluster: a text cell that a spreadsheet would take for a
 * formula is prefixed with an apostrophe.
 */
import type { CsvQuery, GroupBy, TierId } from '#core/api/history.ts'
import { csvCell } from '#core/base/csv-cell.ts'
import { fail, ok, type Result } from '#core/base/result.ts'
import { BRW_STORED, type BrwStored } from '#core/lustre/brw-stats.ts'
import { planeTable, type PlaneTableId } from '#core/series/plane-tables.ts'
import { recordAt } from './one-series.ts'
import { JOB_COLUMNS, type Block, type HistoryReader, type HistoryJob } from './reader.ts'
import { sevenDigits } from './seven-digits.ts'
import {
  clusterParts,
  CLUSTER_VALUES,
  eventsBetween,
  isoTime,
  JOB_FACTS,
  JOB_RATES,
  JOB_SHARES,
  planeNameColumns,
  planeNames,
  planeTier,
  TARGET_NAMES,
  TARGET_VALUES,
} from './tables.ts'

export interface CsvPart {
  readonly text: string
  /** Rows in it, without the header. */
  readonly rows: number
  readonly isLast: boolean
  /** Fraction of the range that is written, 0..1, by the times of its rows. */
  readonly done: number
}

/** Characters per part. */
const PART = 64 * 1024
const JOBS_MAX = 50_000

type Cell = string | number | null

const cell = (v: Cell): string => {
  if (v === null) return ''
  return typeof v === 'number' ? String(v) : csvCell(v)
}

/** Cells, or a row that is already text, for the many rows of jobs and targets. */
type Rows = Generator<readonly Cell[] | string, void, void>
const [RPCS, READ, WRITE, THROTTLED, MDOPS] = (['rpcs', 'readBps', 'writeBps', 'throttled', 'mdops'] as const).map(
  (c) => JOB_COLUMNS.indexOf(c),
) as [number, number, number, number, number]
const RATES = [RPCS, READ, WRITE, MDOPS]
const RATE_HEADS = JOB_RATES.map(({ name }) => name)

/** Caches the lookup of a key, up to a limit. */
function remembered<T>(find: (key: number) => T): (key: number) => T {
  const known = new Map<number, { readonly is: T }>()
  return (key) => {
    let of = known.get(key)
    if (!of) {
      if (known.size >= JOBS_MAX) known.clear()
      known.set(key, (of = { is: find(key) }))
    }
    return of.is
  }
}

function* jobRows(reader: HistoryReader, tier: TierId, q: CsvQuery): Rows {
  const who = remembered((key) => {
    const j = reader.job(key)
    return [j?.jobId ?? '', j?.user ?? '', j?.account ?? '', j?.exe ?? '', j?.nodes ?? null].map(cell).join(',')
  })
  for (const b of reader.jobsBetween(tier, q.fromMs, q.toMs - 1)) {
    const time = isoTime(b.atMs)
    const columns = [...RATES, THROTTLED].map((c) => b.columns[c])
    for (let i = 0; i < b.keys.length; i++) {
      let row = `${time},${who(b.keys[i] as number)}`
      for (const column of columns) row += `,${sevenDigits(column?.[i])}`
      yield `${row},${cell(recordAt(b, i))}`
    }
  }
}

const NAMES: Readonly<Record<Exclude<GroupBy, 'job'>, (j: HistoryJob | undefined) => string>> = {
  user: (j) => j?.user ?? '',
  account: (j) => j?.account ?? '',
  exe: (j) => j?.exe ?? '',
}

/** Sums of an instant by group; a gap in any member is a gap of the group. */
function groupsOf(b: Block, nameOf: (key: number) => string): Map<string, number[]> {
  const groups = new Map<string, number[]>()
  for (let i = 0; i < b.keys.length; i++) {
    const name = nameOf(b.keys[i] as number)
    let sums = groups.get(name)
    if (!sums) groups.set(name, (sums = [0, 0, 0, 0, 0]))
    sums[0] = (sums[0] ?? 0) + 1
    RATES.forEach((c, k) => (sums[k + 1] = (sums[k + 1] ?? 0) + (b.columns[c]?.[i] ?? NaN)))
  }
  return groups
}

function* groupRows(reader: HistoryReader, tier: TierId, q: CsvQuery, by: Exclude<GroupBy, 'job'>): Rows {
  const job = remembered((key) => reader.job(key))
  for (const b of reader.jobsBetween(tier, q.fromMs, q.toMs - 1)) {
    const time = isoTime(b.atMs)
    for (const [name, [jobs, ...rates]] of groupsOf(b, (key) => NAMES[by](job(key)))) {
      yield [time, csvCell(name), jobs ?? 0, ...rates.map(sevenDigits)].join(',')
    }
  }
}

function* targetRows(reader: HistoryReader, tier: TierId, q: CsvQuery): Rows {
  const targets = new Map(reader.allTargets().map((t) => [t.key, `${csvCell(t.target)},${csvCell(t.node)}`]))
  for (const b of reader.targetsBetween(tier, q.fromMs, q.toMs - 1)) {
    const time = isoTime(b.atMs)
    for (let i = 0; i < b.keys.length; i++) {
      let row = `${time},${targets.get(b.keys[i] as number) ?? ','}`
      for (const column of b.columns) row += `,${sevenDigits(column[i])}`
      yield row
    }
  }
}

function* planeRows(reader: HistoryReader, table: PlaneTableId, q: CsvQuery): Rows {
  const namesOf = remembered((key) => planeNames(reader, table, key).map(csvCell).join(','))
  const tier = planeTier(reader, q.tier, q.fromMs, q.toMs)
  for (const b of reader.planeBetween(table, tier, q.fromMs, q.toMs - 1)) {
    const time = isoTime(b.atMs)
    for (let i = 0; i < b.keys.length; i++) {
      let row = `${time},${namesOf(b.keys[i] as number)}`
      for (const column of b.columns) row += `,${sevenDigits(column[i])}`
      yield row
    }
  }
}

function* clusterRows(reader: HistoryReader, tier: TierId, q: CsvQuery): Rows {
  for (const { t, columns } of clusterParts(reader, tier, q.fromMs, q.toMs)) {
    for (let i = 0; i < t.length; i++)
      yield [isoTime(t[i] as number), ...columns.map((c) => sevenDigits(c[i]))].join(',')
  }
}

/** Newest first, as the event list shows them. */
function* eventRows(reader: HistoryReader, q: CsvQuery): Rows {
  for (const m of eventsBetween(reader, q.fromMs, q.toMs))
    yield [isoTime(m.atMs), m.kind, m.level, m.subject, m.where, m.text]
}

function* ruleRows(reader: HistoryReader, q: CsvQuery): Rows {
  for (const r of reader.rulesBetween(q.fromMs, q.toMs - 1)) {
    const until = r.toMs === null ? null : isoTime(r.toMs)
    yield [isoTime(r.fromMs), until, r.server, r.queue, r.cpt, r.position, r.name, r.conditions, r.rate]
  }
}

/** One row per bin; empty bins have none. */
function* diskRows(reader: HistoryReader, q: CsvQuery): Rows {
  for (const { atMs, target, seconds, bins } of reader.brwBetween(q.fromMs, q.toMs - 1)) {
    for (const quantity of BRW_STORED) {
      for (const [upper, reads, writes] of bins[quantity] ?? []) {
        yield [isoTime(atMs), target, seconds, DISK_QUANTITIES[quantity], upper, reads, writes]
      }
    }
  }
}
const DISK_QUANTITIES: Readonly<Record<BrwStored, string>> = {
  sizeBytes: 'size_bytes',
  timeMs: 'time_ms',
  inFlight: 'in_flight',
  fragments: 'fragments',
}

function* timeoutRows(reader: HistoryReader, q: CsvQuery): Rows {
  for (const r of reader.timeoutsBetween(q.fromMs, q.toMs - 1)) {
    yield [isoTime(r.atMs), r.node, r.service, r.cpt, r.current, r.worst, isoTime(r.worstAtS * 1000)]
  }
}

function tableOf(reader: HistoryReader, q: CsvQuery): { readonly head: readonly string[]; readonly rows: Rows } {
  const tier = q.tier ?? reader.tierFor(q.fromMs, q.toMs - 1, Infinity)
  switch (q.what) {
    case 'jobs': {
      if (q.by !== 'job') return { head: ['time', q.by, 'jobs', ...RATE_HEADS], rows: groupRows(reader, tier, q, q.by) }
      return { head: timed(JOB_FACTS, JOB_RATES, JOB_SHARES), rows: jobRows(reader, tier, q) }
    }
    case 'targets':
      return { head: timed(TARGET_NAMES, TARGET_VALUES), rows: targetRows(reader, tier, q) }
    case 'cluster':
      return { head: timed(CLUSTER_VALUES), rows: clusterRows(reader, tier, q) }
    case 'disk':
      return {
        head: ['time', 'target', 'seconds', 'quantity', 'up_to', 'reads', 'writes'],
        rows: diskRows(reader, q),
      }
    case 'timeouts':
      return {
        head: ['time', 'node', 'service', 'cpt', 'estimate_s', 'worst_s', 'worst_at'],
        rows: timeoutRows(reader, q),
      }
    case 'events':
      return { head: ['time', 'kind', 'level', 'subject', 'where', 'text'], rows: eventRows(reader, q) }
    case 'rules':
      return {
        head: ['from', 'to', 'server', 'queue', 'cpt', 'position', 'name', 'conditions', 'rate_per_s'],
        rows: ruleRows(reader, q),
      }
    default:
      return {
        head: timed(planeNameColumns(q.what), planeTable(q.what).columns),
        rows: planeRows(reader, q.what, q),
      }
  }
}

/** Header of a table: the time and the names of its columns. */
const timed = (...columns: readonly (readonly { readonly name: string }[])[]): string[] => [
  'time',
  ...columns.flat().map(({ name }) => name),
]

/** Length of a time as `isoTime` writes it. */
const ISO_LENGTH = 24

/** Fraction of the stored part of the range that precedes a row; rows are in ascending or descending time order. */
function progressOf(
  reader: HistoryReader,
  { fromMs, toMs, what }: CsvQuery,
): (row: readonly Cell[] | string) => number {
  const extent = reader.extent()
  const from = Math.max(fromMs, extent?.fromMs ?? fromMs)
  const to = Math.min(toMs, extent?.toMs ?? toMs)
  let done = 0
  return (row) => {
    const at = Date.parse(typeof row === 'string' ? row.slice(0, ISO_LENGTH) : String(row[0]))
    const share = (what === 'events' ? to - at : at - from) / Math.max(1, to - from)
    if (share > done) done = Math.min(1, share)
    return done
  }
}

/** Generates the text of a query in parts; at least one, the last is marked. */
export function* csvText(reader: HistoryReader, query: CsvQuery): Generator<CsvPart, void, void> {
  const { head, rows } = tableOf(reader, query)
  const progress = progressOf(reader, query)
  let text = `${head.map(cell).join(',')}\r\n`
  let n = 0
  for (const row of rows) {
    if (text.length >= PART) {
      yield { text, rows: n, isLast: false, done: progress(row) }
      text = ''
      n = 0
    }
    text += `${typeof row === 'string' ? row : row.map(cell).join(',')}\r\n`
    n++
  }
  yield { text, rows: n, isLast: true, done: 1 }
}

/** The same as a stream that yields to the event loop between parts. Failures: CSV_EMPTY if the span has no data. */
export function csvParts(reader: HistoryReader, query: CsvQuery): Result<AsyncGenerator<CsvPart, void, void>> {
  const extent = reader.extent()
  const hasRows = query.what !== 'jobs' && query.what !== 'targets' && query.what !== 'cluster'
  if (!hasRows && (!extent || extent.toMs < query.fromMs || extent.fromMs >= query.toMs)) {
    return fail({
      code: 'CSV_EMPTY',
      what: 'No CSV was written',
      why: 'the range has no data',
      next: 'Choose a range that has samples.',
    })
  }
  return ok(paced(csvText(reader, query)))
}

async function* paced(parts: Generator<CsvPart, void, void>): AsyncGenerator<CsvPart, void, void> {
  for (const part of parts) {
    yield part
    await new Promise((done) => setImmediate(done))
  }
}
