/**
 * `obdfilter.*.job_stats` and `mdt.*.job_stats`, parsed whole.
 *
 * Source: spec/lustre 4.1 and 4.3. What is read and what is skipped is the scanner's (job-stats-scanner.ts).
 */
import { bytesOf, type ToBytes } from './bytes.ts'
import type { JobEntry } from './job-entry.ts'
import { JobStatsScanner, type ScanOptions } from './job-stats-scanner.ts'
import type { ByteText, SkippedLine } from './text.ts'

export type { JobEntry } from './job-entry.ts'

export interface JobStats {
  /** In the order printed. */
  readonly entries: readonly JobEntry[]
  readonly skipped: readonly SkippedLine[]
  /** Skipped lines beyond those listed. */
  readonly skippedMore: number
}

/** Characters that are made bytes at a time, so that a long text is not held twice. */
const PIECE = 65_536

/**
 * Reads one target's job_stats.
 *
 * @param text     the parameter's value, with or without its `job_stats:` line; any prefix of it is accepted.
 * @param toBytes  the host's way to make bytes.
 * @returns        the entries, which keep nothing of the text alive; counters without samples are left out unless asked for.
 * @complexity     O(bytes).
 */
export function parseJobStats(text: ByteText, options?: ScanOptions, toBytes: ToBytes = bytesOf): JobStats {
  const entries: JobEntry[] = []
  const scanner = new JobStatsScanner({ entry: (e) => void entries.push(e) }, options)
  for (let at = 0; at < text.length; at += PIECE) scanner.push(toBytes(text.slice(at, at + PIECE)))
  scanner.end()
  return { entries, skipped: scanner.skipped.lines, skippedMore: scanner.skipped.more }
}
