/**
 * `osd-*.*.brw_stats`: disk I/O statistics of a target, printed and parsed.
 *
 * Source: spec/lustre 6.5, measured A16: the parameter belongs to the OSD, and the sections differ by its kind.
 */
import {
  BIN_LABELS,
  formatHistogramRows,
  histogramRows,
  parseHistogramRow,
  type Bins,
  type HistogramRow,
  type RowsLayout,
} from './histogram.ts'
import { binBytes, parseBinLabel } from './size-histogram.ts'
import { formatTimes, parseTimesLine, type StatsTimes } from './stats-times.ts'
import type { ByteText, SkippedLine } from './text.ts'
import type { HistogramDialect } from './text-dialect.ts'

export type Osd = 'ldiskfs' | 'zfs'

/** Quantities counted for each I/O. */
export type BrwQuantity =
  'pages' | 'discontiguousPages' | 'discontiguousBlocks' | 'fragments' | 'inFlight' | 'timeMs' | 'sizeBytes' | 'mapMs'

interface SectionKind {
  readonly quantity: BrwQuantity
  readonly title: string
  readonly unit: string
  readonly layout: RowsLayout
}

const powers: RowsLayout = { labels: BIN_LABELS.shortPower, from: 0, skipsEmptyStart: true }
const numbers: RowsLayout = { labels: BIN_LABELS.number, from: 0, skipsEmptyStart: true }

const SECTIONS: readonly SectionKind[] = [
  { quantity: 'pages', title: 'pages per bulk r/w', unit: 'rpcs', layout: powers },
  { quantity: 'discontiguousPages', title: 'discontiguous pages', unit: 'rpcs', layout: numbers },
  { quantity: 'discontiguousBlocks', title: 'discontiguous blocks', unit: 'rpcs', layout: numbers },
  { quantity: 'fragments', title: 'disk fragmented I/Os', unit: 'ios', layout: numbers },
  { quantity: 'inFlight', title: 'disk I/Os in flight', unit: 'ios', layout: numbers },
  { quantity: 'timeMs', title: 'I/O time (1/1000s)', unit: 'ios', layout: powers },
  { quantity: 'sizeBytes', title: 'disk I/O size', unit: 'ios', layout: powers },
  { quantity: 'mapMs', title: 'block maps msec', unit: 'maps', layout: powers },
]

/** Sections in the order printed. ZFS has no information on the disk layout of pages. */
const sectionsOf = (osd: Osd, dialect: HistogramDialect): readonly SectionKind[] =>
  SECTIONS.filter(
    ({ quantity }) =>
      (osd === 'ldiskfs' || (quantity !== 'discontiguousBlocks' && quantity !== 'fragments')) &&
      (dialect.blockMaps || quantity !== 'mapMs'),
  )

export interface BrwSection {
  readonly title: string
  /** Unit of a count: `rpcs`, `ios`, `maps`. */
  readonly unit: string
  readonly rows: readonly HistogramRow[]
}

export interface BrwStats {
  readonly times: StatsTimes
  readonly sections: readonly BrwSection[]
}

/** Reads and writes of one quantity, by bin: log2 for pages, milliseconds and bytes, the number itself for all else. */
export type BrwCounts = Readonly<Record<'read' | 'write', Bins>>

const NO_COUNTS: BrwCounts = { read: new Map(), write: new Map() }

/** Formats the counts as the sections that a server of this kind prints. */
export const brwSections = (
  counts: ReadonlyMap<BrwQuantity, BrwCounts>,
  osd: Osd,
  dialect: HistogramDialect,
): BrwSection[] =>
  sectionsOf(osd, dialect).map(({ quantity, title, unit, layout }) => {
    const { read, write } = counts.get(quantity) ?? NO_COUNTS
    return { title, unit, rows: histogramRows(read, write, layout) }
  })

/** Formats the time lines above histograms. */
export const formatHistogramTimes = (times: StatsTimes, dialect: HistogramDialect): string =>
  dialect.times === 'plain'
    ? formatTimes(times, { width: 25, colon: ':', unit: ' secs.nsecs', indent: '' })
    : formatTimes({ snapshot: times.snapshot }, { width: 22, colon: ':', unit: ' (secs.nsecs)', indent: '' })

const TITLES = `\n${' '.repeat(27)}read      |     write\n`

/** Formats the value of brw_stats. */
export function formatBrwStats(stats: BrwStats, dialect: HistogramDialect): string {
  let out = formatHistogramTimes(stats.times, dialect)
  for (const { title, unit, rows } of stats.sections) {
    out += `${TITLES}${title.padEnd(22)} ${unit.padEnd(5)} % cum % |  ${unit.padEnd(11)} % cum %\n`
    out += formatHistogramRows(rows, 4)
  }
  return out
}

