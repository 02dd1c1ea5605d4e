/**
 * Registry of the tables that `sluice history sql` queries: columns with their units, and their rows. CSV takes the names of its
 * columns from it, and docs/history-schema.md is generated from it. Tables of locks, metadata and tokens derive from
 * core/series/plane-tables.ts.
 *
 * Rows are in no particular order, and a gap is null. Names are untrusted text.
 */
import type { Database } from 'better-sqlite3'
import type { Mark, TierId } from '#core/api/history.ts'
import { PLANE_TABLES, planeTable, type PlaneColumn, type PlaneTableId } from '#core/series/plane-tables.ts'
import { recordAt } from './one-series.ts'
import { CLUSTER_COLUMNS, JOB_COLUMNS, TARGET_COLUMNS, type Block, type HistoryReader } from './reader.ts'
import { toSevenDigits } from './seven-digits.ts'

export interface TableColumn {
  readonly name: string
  readonly type: 'TEXT' | 'INTEGER' | 'REAL'
  /** Unit as text; empty for names and counts. */
  readonly unit: string
  readonly about: string
}

export type TableValue = string | number | null

/** One cluster of an opened file. */
export interface TableSource {
  readonly reader: HistoryReader
  readonly db: Database
  /** Id of the cluster in the file. */
  readonly cluster: number
}

/** [fromMs, toMs), and the tier; null: the finest that covers the range. */
export interface TableRange {
  readonly tier: TierId | null
  readonly fromMs: number
  readonly toMs: number
}

export interface HistoryTable {
  readonly name: string
  readonly about: string
  /** True if its rows are samples of a tier. */
  readonly hasTiers: boolean
  readonly columns: readonly TableColumn[]
  readonly rows: (source: TableSource, range: TableRange) => Iterable<readonly TableValue[]>
}

const text = (name: string, about: string): TableColumn => ({ name, type: 'TEXT', unit: '', about })
const integer = (name: string, unit: string, about: string): TableColumn => ({ name, type: 'INTEGER', unit, about })
const real = (name: string, unit: string, about: string): TableColumn => ({ name, type: 'REAL', unit, about })

/** ISO 8601 in UTC; empty for an invalid time. */
export function isoTime(ms: number): string {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? '' : date.toISOString()
}

const TIME: readonly TableColumn[] = [
  text('time', 'start of the period or sample, ISO 8601 in UTC'),
  integer('time_ms', 'ms', 'the same as Unix time'),
]

export const JOB_FACTS: readonly TableColumn[] = [
  text('job', 'job id'),
  text('user', 'user, as far as known'),
  text('account', 'account, as far as known'),
  text('program', 'program, derived from the job id'),
  integer('nodes', '', 'number of nodes, as far as known'),
]
export const JOB_RATES: readonly TableColumn[] = [
  real('rpcs_per_s', '/s', 'data RPCs'),
  real('read_bytes_per_s', 'B/s', 'bytes read'),
  real('write_bytes_per_s', 'B/s', 'bytes written'),
  real('metadata_rpcs_per_s', '/s', 'metadata RPCs'),
]
export const JOB_SHARES: readonly TableColumn[] = [
  real('share_at_limit', '', 'share of its servers on which it runs at the limit of its rule, 0 to 1'),
  integer('record_tokens', 'tokens', 'tokens lent (positive) or borrowed'),
]
const JOB_VALUE_COLUMNS = (['rpcs', 'readBps', 'writeBps', 'mdops', 'throttled'] as const).map((c) =>
  JOB_COLUMNS.indexOf(c),
)

export const TARGET_NAMES: readonly TableColumn[] = [
  text('target', 'target, for example an OST'),
  text('node', 'server of the target'),
]
const TARGET_FIELDS: Readonly<Record<(typeof TARGET_COLUMNS)[number], TableColumn>> = {
  rpcs: real('rpcs_per_s', '/s', 'data RPCs served'),
  serviceMs: real('service_ms', 'ms', 'mean service time of a data RPC'),
  queued: real('queued_rpcs', '', 'RPCs waiting on the server of the target'),
}
export const TARGET_VALUES: readonly TableColumn[] = TARGET_COLUMNS.map((c) => TARGET_FIELDS[c])

