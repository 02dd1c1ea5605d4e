/**
 * `obdfilter.*.job_stats` as a server prints it.
 *
 * Source: spec/lustre 4.1 and 4.3.
 */
import { formatJobId } from './job-id.ts'
import { binLabel } from './size-histogram.ts'
import type { ByteText } from './text.ts'

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
