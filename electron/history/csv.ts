/**
 * CSV export of the history (RFC 4180), as a generator of parts, so that a year takes no more memory than a minute. Times are ISO
 * 8601 in UTC, a gap is an empty cell. Names are chosen by users of the cluster: a text cell that a spreadsheet would take for a
 * formula is prefixed with an apostrophe.
 */
import type { CsvQuery, GroupBy, TierId } from '#core/api/history.ts'
import { csvCell } from '#core/base/csv-cell.ts'
import { fail, ok, type Result } from '#core/base/result.ts'
import { BRW_STORED, type BrwStored } from '#core/lustre/brw-stats.ts'
import { recordAt } from './one-series.ts'
import { CLUSTER_COLUMNS, JOB_COLUMNS, type Block, type HistoryReader, type HistoryJob } from './reader.ts'

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
/** Events and rules read per query. */
const PAGE = 1000
const HOUR_MS = 3_600_000
const JOBS_MAX = 50_000

type Cell = string | number | null

const cell = (v: Cell): string => {
  if (v === null) return ''
  return typeof v === 'number' ? String(v) : csvCell(v)
}

const isoOf = (ms: number): string => {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? '' : date.toISOString()
}

const POWERS_OF_10 = Float64Array.from({ length: 16 }, (_, i) => 10 ** i)
/** Range of values that are rounded without toPrecision. */
const ROUNDED_MIN = 1e-6
const ROUNDED_MAX = 1e15
/** From this value on, single precision has only integers. */
const INTEGERS_MIN = 2 ** 23

/** Seven digits of a positive single-precision value in [ROUNDED_MIN, ROUNDED_MAX). */
function rounded(v: number): number {
  if (v >= INTEGERS_MIN) {
    if (v < 1e7) return v
    let drop = 1
    while (v >= (POWERS_OF_10[7 + drop] as number)) drop++
    const unit = POWERS_OF_10[drop] as number
    const rest = v % unit
    return rest * 2 >= unit ? v - rest + unit : v - rest
  }
  // At most 24 bits by at most 29 of a power of five: the product is exact, and so is the rounding.
  let keep = 6
  if (v >= 1) while (v >= (POWERS_OF_10[7 - keep] as number)) keep--
  else for (let w = v; w < 1; keep++) w = v * (POWERS_OF_10[keep - 5] as number)
  const scale = POWERS_OF_10[keep] as number
  return Math.floor(v * scale + 0.5) / scale
}

/**
 * Formats a number with the seven digits of a Float32: same result as toPrecision, in a third of the time.
 *
 * @param v  single-precision value; other values are rounded by toPrecision. A gap, NaN or undefined, is ''.
 */
export function sevenDigits(v: number | undefined): string {
  if (v === undefined || v !== v) return ''
  if (v === 0) return '0'
  const size = Math.abs(v)
  if (!(size >= ROUNDED_MIN && size < ROUNDED_MAX) || Math.fround(v) !== v) return String(Number(v.toPrecision(7)))
  return String(v < 0 ? -rounded(size) : rounded(size))
}

/** Cells, or a row that is already text, for the many rows of jobs and targets. */
type Rows = Generator<readonly Cell[] | string, void, void>
const [RPCS, READ, WRITE, THROTTLED, MDOPS] = (['rpcs', 'readBps', 'writeBps', 'throttled', 'mdops'] as const).map(
  (c) => JOB_COLUMNS.indexOf(c),
) as [number, number, number, number, number]
const RATES = [RPCS, READ, WRITE, MDOPS]
const RATE_HEADS = ['rpcs_per_s', 'read_bytes_per_s', 'write_bytes_per_s', 'metadata_rpcs_per_s']

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
    const time = isoOf(b.atMs)
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
    const time = isoOf(b.atMs)
    for (const [name, [jobs, ...rates]] of groupsOf(b, (key) => NAMES[by](job(key)))) {
      yield [time, csvCell(name), jobs ?? 0, ...rates.map(sevenDigits)].join(',')
    }
  }
}

