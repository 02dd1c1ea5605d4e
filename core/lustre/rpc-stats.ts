/**
 * `osc.*.rpc_stats` and `mdc.*.rpc_stats`: what a client has sent and has under way, printed and parsed.
 *
 * Source: spec/lustre 6.8; the layout of an mdc and the section of latencies from the answers of running clients.
 */
import { formatHistogramTimes } from './brw-stats.ts'
import {
  BIN_LABELS,
  formatHistogramRows,
  formatSingleRows,
  histogramRows,
  parseHistogramRow,
  type Bins,
  type HistogramRow,
  type RowsLayout,
} from './histogram.ts'
import { parseTimesLine, type StatsTimes } from './stats-times.ts'
import type { ByteText, SkippedLine } from './text.ts'
import type { HistogramDialect } from './text-dialect.ts'

/** RPCs and pages that wait or are under way, by the words in front of the colon. */
const GAUGES = {
  read: 'read RPCs in flight: ',
  write: 'write RPCs in flight:',
  dio: 'DIO RPCs in flight:',
  pendingWritePages: 'pending write pages: ',
  pendingReadPages: 'pending read pages:  ',
} as const
type Gauge = keyof typeof GAUGES

export interface RpcSection {
  /** `pages per rpc`, `rpcs in flight`, `offset`, `RPC latency (us)`. */
  readonly title: string
  /** `rpcs` or `count`. */
  readonly unit: string
  readonly rows: readonly HistogramRow[]
}

/** Modifying RPCs of an mdc: how many are under way, and how many were when one was sent. */
export interface ModifyRpcs {
  readonly inFlight: number
  readonly rows: readonly { readonly label: string; readonly count: number }[]
}

export interface RpcStats {
  readonly times: StatsTimes
  /** Only an mdc has these. */
  readonly modify: ModifyRpcs | undefined
  readonly gauges: Readonly<Partial<Record<Gauge, number>>>
  readonly sections: readonly RpcSection[]
}

/** What a client counts of each RPC that it sends. */
export type RpcQuantity = 'pages' | 'inFlight' | 'offset' | 'latencyUs'
export type RpcCounts = Readonly<Record<'read' | 'write', Bins>>

const NO_COUNTS: RpcCounts = { read: new Map(), write: new Map() }

interface SectionKind {
  readonly quantity: RpcQuantity
  readonly title: string
  readonly unit: string
  readonly layout: RowsLayout
}

const layout = (labels: (bin: number) => string, from = 0): RowsLayout => ({ labels, from, skipsEmptyStart: false })

const SECTIONS: readonly SectionKind[] = [
  { quantity: 'pages', title: 'pages per rpc', unit: 'rpcs', layout: layout(BIN_LABELS.power) },
  { quantity: 'inFlight', title: 'rpcs in flight', unit: 'rpcs', layout: layout(BIN_LABELS.number, 1) },
  { quantity: 'offset', title: 'offset', unit: 'rpcs', layout: layout(BIN_LABELS.zeroAndPowers) },
  { quantity: 'latencyUs', title: 'RPC latency (us)', unit: 'count', layout: layout(BIN_LABELS.zeroAndPowers) },
]

/** The sections that a client prints of its counts; only an osc has the one of latencies. */
export const rpcSections = (
  counts: ReadonlyMap<RpcQuantity, RpcCounts>,
  client: 'osc' | 'mdc',
  dialect: HistogramDialect,
): RpcSection[] =>
  SECTIONS.filter(({ quantity }) => quantity !== 'latencyUs' || (client === 'osc' && dialect.rpcLatency)).map(
    ({ quantity, title, unit, layout: rows }) => {
      const { read, write } = counts.get(quantity) ?? NO_COUNTS
      return { title, unit, rows: histogramRows(read, write, rows) }
    },
  )