const CLUSTER_FIELDS: Readonly<Record<(typeof CLUSTER_COLUMNS)[number], TableColumn>> = {
  rpcs: real('rpcs_per_s', '/s', 'data RPCs served by all targets'),
  readBps: real('read_bytes_per_s', 'B/s', 'bytes read'),
  writeBps: real('write_bytes_per_s', 'B/s', 'bytes written'),
  serviceMs: real('service_ms', 'ms', 'mean service time of a data RPC'),
  queued: real('queued_rpcs', '', 'RPCs waiting in the policies of all servers'),
  rules: real('rules', '', 'TBF rules on all servers'),
  onLoan: real('tokens_on_loan', 'tokens', 'tokens lent by AdapTBF'),
  mdops: real('metadata_rpcs_per_s', '/s', 'metadata RPCs served'),
}
export const CLUSTER_VALUES: readonly TableColumn[] = CLUSTER_COLUMNS.map((c) => CLUSTER_FIELDS[c])

const finite = (v: number | undefined): number | null => (v === undefined || v !== v ? null : toSevenDigits(v))

/** Rows of blocks: time, names of the series, and the named columns of the block. */
function* blockRows(
  blocks: Iterable<Block>,
  namesOf: (key: number) => readonly TableValue[],
  columns: readonly number[],
  more: (block: Block, i: number) => readonly TableValue[] = () => [],
): Generator<readonly TableValue[], void, void> {
  const names = new Map<number, readonly TableValue[]>()
  for (const b of blocks) {
    const time = isoTime(b.atMs)
    for (let i = 0; i < b.keys.length; i++) {
      const key = b.keys[i] as number
      let known = names.get(key)
      if (!known) {
        if (names.size >= NAMES_MAX) names.clear()
        names.set(key, (known = namesOf(key)))
      }
      yield [time, b.atMs, ...known, ...columns.map((c) => finite(b.columns[c]?.[i])), ...more(b, i)]
    }
  }
}
/** Names held in memory. */
const NAMES_MAX = 50_000

const tierFor = ({ reader }: TableSource, { tier, fromMs, toMs }: TableRange): TierId =>
  tier ?? reader.tierFor(fromMs, toMs - 1, Infinity)

/** Tier of a plane's table, which has no raw samples. */
export function planeTier(reader: HistoryReader, tier: TierId | null, fromMs: number, toMs: number): TierId {
  if (tier === null) return reader.planeTierFor(fromMs, toMs - 1, Infinity)
  return tier === 'raw' ? '1s' : tier
}

/** Name columns of a plane's table: those of a series. */
export function planeNameColumns(id: PlaneTableId): readonly TableColumn[] {
  const { nameIs, placeIs, hasJob } = planeTable(id)
  const columns = [text('name', nameIs)]
  if (placeIs !== '') columns.push(text('place', placeIs))
  if (hasJob) columns.push(text('job', 'job id'))
  return columns
}

/** Names of a series, by `planeNameColumns`. */
export function planeNames(reader: HistoryReader, id: PlaneTableId, key: number): string[] {
  const { placeIs, hasJob } = planeTable(id)
  const series = reader.planeSeries(key)
  const names = [series?.name ?? '']
  if (placeIs !== '') names.push(series?.place ?? '')
  if (hasJob) names.push(series?.jobId ?? '')
  return names
}

const valueColumn = ({ name, unit, about }: PlaneColumn): TableColumn => real(name, unit, about)

function planeHistoryTable(id: PlaneTableId): HistoryTable {
  const { about, columns, most } = planeTable(id)
  const values = columns.map((_, i) => i)
  const isOthers = integer(
    'is_others',
    '',
    '1 for the row that sums the series without a row of their own, otherwise 0',
  )
  return {
    name: id,
    about: `${about}; at most ${most} series a period, and one row of the others`,
    hasTiers: true,
    columns: [...TIME, ...planeNameColumns(id), isOthers, ...columns.map(valueColumn)],
    rows: ({ reader }, { tier, fromMs, toMs }) =>
      blockRows(
        reader.planeBetween(id, planeTier(reader, tier, fromMs, toMs), fromMs, toMs - 1),
        (key) => [...planeNames(reader, id, key), reader.planeSeries(key)?.isOthers === true ? 1 : 0],
        values,
      ),
  }
}

