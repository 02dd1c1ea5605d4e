/**
 * Histograms of reads and writes side by side, as `brw_stats` and `rpc_stats` print them: a count, its share and the cumulative share,
 * both whole percents rounded down.
 *
 * Source: spec/lustre 6.5, 6.8; recorded output of servers for omitted rows: none after the row that completes both sides, and in
 * brw_stats none before the first row with a count.
 */
import { binLabel } from './size-histogram.ts'

export interface HistogramRow {
  /** `4K`, `16`: the server's label of the bin. */
  readonly label: string
  readonly read: number
  readonly write: number
}

/** Counts of a histogram that a server keeps: by bin number, 0 to 31. */
export type Bins = ReadonlyMap<number, number>

/** Label of a bin, by its number. */
export const BIN_LABELS = {
  /** 0, 1, 2, 3, ... */
  number: (bin: number): string => String(bin),
  /** 1, 2, 4, ..., 512, 1024, 2048, ... */
  power: (bin: number): string => String(2 ** bin),
  /** 1, 2, 4, ..., 512, 1K, 2K, ... */
  shortPower: binLabel,
  /** 0, 1, 2, 4, 8, ... */
  zeroAndPowers: (bin: number): string => String(bin === 0 ? 0 : 2 ** (bin - 1)),
} as const

export interface RowsLayout {
  readonly labels: (bin: number) => string
  /** Number of the first bin that is printed. */
  readonly from: number
  /** True to omit rows before the first count; without any count no row is printed. */
  readonly skipsEmptyStart: boolean
}

const BINS = 32
const total = (bins: Bins): number => [...bins.values()].reduce((a, b) => a + b, 0)

/** Returns the rows that a server prints of its bins. */
export function histogramRows(read: Bins, write: Bins, layout: RowsLayout): HistogramRow[] {
  const rows: HistogramRow[] = []
  const remaining = { read: total(read), write: total(write) }
  let begun = !layout.skipsEmptyStart
  for (let bin = layout.from; bin < BINS; bin++) {
    const row = { label: layout.labels(bin), read: read.get(bin) ?? 0, write: write.get(bin) ?? 0 }
    begun ||= row.read > 0 || row.write > 0
    remaining.read -= row.read
    remaining.write -= row.write
    if (begun) rows.push(row)
    if (remaining.read === 0 && remaining.write === 0) break
  }
  return rows
}

const percent = (n: number, of: number): string => String(of === 0 ? 0 : Math.floor((n * 100) / of)).padStart(3)

/** Formats the rows; `writeWidth` is the width of the write side's counts. */
export function formatHistogramRows(rows: readonly HistogramRow[], writeWidth: number): string {
  const all = { read: 0, write: 0 }
  for (const r of rows) {
    all.read += r.read
    all.write += r.write
  }
  const sum = { read: 0, write: 0 }
  let out = ''
  for (const { label, read, write } of rows) {
    sum.read += read
    sum.write += write
    out +=
      `${label}:\t\t${String(read).padStart(10)} ${percent(read, all.read)} ${percent(sum.read, all.read)}   | ` +
      `${String(write).padStart(writeWidth)} ${percent(write, all.write)} ${percent(sum.write, all.write)}\n`
  }
  return out
}

/** Formats the rows of a histogram with one side. */
export function formatSingleRows(rows: readonly { readonly label: string; readonly count: number }[]): string {
  const all = rows.reduce((n, r) => n + r.count, 0)
  let sum = 0
  let out = ''
  for (const { label, count } of rows) {
    sum += count
    out += `${label}:\t\t${String(count).padStart(10)} ${percent(count, all)} ${percent(sum, all)}\n`
  }
  return out
}

const ROW = /^(\d+[KMGTP]?):\t\t +(\d+) +\d+ +\d+(?: {3}\| +(\d+) +\d+ +\d+)?$/

/** Parses a row; `write` is undefined in a histogram with one side. */
export function parseHistogramRow(
  line: string,
): { readonly label: string; readonly read: number; readonly write: number | undefined } | undefined {
  const m = ROW.exec(line)
  if (!m) return undefined
  return { label: m[1] as string, read: Number(m[2]), write: m[3] === undefined ? undefined : Number(m[3]) }
}
