/** One job of a run: its counters at the edges of bins and seconds, and what they come to. */
import { NS_PER_MS } from '../base/units.ts'
import type { EmulatedJob } from '../emulator/workload.ts'
import { Binned } from './measure-series.ts'
import type { JobReport } from './run-report.ts'

export class JobWatch {
  readonly job: EmulatedJob
  readonly #bytes: Binned
  readonly #rpcs: Binned
  #starvedS = 0
  #wasWaiting = false
  #answered = 0

  constructor(job: EmulatedJob, bins: number) {
    this.job = job
    this.#bytes = new Binned(bins)
    this.#rpcs = new Binned(bins)
  }

  /** A whole second ends: one in which something waited from its beginning on and nothing came back is starved. */
  endSecond(): void {
    const { waits, waiting } = this.job
    if (this.#wasWaiting && waits.count === this.#answered) this.#starvedS++
    this.#wasWaiting = waiting > 0
    this.#answered = waits.count
  }

  endBin(at: number): void {
    this.#bytes.end(at, this.job.servedBytes)
    this.#rpcs.end(at, this.job.servedRpcs)
  }

  /**
   * Counts and series times `k`; waits as they were.
   *
   * @param record    tokens lent (+) or borrowed (-); undefined without a ledger.
   * @param fairRpcs  its fair share.
   */
  report(k: number, record: number | undefined, fairRpcs: number): JobReport {
    const { scenario, servedRpcs, servedBytes, waits, wanted } = this.job
    const wait = (q: number): number => (waits.count === 0 ? NaN : waits.quantile(q) / NS_PER_MS)
    return {
      ...{ jobId: scenario.id, nodes: new Set(scenario.clients).size },
      ...{ wantedRpcs: wanted * k, servedRpcs: servedRpcs * k, servedBytes: servedBytes * k },
      fairRpcs: fairRpcs * k,
      ...{ waitP50Ms: wait(0.5), waitP95Ms: wait(0.95), waitP99Ms: wait(0.99) },
      ...{ starvedS: this.#starvedS * k, record: record === undefined ? NaN : record * k },
      ...{ bytes: this.#bytes.times(k), rpcs: this.#rpcs.times(k) },
    }
  }
}
