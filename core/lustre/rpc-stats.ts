/**
 * `osc.*.rpc_stats` and `mdc.*.rpc_stats`: RPCs that a client has sent and has in flight, printed for emulated clients.
 *
 * Source: spec/lustre 6.8; mdc layout and latency section from recorded output of clients.
 */
import { formatHistogramTimes } from './brw-stats.ts'
import {
  BIN_LABELS,
  formatHistogramRows,
  formatSingleRows,
  histogramRows,
  type Bins,
  type HistogramRow,
  type RowsLayout,
} from './histogram.ts'
import type { StatsTimes } from './stats-times.ts'
import type { HistogramDialect } from './text-dialect.ts'

/** RPCs and pages waiting or in flight, by the text before the colon. */
export const GAUGES = {
  read: 'read RPCs in flight: ',
  write: 'write RPCs in flight:',
  dio: 'DIO RPCs in flight:',
  pendingWritePages: 'pending write pages: ',
  pendingReadPages: 'pending read pages:  ',
} as const
export type Gauge = keyof typeof GAUGES

export interface RpcSection {
  /** `pages per rpc`, `rpcs in flight`, `offset`, `RPC latency (us)`. */
  readonly title: string
  /** `rpcs` or `count`. */
  readonly unit: string
  readonly rows: readonly HistogramRow[]
}

/** Modifying RPCs of an mdc: number in flight, and number in flight at each send. */
export interface ModifyRpcs {
  readonly inFlight: number
  readonly rows: readonly { readonly label: string; readonly count: number }[]
}

export interface RpcStats {
  readonly times: StatsTimes
  /** Only on an mdc. */
  readonly modify: ModifyRpcs | undefined
  readonly gauges: Readonly<Partial<Record<Gauge, number>>>
  readonly sections: readonly RpcSection[]
}

/** Quantities that a client counts for each RPC. */
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

/** Formats the counts as the sections that a client prints; only an osc has the latency section. */
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

/** Rows that an mdc prints for its modifying RPCs. */
export const modifyRows = (counts: Bins): { label: string; count: number }[] =>
  histogramRows(counts, NO_COUNTS.write, layout(BIN_LABELS.number)).map(({ label, read }) => ({ label, count: read }))

/** Formats the value of rpc_stats. */
export function formatRpcStats(stats: RpcStats, dialect: HistogramDialect): string {
  let out = formatHistogramTimes(stats.times, dialect)
  const percent = stats.modify ? dialect.mdcPercent : '%'
  if (stats.modify) {
    out += `modify_RPCs_in_flight:  ${stats.modify.inFlight}\n\n\t\t\tmodify\n`
    out += `rpcs in flight        rpcs   ${percent} cum ${percent}\n${formatSingleRows(stats.modify.rows)}\n`
  }
  for (const [gauge, label] of Object.entries(GAUGES)) {
    const n = stats.gauges[gauge as Gauge]
    if (n !== undefined) out += `${label} ${n}\n`
  }
  for (const { title, unit, rows } of stats.sections) {
    const shares = `${percent} cum ${percent}`
    // The heads are literals on the servers; the latency head is one column further right.
    const name = title.padEnd(unit === 'count' ? 23 : 22)
    out += `\n\t\t\tread\t\t\twrite\n${name}${unit}   ${shares} |       ${unit}   ${shares}\n`
    out += formatHistogramRows(rows, 10)
  }
  return out
}
