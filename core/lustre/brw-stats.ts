/**
 * `osd-*.*.brw_stats`: what the disk I/O of a target looked like, printed and parsed.
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
import { formatTimes, parseTimesLine, type StatsTimes } from './stats-times.ts'
import type { ByteText, SkippedLine } from './text.ts'
import type { HistogramDialect } from './text-dialect.ts'

export type Osd = 'ldiskfs' | 'zfs'

/** What a server counts of each I/O. */
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

/** Sections in the order printed. ZFS does not know how its pages lie on the disk. */
const sectionsOf = (osd: Osd, dialect: HistogramDialect): readonly SectionKind[] =>
  SECTIONS.filter(
    ({ quantity }) =>
      (osd === 'ldiskfs' || (quantity !== 'discontiguousBlocks' && quantity !== 'fragments')) &&
      (dialect.blockMaps || quantity !== 'mapMs'),
  )

export interface BrwSection {
  readonly title: string
  /** What a count is one of: `rpcs`, `ios`, `maps`. */
  readonly unit: string
  readonly rows: readonly HistogramRow[]
}

export interface BrwStats {
  readonly times: StatsTimes
  readonly sections: readonly BrwSection[]
}

/** Reads and writes of one quantity, by bin: log2 of pages, milliseconds and bytes, the number itself of all else. */
export type BrwCounts = Readonly<Record<'read' | 'write', Bins>>

const NO_COUNTS: BrwCounts = { read: new Map(), write: new Map() }

/** The sections that a server of this kind prints of its counts. */
export const brwSections = (
  counts: ReadonlyMap<BrwQuantity, BrwCounts>,
  osd: Osd,
  dialect: HistogramDialect,
): BrwSection[] =>
  sectionsOf(osd, dialect).map(({ quantity, title, unit, layout }) => {
    const { read, write } = counts.get(quantity) ?? NO_COUNTS
    return { title, unit, rows: histogramRows(read, write, layout) }
  })

/** The time lines above histograms. */
export const formatHistogramTimes = (times: StatsTimes, dialect: HistogramDialect): string =>
  dialect.times === 'plain'
    ? formatTimes(times, { width: 25, colon: ':', unit: ' secs.nsecs', indent: '' })
    : formatTimes({ snapshot: times.snapshot }, { width: 22, colon: ':', unit: ' (secs.nsecs)', indent: '' })

const TITLES = `\n${' '.repeat(27)}read      |     write\n`

/** The value of brw_stats. */
export function formatBrwStats(stats: BrwStats, dialect: HistogramDialect): string {
  let out = formatHistogramTimes(stats.times, dialect)
  for (const { title, unit, rows } of stats.sections) {
    out += `${TITLES}${title.padEnd(22)} ${unit.padEnd(5)} % cum % |  ${unit.padEnd(11)} % cum %\n`
    out += formatHistogramRows(rows, 4)
  }
  return out
}

// The title is bounded: a long line of blanks would be gone through once for each of them.
const HEAD = /^(\S.{0,63}?) +(rpcs|ios|maps) +% cum % \| +\2 +% cum %$/

/** Reads brw_stats of any release and OSD; unreadable lines are named and skipped. */
export function parseBrwStats(text: ByteText): BrwStats & { readonly skipped: readonly SkippedLine[] } {
  const times: { -readonly [K in keyof StatsTimes]: StatsTimes[K] } = { snapshot: '' }
  const sections: { title: string; unit: string; rows: HistogramRow[] }[] = []
  const skipped: SkippedLine[] = []
  text.split('\n').forEach((line, i) => {
    if (line === '' || /^ +read +\| +write$/.test(line)) return
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