/** The rows that an mdc prints of its modifying RPCs. */
export const modifyRows = (counts: Bins): { label: string; count: number }[] =>
  histogramRows(counts, NO_COUNTS.write, layout(BIN_LABELS.number)).map(({ label, read }) => ({ label, count: read }))

/** The value of rpc_stats. */
export function formatRpcStats(stats: RpcStats, dialect: HistogramDialect): string {
  let out = formatHistogramTimes(stats.times, dialect)
  const percent = stats.modify ? dialect.mdcPercent : '%'
  if (stats.modify) {
    out += `modify_RPCs_in_flight:  ${stats.modify.inFlight}\n\n\t\t\tmodify\n`
    out += `rpcs in flight        rpcs   ${percent} cum ${percent}\n${formatSingleRows(stats.modify.rows)}\n`
  }
  for (const [gauge, words] of Object.entries(GAUGES)) {
    const n = stats.gauges[gauge as Gauge]
    if (n !== undefined) out += `${words} ${n}\n`
  }
  for (const { title, unit, rows } of stats.sections) {
    const shares = `${percent} cum ${percent}`
    // The heads are literals on the servers; the one of latencies stands a column further right.
    const name = title.padEnd(unit === 'count' ? 23 : 22)
    out += `\n\t\t\tread\t\t\twrite\n${name}${unit}   ${shares} |       ${unit}   ${shares}\n`
    out += formatHistogramRows(rows, 10)
  }
  return out
}

const GAUGE =
  /^(read RPCs in flight|write RPCs in flight|DIO RPCs in flight|pending write pages|pending read pages): +(\d+)$/
const MODIFY = /^modify_RPCs_in_flight: +(\d+)$/
const SINGLE_HEAD = /^rpcs in flight +rpcs +%%? cum %%?$/
// The title is bounded: a long line of blanks would be gone through once for each of them.
const HEAD = /^(\S.{0,63}?) +(rpcs|count) +%%? cum %%? \| +\2 +%%? cum %%?$/

/** Reads rpc_stats of an osc or mdc of any release; unreadable lines are named and skipped. */
export function parseRpcStats(text: ByteText): RpcStats & { readonly skipped: readonly SkippedLine[] } {
  const times: { -readonly [K in keyof StatsTimes]: StatsTimes[K] } = { snapshot: '' }
  const gauges: Partial<Record<Gauge, number>> = {}
  const sections: { title: string; unit: string; rows: HistogramRow[] }[] = []
  const skipped: SkippedLine[] = []
  let modify: { inFlight: number; rows: { label: string; count: number }[] } | undefined
  const take = (line: string): boolean => {
    if (line === '' || /^\t+read\t+write$/.test(line) || /^\t+modify$/.test(line) || SINGLE_HEAD.test(line)) return true
    const gauge = GAUGE.exec(line)
    if (gauge) {
      const found = Object.entries(GAUGES).find(([, words]) => words.trimEnd() === `${gauge[1]}:`)
      gauges[found?.[0] as Gauge] = Number(gauge[2])
      return true
    }
    const mods = MODIFY.exec(line)
    if (mods) {
      modify = { inFlight: Number(mods[1]), rows: [] }
      return true
    }
    const head = HEAD.exec(line)
    if (head) {
      sections.push({ title: head[1] as string, unit: head[2] as string, rows: [] })
      return true
    }
    const row = parseHistogramRow(line)
    if (row) {
      const section = sections.at(-1)
      if (section && row.write !== undefined) section.rows.push({ label: row.label, read: row.read, write: row.write })
      else if (modify && !section && row.write === undefined) modify.rows.push({ label: row.label, count: row.read })
      else return false
      return true
    }
    const time = parseTimesLine(line)
    if (!time) return false
    times[time.field] = time.time
    return true
  }
  text.split('\n').forEach((line, i) => {
    if (!take(line)) skipped.push({ line: i + 1, reason: 'neither a time nor a count nor a section nor a row of one' })
  })
  return { times, modify, gauges, sections, skipped }
}
