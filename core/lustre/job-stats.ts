/**
 * `obdfilter.*.job_stats` and `mdt.*.job_stats`, parsed.
 *
 * Source: spec/lustre 4.1 and 4.3. The parser takes every release's layout: quoted ids, integer or `secs.nsecs` times,
 * counters with or without min/max/sumsq/hist. It never throws: a line it cannot read is named and skipped.
 */
import { parseCounter, type Counter } from './counter-line.ts'
import { parseJobId } from './job-id.ts'
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
