/**
 * Wait of a service's requests before a thread picked them up, including the wait in TBF: `req_waittime` of its
 * statistics. job_stats times do not include it (measured part 2, 8).
 */
import { parseStatsTable, type StatsRow } from '#core/lustre/stats-table.ts'
import type { ByteText } from '#core/lustre/text.ts'

/** Wait between two readings. */
export interface ServiceWait {
  readonly meanMs: number
  /**
   * 95th percentile of a normal distribution of this mean and standard deviation: servers print no distribution.
   * undefined if they print no sum of squares, either.
   */
  readonly p95Ms: number | undefined
  readonly requests: number
}

/** Share of a normal distribution: 95 % lie below the mean and 1.645 standard deviations. */
const P95 = 1.645

const perMs = (unit: string): number => (unit === 'usecs' || unit === 'usec' ? 1000 : unit === 'nsecs' ? 1e6 : NaN)

function waitOf(now: StatsRow, before: StatsRow): ServiceWait | undefined {
  const scale = perMs(now.unit)
  const requests = now.samples - before.samples
  if (!now.range || !before.range || !(requests > 0) || Number.isNaN(scale)) return undefined
  const sum = now.range.sum - before.range.sum
  if (sum < 0) return undefined
  const mean = sum / requests
  const squares =
    now.sumsq === undefined || before.sumsq === undefined ? -1 : Number(BigInt(now.sumsq) - BigInt(before.sumsq))
  // Sums of squares overflow on the servers: then they shrink, or imply less than the mean does.
  const variance = squares / requests - mean * mean
  const p95Ms =
    squares < 0 || variance < -1e-6 * mean * mean ? undefined : mean + P95 * Math.sqrt(Math.max(0, variance))
  return { meanMs: mean / scale, p95Ms: p95Ms === undefined ? undefined : p95Ms / scale, requests }
}

export class WaitMeter {
  #before: StatsRow | undefined
  #wait: ServiceWait | undefined

  /** @param text  the statistics; undefined if they were not read this time: then the last result is kept. */
  take(text: ByteText | undefined): ServiceWait | undefined {
    if (text === undefined) return this.#wait
    const row = parseStatsTable(text).rows.find((r) => r.name === 'req_waittime')
    this.#wait = row && this.#before ? waitOf(row, this.#before) : undefined
    this.#before = row
    return this.#wait
  }

  forget(): void {
    this.#before = this.#wait = undefined
  }
}
