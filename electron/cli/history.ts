/** `sluice history`: contents of a history file or recording, CSV export, SQL queries, and recording of a range. */
import { Command, InvalidArgumentError, Option } from 'commander'
import { csvQuery, groupBy, TIERS, type CsvQuery, type TierId } from '#core/api/history.ts'
import { csvCell } from '#core/base/csv-cell.ts'
import { csvParts } from '../history/csv.ts'
import type { QueryRows } from '../foreign/foreign-files.ts'
import { FileReader } from '../history/file-reader.ts'
import type { CheckedFile } from '../history/open-recording.ts'
import type { HistoryReader } from '../history/reader.ts'
import { writeRecording } from '../history/recording.ts'
import { QUERY_ROWS, QUERY_SECONDS } from '../history/sql.ts'
import { withForeign, withRecording } from './foreign.ts'
import { jsonText, line, must, plain, stop, writeOut } from './output.ts'

interface Span {
  readonly from?: number
  readonly to?: number
  readonly cluster?: string
}

const instant = (text: string): number => {
  const ms = /^\d{10,16}$/.test(text) ? Number(text) : Date.parse(text)
  if (Number.isNaN(ms))
    throw new InvalidArgumentError('An ISO 8601 time, such as 2026-01-02T03:04Z, or Unix milliseconds.')
  return ms
}

const iso = (ms: number): string => new Date(ms).toISOString()

/** Range given by --from and --to, by default everything in the file. */
function spanOf(reader: HistoryReader, { from, to }: Span): { fromMs: number; toMs: number } {
  const kept = reader.extent()
  const fromMs = from ?? kept?.fromMs ?? 0
  const toMs = to ?? (kept?.toMs ?? 0) + 1
  if (toMs > fromMs) return { fromMs, toMs }
  return stop({ code: 'BAD_SPAN', what: 'The range is not valid', why: 'its end is not after its beginning' }, 2)
}

const info = (file: string, options: { readonly json?: true }): Promise<void> =>
  withForeign(async (files) => {
    const { checked, db, close } = must(await files.open(file))
    const clusters = checked.clusters.map(({ id, kind, name }) => {
      const reader = new FileReader(db, id, { name, isOwner: false })
      const tiers = TIERS.map((tier) => ({ tier, kept: reader.extentOf(tier) ?? null }))
      return { kind, name, targets: reader.allTargets().length, tiers }
    })
    close()
    const { bytes, facts } = checked
    if (options.json) line(jsonText({ file, bytes, recording: facts ?? null, clusters }))
    else printInfo(file, checked, clusters)
  })

interface ClusterInfo {
  readonly kind: string
  readonly name: string
  readonly targets: number
  readonly tiers: readonly { readonly tier: string; readonly kept: { fromMs: number; toMs: number } | null }[]
}

function printInfo(file: string, { bytes, facts }: CheckedFile, clusters: readonly ClusterInfo[]): void {
  line(`${plain(file)}: ${bytes} bytes${facts ? ', a recording' : ''}`)
  for (const c of clusters) {
    line(`${c.kind} ${plain(c.name)}: ${c.targets} targets`)
    for (const { tier, kept } of c.tiers) if (kept) line(`  ${tier.padEnd(5)}${iso(kept.fromMs)} to ${iso(kept.toMs)}`)
  }
}

/** Short names of the main table of each plane. */
const SHORT_NAMES = { locks: 'lock_resources', metadata: 'metadata_jobs', tokens: 'token_clients' } as const
const TABLES = [...csvQuery.shape.what.options, ...Object.keys(SHORT_NAMES)]

const tableName = (name: string): string => SHORT_NAMES[name as keyof typeof SHORT_NAMES] ?? name

interface CsvFlags extends Span {
  readonly table?: string
  /** Earlier name of the option. */
  readonly what?: string
  readonly by: CsvQuery['by']
  readonly tier?: TierId
}

const csv = (file: string, options: CsvFlags): Promise<void> =>
  withRecording(file, options.cluster, ({ reader }) => writeCsv(reader, options))

async function writeCsv(reader: HistoryReader, options: CsvFlags): Promise<void> {
  const query = csvQuery.parse({
    ...spanOf(reader, options),
    what: tableName(options.table ?? options.what ?? 'jobs'),
    by: options.by,
    tier: options.tier ?? null,
  })
  for await (const { text } of must(csvParts(reader, query))) await writeOut(text)
}

const record = (file: string, to: string, options: Span): Promise<void> =>
  withRecording(file, options.cluster, async ({ reader, db, cluster }) => {
    const span = spanOf(reader, options)
    const written = must(await writeRecording(db, cluster, span, to))
    line(`${plain(written.file)}: ${written.bytes} bytes, ${iso(span.fromMs)} to ${iso(span.toMs)}`)
  })

interface SqlFlags extends Span {
  readonly tier?: TierId
  readonly limit: number
  readonly seconds: number
  readonly csv?: true
  readonly json?: true
}

/** Failures of the query itself: usage errors. */
const QUERY_ERRORS: ReadonlySet<string> = new Set(['SQL_NOT_SELECT', 'SQL_INVALID'])

const sql = (file: string, text: string, options: SqlFlags): Promise<void> =>
  withRecording(file, options.cluster, async ({ reader, checked }, foreign) => {
    const { limit, seconds, cluster } = options
    const query = { sql: text, rows: limit, tier: options.tier ?? null, ...spanOf(reader, options) }
    const ran = await foreign.query(checked, { cluster, query, seconds })
    if (!ran.ok) return stop(ran.error, QUERY_ERRORS.has(ran.error.code) ? 2 : 1)
    const rows = ran.value
    try {
      if (options.json) await writeJson(rows)
      else if (process.stdout.isTTY && !options.csv) await writeTable(rows)
      else await writeQueryCsv(rows)
      if (rows.isCut) process.stderr.write(`sluice: only the first ${limit} rows; --limit allows more\n`)
    } finally {
      rows.close()
    }
  })

