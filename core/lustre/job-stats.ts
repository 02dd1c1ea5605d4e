/**
 * `obdfilter.*.job_stats` and `mdt.*.job_stats`, parsed completely.
 *
 * Source: spec/lustre 4.1 and 4.3. The scanner decides what is read and skipped (job-stats-scanner.ts).
 */
import { bytesOf, type ToBytes } from './bytes.ts'
import type { JobEntry } from './job-entry.ts'
import { JobStatsScanner, type ScanOptions } from './job-stats-scanner.ts'
import type { ByteText, SkippedLine } from './text.ts'

export type { JobEntry } from './job-entry.ts'

export interface JobStats {
  /** Entries in the order printed. */
  readonly entries: readonly JobEntry[]
  readonly skipped: readonly SkippedLine[]
  /** Skipped lines beyond those listed. */
  readonly skippedMore: number
}

/** Characters converted to bytes at a time, so that a long text is not held twice. */
const PIECE = 65_536

/**
 * Parses one target's job_stats.
 *
 * @param text     the parameter's value, with or without its `job_stats:` line; any prefix of it is accepted.
 * @param toBytes  the platform's conversion to bytes.
 * @returns        the entries, which do not retain the text; counters without samples are omitted unless requested.
 * @complexity     O(bytes).
 */
export function parseJobStats(text: ByteText, options?: ScanOptions, toBytes: ToBytes = bytesOf): JobStats {
  const entries: JobEntry[] = []
  const scanner = new JobStatsScanner({ entry: (e) => void entries.push(e) }, options)
  for (let at = 0; at < text.length; at += PIECE) scanner.push(toBytes(text.slice(at, at + PIECE)))
  scanner.end()
  return { entries, skipped: scanner.skipped.lines, skippedMore: scanner.skipped.more }
}
