/** What job_stats says of one job on one target. */
import type { Counter } from './counter-line.ts'
import type { ByteText } from './text.ts'

export interface JobEntry {
  readonly jobId: ByteText
  /** Instant of the job's last update, seconds as printed, for example `1763676486.123456789`; whole ones before 2.15. */
  readonly snapshotTime: string
  /** When the entry was made; not before 2.15, and not where `enable_stats_header` is 0. */
  readonly startTime: string | undefined
  /** From start to last update; negative when the server's clock was set back in between. */
  readonly elapsedTime: string | undefined
  /** Counters by name, in the order printed; those without samples only when they were asked for. */
  readonly counters: ReadonlyMap<string, Counter>
  /** Counters that the text lists, with and without samples. A server lists all of its own, so fewer means a text cut off. */
  readonly listed: number
  /** [start, end) of the entry in the text, bytes. */
  readonly span: readonly [number, number]
}