type SqlCell = string | number | null
const cellsOf = (line: string): SqlCell[] => JSON.parse(line) as SqlCell[]
const cellText = (cell: SqlCell | undefined): string => (cell === null || cell === undefined ? '' : String(cell))

async function writeJson({ columns, lines, isCut }: QueryRows): Promise<void> {
  await writeOut(`{"columns":${jsonText(columns)},"rows":[`)
  let between = ''
  for await (const row of lines()) {
    await writeOut(between + jsonText(cellsOf(row)))
    between = ','
  }
  await writeOut(`],"more":${isCut}}\n`)
}

async function writeQueryCsv({ columns, lines }: QueryRows): Promise<void> {
  await writeOut(`${columns.map(csvCell).join(',')}\r\n`)
  for await (const row of lines()) {
    const cells = cellsOf(row).map((cell) => (typeof cell === 'string' ? csvCell(cell) : cellText(cell)))
    await writeOut(`${cells.join(',')}\r\n`)
  }
}

/** Rows by whose cells the widths of a table are computed, and its widest column. */
const WIDTH_ROWS = 1000
const WIDTH_MOST = 60

const cellOnTerminal = (cell: SqlCell | undefined): string => {
  const text = plain(cellText(cell).slice(0, WIDTH_MOST + 1))
  return text.length > WIDTH_MOST ? `${text.slice(0, WIDTH_MOST - 3)}...` : text
}

async function writeTable({ columns, lines }: QueryRows): Promise<void> {
  const heads = columns.map(cellOnTerminal)
  let first: SqlCell[][] | undefined = []
  let widths: number[] = []
  const write = (cells: readonly SqlCell[]): Promise<void> => {
    const padded = cells.map((cell, i) => {
      const width = widths[i] ?? 0
      const shown = cellOnTerminal(cell)
      return typeof cell === 'number' ? shown.padStart(width) : shown.padEnd(width)
    })
    return writeOut(`${padded.join('  ').trimEnd()}\n`)
  }
  const begin = async (sample: readonly SqlCell[][]): Promise<void> => {
    widths = heads.map((head, i) => Math.max(head.length, ...sample.map((row) => cellOnTerminal(row[i]).length)))
    for (const row of [heads, ...sample]) await write(row)
  }
  for await (const row of lines()) {
    const cells = cellsOf(row)
    if (!first) {
      await write(cells)
      continue
    }
    first.push(cells)
    if (first.length < WIDTH_ROWS) continue
    await begin(first)
    first = undefined
  }
  if (first) await begin(first)
}

const integerIn =
  (most: number) =>
  (text: string): number => {
    const n = Number(text)
    if (Number.isInteger(n) && n >= 1 && n <= most) return n
    throw new InvalidArgumentError(`A number from 1 to ${most}.`)
  }

const spanned = (command: Command): Command =>
  command
    .option('--from <time>', 'start, ISO 8601 (default: start of the data)', instant)
    .option('--to <time>', 'end, exclusive (default: end of the data)', instant)
    .option('--cluster <name>', 'cluster (default: the newest)')

export function historyCommand(): Command {
  const command = new Command('history').description('inspect and export a history or recording').exitOverride()
  command
    .command('info')
    .description('clusters, and the range of each resolution')
    .argument('<file>', 'recording or history; may be in use by a console')
    .option('--json', 'one JSON document')
    .action(info)
  spanned(command.command('csv'))
    .description('write a range as CSV to standard output')
    .argument('<file>', 'recording or history; may be in use by a console')
    .addOption(
      new Option(
        '--table <table>',
        `table; locks, metadata and tokens are short for ${Object.values(SHORT_NAMES).join(', ')} (default: jobs)`,
      ).choices(TABLES),
    )
    .addOption(new Option('--what <table>', 'the same').choices(TABLES).hideHelp())
    .addOption(new Option('--tier <tier>', 'resolution (default: the finest that covers the range)').choices(TIERS))
    .addOption(new Option('--by <group>', 'group jobs by').choices(groupBy.options).default('job'))
    .action(csv)
  spanned(command.command('sql'))
    .description('run one SELECT; docs/history-schema.md lists tables and columns')
    .argument('<file>', 'recording or history; may be in use by a console')
    .argument('<select>', 'for example: SELECT name, max(waiters) FROM lock_resources GROUP BY name')
    .addOption(new Option('--tier <tier>', 'resolution (default: the finest that covers the range)').choices(TIERS))
    .option('--limit <rows>', `most rows, at most ${QUERY_ROWS.most}`, integerIn(QUERY_ROWS.most), QUERY_ROWS.byDefault)
    .option('--seconds <n>', 'time limit', integerIn(QUERY_SECONDS.most), QUERY_SECONDS.byDefault)
    .addOption(new Option('--csv', 'CSV (default: a table on a terminal, CSV in a pipe)').conflicts('json'))
    .option('--json', 'one JSON document')
    .action(sql)
  spanned(command.command('record'))
    .description('write a range as a recording')
    .argument('<file>', 'history or recording; may be in use by a console')
    .argument('<to>', 'new file, NAME.qosrec')
    .action(record)
  return command
}
