/**
 * `obdfilter.*.job_stats`, parsed and printed.
 *
 * Source: spec/lustre 4.1 and 4.3. The parser takes every release's layout: quoted ids, integer or `secs.nsecs` times,
 * counters with or without min/max/sumsq/hist. It never throws: a line it cannot read is named and skipped.
 */
import { parseCounter, type Counter } from './counter-line.ts'
import { formatJobId, parseJobId } from './job-id.ts'
import { binLabel } from './size-histogram.ts'
import type { ByteText, SkippedLine } from './text.ts'

/** One job on one target. */
export interface JobEntry {
  readonly jobId: ByteText
  /** Instant of the job's last update as printed, for example `1763676486.123456789`. */
  readonly snapshotTime: string
  readonly startTime: string | undefined
  /** Counters with at least one sample, by name. */
  readonly counters: ReadonlyMap<string, Counter>
  /** [start, end) of the entry in the parsed text. */
  readonly span: readonly [number, number]
}

export interface JobStats {
  readonly entries: readonly JobEntry[]
  readonly skipped: readonly SkippedLine[]
}

interface OpenEntry {
  jobId: ByteText
  snapshotTime: string
  startTime: string | undefined
  counters: Map<string, Counter>
  from: number
}

/**
 * Reads one target's job_stats.
 *
 * @param text  the parameter's value, with or without its `job_stats:` line; any prefix of it is accepted.
 * @returns     the entries in the order printed; zero counters are left out.
 * @complexity  O(bytes).
 */
export function parseJobStats(text: ByteText): JobStats {
  const entries: JobEntry[] = []
  const skipped: SkippedLine[] = []
  let open: OpenEntry | undefined
  const close = (end: number): void => {
    if (open) {
      const { from, ...entry } = open
      entries.push({ ...entry, span: [from, end] })
    }
    open = undefined
  }
  let number = 0
  for (let from = 0; from < text.length;) {
    let to = text.indexOf('\n', from)
    if (to < 0) to = text.length
    number++
    const line = text.slice(from, to)
    if (line.startsWith('- job_id:')) {
      close(from)
      const id = parseJobId(line.slice(9).trim())
      // An id that ends with the text may be the beginning of a longer one: another job's.
      if (to === text.length) skipped.push({ line: number, reason: 'job_id cut off' })
      else if (id === '') skipped.push({ line: number, reason: 'job_id without an id' })
      else open = { jobId: id, snapshotTime: '', startTime: undefined, counters: new Map(), from }
    } else if (line.startsWith('  ')) {
      const colon = line.indexOf(':')
      const name = line.slice(2, colon)
      const brace = line.indexOf('{', colon)
      if (colon < 0) skipped.push({ line: number, reason: 'a field without a colon' })
      else if (!open) skipped.push({ line: number, reason: `${name} outside a job` })
      else if (brace < 0) {
        const value =
          line
            .slice(colon + 1)
            .trim()
            .split(' ')[0] ?? ''
        if (name === 'snapshot_time') open.snapshotTime = value
        else if (name === 'start_time') open.startTime = value
        else if (name !== 'elapsed_time') skipped.push({ line: number, reason: `unknown field ${name}` })
      } else {
        const counter = parseCounter(line, brace, line.length)
        if (!counter) skipped.push({ line: number, reason: `${name}: not a counter` })
        else if (counter.samples > 0) open.counters.set(name, counter)
      }
    } else if (line !== '' && line !== 'job_stats:') {
      skipped.push({ line: number, reason: 'neither a job nor a field of one' })
    }
    from = to + 1
  }
  close(text.length)
  return { entries, skipped }
}

/** Counters of an OST in the order printed (2.14 and later). */
export const OST_COUNTERS = [
  'read_bytes',
  'write_bytes',
  'read',
  'write',
  'getattr',
  'setattr',
  'punch',
  'sync',
  'destroy',
  'create',
  'statfs',
  'get_info',
  'set_info',
  'quotactl',
  'prealloc',
] as const
export type OstCounter = (typeof OST_COUNTERS)[number]

/** A counter as a printer needs it; sumsq may exceed 2^53 and then comes as an integer text. */
export interface PrintableCounter {
  readonly samples: number
  readonly min: number
  readonly max: number
  readonly sum: number
  readonly sumsq: string
  readonly hist: ReadonlyMap<number, number>
}

const ZERO: PrintableCounter = { samples: 0, min: 0, max: 0, sum: 0, sumsq: '0', hist: new Map() }
const pad = (v: number | string, width: number): string => String(v).padStart(width)

/** One counter line, spaces exact (spec 4.3). */
export function formatCounter(name: string, counter: PrintableCounter | undefined): string {
  const c = counter ?? ZERO
  const bytes = name.endsWith('_bytes')
  const unit = pad(bytes ? 'bytes' : 'usecs', 5)
  let hist = ''
  if (bytes) {
    const bins = [...c.hist].sort(([a], [b]) => a - b).map(([bin, n]) => `${binLabel(bin)}: ${n}`)
    hist = `, hist: { ${bins.join(', ')} }`
  }
  return (
    `  ${`${name}:`.padEnd(16)} { samples: ${pad(c.samples, 11)}, unit: ${unit}, min: ${pad(c.min, 8)}, ` +
    `max: ${pad(c.max, 8)}, sum: ${pad(c.sum, 16)}, sumsq: ${pad(c.sumsq, 18)}${hist} }\n`
  )
}

/** The four head lines of an entry; times as `secs.nsecs`. */
export function formatEntryHead(jobId: ByteText, snapshot: string, start: string, elapsed: string): string {
  const time = (name: string, v: string): string => `  ${name.padEnd(16)} ${v} secs.nsecs\n`
  return (
    `- ${'job_id:'.padEnd(16)} ${formatJobId(jobId)}\n` +
    time('snapshot_time:', snapshot) +
    time('start_time:', start) +
    time('elapsed_time:', elapsed)
  )
}