function* targetRows(reader: HistoryReader, tier: TierId, q: CsvQuery): Rows {
  const targets = new Map(reader.allTargets().map((t) => [t.key, `${csvCell(t.target)},${csvCell(t.node)}`]))
  for (const b of reader.targetsBetween(tier, q.fromMs, q.toMs - 1)) {
    const time = isoOf(b.atMs)
    for (let i = 0; i < b.keys.length; i++) {
      let row = `${time},${targets.get(b.keys[i] as number) ?? ','}`
      for (const column of b.columns) row += `,${sevenDigits(column[i])}`
      yield row
    }
  }
}

function* clusterRows(reader: HistoryReader, tier: TierId, q: CsvQuery): Rows {
  let width = HOUR_MS
  for (let from = q.fromMs; from < q.toMs;) {
    const to = Math.min(from + width, q.toMs)
    const { t, columns } = reader.clusterBetween(tier, from, to - 1)
    from = to
    // Years without samples are skipped in a few steps.
    width = t.length === 0 ? width * 2 : HOUR_MS
    for (let i = 0; i < t.length; i++) yield [isoOf(t[i] as number), ...columns.map((c) => sevenDigits(c[i]))].join(',')
  }
}

/** Newest first, as the event list shows them. */
function* eventRows(reader: HistoryReader, q: CsvQuery): Rows {
  for (let to = q.toMs - 1; ;) {
    // If one instant has more events than a page, the limit grows until they fit.
    let limit = PAGE
    let page = reader.events(q.fromMs - 1, to, limit)
    while (page.length === limit && page.at(-1)?.atMs === to) page = reader.events(q.fromMs - 1, to, (limit *= 2))
    const isLastPage = page.length < limit
    const end = page.at(-1)?.atMs ?? to
    for (const m of page) {
      if (isLastPage || m.atMs > end) yield [isoOf(m.atMs), m.kind, m.level, m.subject, m.where, m.text]
    }
    if (isLastPage) return
    to = end
  }
}

function* ruleRows(reader: HistoryReader, q: CsvQuery): Rows {
  for (const r of reader.rulesBetween(q.fromMs, q.toMs - 1)) {
    const until = r.toMs === null ? null : isoOf(r.toMs)
    yield [isoOf(r.fromMs), until, r.server, r.queue, r.cpt, r.position, r.name, r.conditions, r.rate]
  }
}

/** One row per bin; empty bins have none. */
function* diskRows(reader: HistoryReader, q: CsvQuery): Rows {
  for (const { atMs, target, seconds, bins } of reader.brwBetween(q.fromMs, q.toMs - 1)) {
    for (const quantity of BRW_STORED) {
      for (const [upper, reads, writes] of bins[quantity] ?? []) {
        yield [isoOf(atMs), target, seconds, DISK_QUANTITIES[quantity], upper, reads, writes]
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
    yield [isoOf(r.atMs), r.node, r.service, r.cpt, r.current, r.worst, isoOf(r.worstAtS * 1000)]
  }
}

function tableOf(reader: HistoryReader, q: CsvQuery): { readonly head: readonly string[]; readonly rows: Rows } {
  const tier = q.tier ?? reader.tierFor(q.fromMs, q.toMs - 1, Infinity)
  switch (q.what) {
    case 'jobs': {
      if (q.by !== 'job') return { head: ['time', q.by, 'jobs', ...RATE_HEADS], rows: groupRows(reader, tier, q, q.by) }
      const who = ['job', 'user', 'account', 'program', 'nodes']
      const head = ['time', ...who, ...RATE_HEADS, 'share_at_limit', 'record_tokens']
      return { head, rows: jobRows(reader, tier, q) }
    }
    case 'targets':
      return {
        head: ['time', 'target', 'node', 'rpcs_per_s', 'service_ms', 'queued_rpcs'],
        rows: targetRows(reader, tier, q),
      }
    case 'cluster': {
      const heads: Record<(typeof CLUSTER_COLUMNS)[number], string> = {
        rpcs: 'rpcs_per_s',
        readBps: 'read_bytes_per_s',
        writeBps: 'write_bytes_per_s',
        serviceMs: 'service_ms',
        queued: 'queued_rpcs',
        rules: 'rules',
        onLoan: 'tokens_on_loan',
        mdops: 'metadata_rpcs_per_s',
      }
      return { head: ['time', ...CLUSTER_COLUMNS.map((c) => heads[c])], rows: clusterRows(reader, tier, q) }
    }
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
  }
}

/** Length of a time as `isoOf` writes it. */
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