const WIDTH_MS = 3_600_000

/** Sums over the cluster in [fromMs, toMs), in parts of bounded size. */
export function* clusterParts(
  reader: HistoryReader,
  tier: TierId,
  fromMs: number,
  toMs: number,
): Generator<ReturnType<HistoryReader['clusterBetween']>, void, void> {
  let width = WIDTH_MS
  for (let from = fromMs; from < toMs;) {
    const to = Math.min(from + width, toMs)
    const part = reader.clusterBetween(tier, from, to - 1)
    from = to
    // Years without samples are skipped in a few steps.
    width = part.t.length === 0 ? width * 2 : WIDTH_MS
    yield part
  }
}

/** Events read per query. */
const PAGE = 1000

/** Events in [fromMs, toMs), newest first. */
export function* eventsBetween(reader: HistoryReader, fromMs: number, toMs: number): Generator<Mark, void, void> {
  for (let to = toMs - 1; ;) {
    // If one instant has more events than a page, the limit grows until they fit.
    let limit = PAGE
    let page = reader.events(fromMs - 1, to, limit)
    while (page.length === limit && page.at(-1)?.atMs === to) page = reader.events(fromMs - 1, to, (limit *= 2))
    const isLastPage = page.length < limit
    const end = page.at(-1)?.atMs ?? to
    for (const m of page) if (isLastPage || m.atMs > end) yield m
    if (isLastPage) return
    to = end
  }
}

interface DecisionRow {
  readonly source: number
  readonly target: number
  readonly at_ms: number
  readonly name: string
  readonly node: string
  readonly controller: string
  readonly budget: number
  readonly allocations: string
}

const DECISIONS = `SELECT d.source, d.target, d.at_ms, t.name, t.node, d.controller, d.budget, d.allocations
  FROM decision AS d JOIN target AS t ON t.id = d.target
  WHERE d.source IN (SELECT id FROM source WHERE cluster_id = ?) AND d.at_ms >= ? AND d.at_ms < ?
    AND (d.source, d.target, d.at_ms) > (?, ?, ?)
  ORDER BY d.source, d.target, d.at_ms LIMIT ${PAGE}`

/** Decisions in pages: an unfinished query of the file would keep its connection open. */
function* decisionsBetween({ db, cluster }: TableSource, fromMs: number, toMs: number): Generator<DecisionRow> {
  const statement = db.prepare(DECISIONS)
  for (let last: DecisionRow | undefined; ;) {
    const after = [last?.source ?? -1, last?.target ?? -1, last?.at_ms ?? -1]
    const page = statement.all(cluster, Math.ceil(fromMs), Math.ceil(toMs), ...after) as DecisionRow[]
    yield* page
    last = page.at(-1)
    if (page.length < PAGE) return
  }
}

/** Times of a row that lasts: start and end, as text and as Unix ms. */
const LASTING: readonly TableColumn[] = [
  text('start_time', 'start, ISO 8601 in UTC'),
  integer('start_ms', 'ms', 'the same as Unix time'),
  text('end_time', 'end, ISO 8601 in UTC; null while it lasts'),
  integer('end_ms', 'ms', 'the same as Unix time'),
]
const lasting = (fromMs: number, toMs: number | null): TableValue[] => [
  isoTime(fromMs),
  fromMs,
  toMs === null ? null : isoTime(toMs),
  toMs,
]

/** Most convoys of one query: 20 of each day. */
const CONVOYS_MAX = 100_000

