/**
 * `obdfilter.*.job_stats` and `mdt.*.job_stats` as a server of each release prints them.
 *
 * Source: spec/lustre 4.1-4.3; orders of the counters: measured A1 and A6.
 */
import { formatJobId } from './job-id.ts'
import type { Profile } from './profile.ts'
import { binLabel } from './size-histogram.ts'
import type { ByteText } from './text.ts'
import type { JobStatsDialect } from './text-dialect.ts'

/** Counters of an OST, and of an MDT, in the order printed. */
export const OST_COUNTERS = ({ text }: Pick<Profile, 'text'>): readonly string[] => text.jobStats.ost
export const MDT_COUNTERS = ({ text }: Pick<Profile, 'text'>): readonly string[] => text.jobStats.mdt

/** Counter to be printed; sumsq may exceed 2^53 and is then an integer text. */
export interface PrintableCounter {
  readonly samples: number
  readonly min: number
  readonly max: number
  readonly sum: number
  readonly sumsq: string
  readonly hist: ReadonlyMap<number, number>
}

/** Times of an entry as `secs.nsecs`. Start and elapsed are absent if the server's stats have no such lines. */
export interface EntryTimes {
  /** Last update of the job's counters. */
  readonly snapshot: string
  /** Creation time of the entry, and time from it to the snapshot. */
  readonly start?: string | undefined
  readonly elapsed?: string | undefined
}

export interface PrintableEntry {
  readonly jobId: ByteText
  readonly times: EntryTimes
  /** Counters by name; those without samples are optional. */
  readonly counters: ReadonlyMap<string, PrintableCounter>
}

const NO_BINS: ReadonlyMap<number, number> = new Map()
const ZERO: PrintableCounter = { samples: 0, min: 0, max: 0, sum: 0, sumsq: '0', hist: NO_BINS }
const pad = (v: number | string, width: number): string => String(v).padStart(width)

/** `hist: { 4K: 3, 1M: 100 }`, empty bins omitted. */
function formatHistogram(hist: ReadonlyMap<number, number>): string {
  const bins = [...hist].filter(([, n]) => n > 0).sort(([a], [b]) => a - b)
  return `hist: { ${bins.map(([bin, n]) => `${binLabel(bin)}: ${n}`).join(', ')} }`
}

/** Formats one counter line, spaces exact (spec 4.3). Without samples it is all zeros. */
export function formatCounter(name: string, counter: PrintableCounter | undefined, dialect: JobStatsDialect): string {
  const c = counter === undefined || counter.samples === 0 ? ZERO : counter
  const isBytes = name.endsWith('_bytes')
  const unit = isBytes ? 'bytes' : dialect.operations
  let out = `  ${`${name}:`.padEnd(16)} { samples: ${pad(c.samples, 11)}, unit: ${pad(unit, 5)}`
  if (isBytes || dialect.operations === 'usecs') {
    const { gap } = dialect
    out += `, min:${gap}${pad(c.min, 8)}, max:${gap}${pad(c.max, 8)}, sum:${gap}${pad(c.sum, 16)}`
    if (dialect.operations === 'usecs') out += `, sumsq: ${pad(c.sumsq, 18)}`
  }
  if (isBytes && dialect.hist) out += `, ${formatHistogram(c.hist)}`
  return `${out} }\n`
}

/** Formats the head lines of an entry. */
export function formatEntryHead(jobId: ByteText, times: EntryTimes, dialect: JobStatsDialect): ByteText {
  const id = `- ${'job_id:'.padEnd(16)} ${formatJobId(jobId, dialect.ids)}\n`
  if (dialect.times === 'seconds') {
    return `${id}  ${'snapshot_time:'.padEnd(16)} ${times.snapshot.split('.')[0] as string}\n`
  }
  const line = (name: string, time: string | undefined): string =>
    time === undefined ? '' : `  ${name.padEnd(16)} ${time} secs.nsecs\n`
  return (
    id +
    line('snapshot_time:', times.snapshot) +
    line('start_time:', times.start) +
    line('elapsed_time:', times.elapsed)
  )
}

/** Lines of counters without samples, built once per release: most counters of most jobs never change. */
const zeroLines = new WeakMap<JobStatsDialect, ReadonlyMap<string, string>>()

function zeroLinesOf(dialect: JobStatsDialect): ReadonlyMap<string, string> {
  let lines = zeroLines.get(dialect)
  if (!lines) {
    lines = new Map([...dialect.ost, ...dialect.mdt].map((name) => [name, formatCounter(name, undefined, dialect)]))
    zeroLines.set(dialect, lines)
  }
  return lines
}

/**
 * Formats the entry of one job.
 *
 * @param names  the target's counters: `OST_COUNTERS` or `MDT_COUNTERS`; all are printed, changed or not.
 */
export function formatEntry(entry: PrintableEntry, names: readonly string[], dialect: JobStatsDialect): ByteText {
  const lines = [formatEntryHead(entry.jobId, entry.times, dialect)]
  const zeros = zeroLinesOf(dialect)
  for (const name of names) {
    const c = entry.counters.get(name)
    const zero = c && c.samples > 0 ? undefined : zeros.get(name)
    lines.push(zero ?? formatCounter(name, c, dialect))
  }
  // Joined, because it is printed repeatedly and a concatenated string would be traversed each time.
  return lines.join('')
}

/** Returns the value of job_stats from its entries' texts, in order; without entries it is empty or only its first line. */
export function joinEntries(entries: readonly ByteText[], dialect: JobStatsDialect): ByteText {
  // Joined instead of concatenated: a string of a thousand concatenations is slow to flatten for readers.
  if (entries.length === 0 && !dialect.headerWhenEmpty) return ''
  return `job_stats:\n${entries.join('')}`
}

/** Formats the value of job_stats. */
export const printJobStats = (
  entries: readonly PrintableEntry[],
  names: readonly string[],
  dialect: JobStatsDialect,
): ByteText =>
  joinEntries(
    entries.map((e) => formatEntry(e, names, dialect)),
    dialect,
  )
