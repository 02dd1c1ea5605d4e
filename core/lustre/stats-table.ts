/**
 * Tables of counters: `obdfilter.*.stats`, `mdt.*.md_stats`, `ost.OSS.*.stats`, `exports.*.stats`, `exports.*.ldlm_stats`, `pool.stats`,
 * printed and parsed.
 *
 * Source: spec/lustre 6.1-6.4, measured A18 and A19. Rows come in three shapes: a count alone, with min, max and sum, and with the sum of
 * squares as well. Only nonzero counters are printed, in the order in which the server registered them.
 */
import { formatTimes, parseTimesLine, type StatsTimes } from './stats-times.ts'
import type { ByteText, SkippedLine } from './text.ts'
import type { TextDialect } from './text-dialect.ts'

/**
 * One counter. Sums are exact up to 2^53. Sums of squares are integer texts, which netlink answers truncate by a digit (measured A12).
 */
export interface StatsRow {
  readonly name: string
  readonly samples: number
  readonly unit: string
  readonly range: { readonly min: number; readonly max: number; readonly sum: number } | undefined
  readonly sumsq: string | undefined
}

export interface StatsTable {
  readonly times: StatsTimes
  readonly rows: readonly StatsRow[]
}

/** Formats a table of counters. */
export function formatStatsTable(table: StatsTable, dialect: TextDialect): string {
  const width = dialect.statsNameWidth
  let out = formatTimes(table.times, { width, colon: '', unit: ' secs.nsecs', indent: '' })
  for (const { name, samples, unit, range, sumsq } of table.rows) {
    out += `${name.padEnd(width)} ${samples} samples [${unit}]`
    if (range) out += ` ${range.min} ${range.max} ${range.sum}`
    out += sumsq === undefined ? '\n' : ` ${sumsq}\n`
  }
  return out
}

const ROW = /^(\S+)\s+(\d+) samples \[([^\]]*)\](?: (-?\d+) (-?\d+) (-?\d+)(?: (\d+))?)?$/

/**
 * Parses a table of any release. Never throws: an unreadable line is reported and skipped.
 *
 * @param text  the parameter's value; rows of one, four or five columns of numbers are distinguished by their number.
 */
export function parseStatsTable(text: ByteText): StatsTable & { readonly skipped: readonly SkippedLine[] } {
  const times: { -readonly [K in keyof StatsTimes]: StatsTimes[K] } = { snapshot: '' }
  const rows: StatsRow[] = []
  const skipped: SkippedLine[] = []
  text.split('\n').forEach((line, i) => {
    if (line === '') return
    const m = ROW.exec(line)
    if (m) {
      const [, name = '', samples, unit = '', min, max, sum, sumsq] = m
      const range = min === undefined ? undefined : { min: Number(min), max: Number(max), sum: Number(sum) }
      rows.push({ name, samples: Number(samples), unit, range, sumsq })
      return
    }
    const time = parseTimesLine(line)
    if (time) times[time.field] = time.time
    else skipped.push({ line: i + 1, reason: 'neither a time nor a counter' })
  })
  return { times, rows, skipped }
}
