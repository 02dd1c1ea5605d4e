/** job_stats of one job on one target. */
import type { Counter } from './counter-line.ts'
import type { ByteText } from './text.ts'

export interface JobEntry {
  readonly jobId: ByteText
  /** Time of the job's last update, seconds as printed, for example `1763676486.123456789`; whole seconds before 2.15. */
  readonly snapshotTime: string
  /** Creation time of the entry; absent before 2.15, and where `enable_stats_header` is 0. */
  readonly startTime: string | undefined
  /** Time from start to last update; negative if the server's clock was set back in between. */
  readonly elapsedTime: string | undefined
  /** Counters by name, in the order printed; those without samples only if requested. */
  readonly counters: ReadonlyMap<string, Counter>
  /** Counters in the text, with and without samples. A server lists all of its own, so fewer indicate truncated text. */
  readonly listed: number
  /** [start, end) of the entry in the text, bytes. */
  readonly span: readonly [number, number]
}