export const HISTORY_TABLES: readonly HistoryTable[] = [
  {
    name: 'jobs',
    about: 'Jobs; a job without a row in a period was idle',
    hasTiers: true,
    columns: [...TIME, ...JOB_FACTS, ...JOB_RATES, ...JOB_SHARES],
    rows: (source, range) =>
      blockRows(
        source.reader.jobsBetween(tierFor(source, range), range.fromMs, range.toMs - 1),
        (key) => {
          const j = source.reader.job(key)
          return [j?.jobId ?? '', j?.user ?? '', j?.account ?? '', j?.exe ?? '', j?.nodes ?? null]
        },
        JOB_VALUE_COLUMNS,
        (block, i) => [recordAt(block, i)],
      ),
  },
  {
    name: 'targets',
    about: 'Targets of the file system',
    hasTiers: true,
    columns: [...TIME, ...TARGET_NAMES, ...TARGET_VALUES],
    rows: (source, range) =>
      blockRows(
        source.reader.targetsBetween(tierFor(source, range), range.fromMs, range.toMs - 1),
        (key) => {
          const t = source.reader.target(key)
          return [t?.target ?? '', t?.node ?? '']
        },
        TARGET_COLUMNS.map((_, i) => i),
      ),
  },
  {
    name: 'cluster',
    about: 'Sums over the cluster',
    hasTiers: true,
    columns: [...TIME, ...CLUSTER_VALUES],
    rows: function* (source, range) {
      for (const { t, columns } of clusterParts(source.reader, tierFor(source, range), range.fromMs, range.toMs)) {
        for (const [i, at] of t.entries()) yield [isoTime(at), at, ...columns.map((c) => finite(c[i]))]
      }
    },
  },
  ...PLANE_TABLES.map(({ id }) => planeHistoryTable(id)),
  {
    name: 'convoys',
    about: 'Convoys that are kept with their messages: the 20 longest of each UTC day that overlap the range',
    hasTiers: false,
    columns: [
      ...LASTING,
      text('resource', 'lock resource: file and stripe'),
      text('server', 'lock server'),
      integer('waiting', '', 'most requests that waited at once'),
    ],
    rows: function* ({ reader }, { fromMs, toMs }) {
      for (const c of reader.convoys(fromMs, toMs - 1, CONVOYS_MAX))
        yield [...lasting(c.fromMs, c.toMs), c.resource, c.server, c.waiting]
    },
  },
  {
    name: 'events',
    about: 'Events and notes',
    hasTiers: false,
    columns: [
      ...TIME,
      text('kind', 'start, stop, change, controller, job, lost, mode, alarm or note'),
      text('level', 'ok, watch or bad'),
      text('subject', 'subject, for example Rule'),
      text('place', 'target or node; may be empty'),
      text('text', 'text of the event'),
    ],
    rows: function* ({ reader }, { fromMs, toMs }) {
      for (const m of eventsBetween(reader, fromMs, toMs))
        yield [isoTime(m.atMs), m.atMs, m.kind, m.level, m.subject, m.where, m.text]
    },
  },
  {
    name: 'rules',
    about: 'TBF rules that were in force in the range, one row per rule and period without a change',
    hasTiers: false,
    columns: [
      ...LASTING,
      text('server', 'server'),
      text('queue', 'reg or hp'),
      integer('cpt', '', 'CPT'),
      integer('position', '', 'position in the list of rules'),
      text('name', 'name of the rule'),
      text('conditions', 'conditions of the rule'),
      integer('rate_per_s', '/s', 'rate, RPC/s of each class'),
    ],
    rows: function* ({ reader }, { fromMs, toMs }) {
      for (const r of reader.rulesBetween(fromMs, toMs - 1))
        yield [...lasting(r.fromMs, r.toMs), r.server, r.queue, r.cpt, r.position, r.name, r.conditions, r.rate]
    },
  },
  {
    name: 'decisions',
    about: 'Decisions of controllers, one row per target and decision',
    hasTiers: false,
    columns: [
      ...TIME,
      ...TARGET_NAMES,
      text('controller', 'controller'),
      integer('budget_tokens', 'tokens', 'tokens that were allocated'),
      text('allocations', 'JSON: [[job id, tokens, record], ...]; see json_each'),
    ],
    rows: function* (source, { fromMs, toMs }) {
      for (const d of decisionsBetween(source, fromMs, toMs))
        yield [isoTime(d.at_ms), d.at_ms, d.name, d.node, d.controller, d.budget, d.allocations]
    },
  },
]