/** Longest line that is parsed, characters; lines of servers are shorter. */
const LINE_MAX = 200
const HEAD = /^(\S.*?) +(rpcs|ios|maps) +% cum % \| +\2 +% cum %$/

/** Parses brw_stats of any release and OSD; unreadable lines are reported and skipped. */
export function parseBrwStats(text: ByteText): BrwStats & { readonly skipped: readonly SkippedLine[] } {
  const times: { -readonly [K in keyof StatsTimes]: StatsTimes[K] } = { snapshot: '' }
  const sections: { title: string; unit: string; rows: HistogramRow[] }[] = []
  const skipped: SkippedLine[] = []
  text.split('\n').forEach((line, i) => {
    if (line === '' || /^ +read +\| +write$/.test(line)) return
    if (line.length > LINE_MAX) {
      skipped.push({ line: i + 1, reason: 'longer than any line of brw_stats' })
      return
    }
    const head = HEAD.exec(line)
    if (head) {
      sections.push({ title: head[1] as string, unit: head[2] as string, rows: [] })
      return
    }
    const row = parseHistogramRow(line)
    const section = sections.at(-1)
    if (row?.write !== undefined && section) {
      section.rows.push({ label: row.label, read: row.read, write: row.write })
      return
    }
    const time = parseTimesLine(line)
    if (time) times[time.field] = time.time
    else skipped.push({ line: i + 1, reason: 'neither a time nor a section nor a row of one' })
  })
  return { times, sections, skipped }
}

/** Disk I/O of a target between two readings. */
export interface BrwDelta {
  /** Seconds between the readings, by the server's clock. */
  readonly seconds: number
  /** Rows without a count are omitted. */
  readonly sections: readonly BrwSection[]
}

/**
 * Returns the difference of two readings; undefined if unknown: the counters were cleared or belong to another mount, or the server
 * printed no time.
 */
export function brwDelta(before: BrwStats, now: BrwStats): BrwDelta | undefined {
  const seconds = Number(now.times.snapshot) - Number(before.times.snapshot)
  if (!(seconds > 0) || now.times.start !== before.times.start) return undefined
  const sections: BrwSection[] = []
  for (const { title, unit, rows } of now.sections) {
    const was = new Map(before.sections.find((s) => s.title === title)?.rows.map((r) => [r.label, r]))
    const more: HistogramRow[] = []
    for (const { label, read, write } of rows) {
      const old = was.get(label)
      was.delete(label)
      const row = { label, read: read - (old?.read ?? 0), write: write - (old?.write ?? 0) }
      if (row.read < 0 || row.write < 0) return undefined
      if (row.read > 0 || row.write > 0) more.push(row)
    }
    // A non-empty bin disappeared: the counters were cleared.
    if ([...was.values()].some((r) => r.read > 0 || r.write > 0)) return undefined
    sections.push({ title, unit, rows: more })
  }
  return { seconds, sections }
}

/** Quantities of brw_stats that are displayed and stored. */
export const BRW_STORED = ['sizeBytes', 'timeMs', 'inFlight', 'fragments'] as const satisfies readonly BrwQuantity[]
export type BrwStored = (typeof BRW_STORED)[number]
/** Bins by quantity: upper bound (bytes, ms, a number), reads, writes; ascending. Absent if the server has no such section. */
export type BrwBins = Readonly<
  Partial<Record<BrwStored, readonly (readonly [upper: number, reads: number, writes: number])[]>>
>

/** Sections by quantity, with numeric labels. */
export function brwBins(sections: readonly BrwSection[]): BrwBins {
  const out: { -readonly [Q in BrwStored]?: BrwBins[Q] } = {}
  for (const quantity of BRW_STORED) {
    const kind = SECTIONS.find((s) => s.quantity === quantity)
    const section = sections.find((s) => s.title === kind?.title)
    if (!kind || !section) continue
    const upperOf = (label: string): number | undefined => {
      if (kind.layout !== powers) return Number(label)
      const bin = parseBinLabel(label)
      return bin === undefined ? undefined : binBytes(bin)
    }
    out[quantity] = section.rows
      .flatMap(({ label, read, write }) => {
        const upper = upperOf(label)
        return upper === undefined ? [] : [[upper, read, write] as const]
      })
      .sort(([a], [b]) => a - b)
  }
  return out
}
