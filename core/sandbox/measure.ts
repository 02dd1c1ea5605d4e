/** Measurements of a run: counters of the emulator, read at the edges of bins and of whole seconds. */
import { NS_PER_MS, NS_PER_S, sToNs } from '../base/units.ts'
import type { EmulatedCluster } from '../emulator/cluster.ts'
import type { EmulatedMdt } from '../emulator/mds.ts'
import { isData } from '../emulator/operations.ts'
import type { EmulatedOst } from '../emulator/oss.ts'
import type { EmulatedJob } from '../emulator/workload.ts'
import { PlaneWatch, type MetadataLimit } from './measure-planes.ts'
import { Shares } from './measure-shares.ts'
import type { RunReport, TargetReport, JobReport } from './run-report.ts'

/** Maximum points of one series. */
const POINTS_MAX = 240
/** Bin lengths with round numbers, s. */
const STEPS: readonly number[] = [1, 2, 5].flatMap((m) => [-3, -2, -1, 0, 1, 2, 3, 4, 5, 6].map((e) => m * 10 ** e))

/**
 * Returns the length of a bin, s: 1 s, or a sixtieth of a short run, or long enough for 240 bins to cover the run.
 *
 * @param seconds  length of the run, > 0.
 */
export function binOf(seconds: number): number {
  const least = Math.max(seconds / POINTS_MAX, Math.min(1, seconds / 60))
  // Tolerance: 0.1 has no exact double.
  return STEPS.filter((s) => s >= least * (1 - 1e-9)).sort((a, b) => a - b)[0] ?? least
}

export const binsOf = (seconds: number): number => Math.max(1, Math.ceil(seconds / binOf(seconds) - 1e-9))

/** Increments of a monotonic counter by bin; it is read at the edges of bins, so that a bin holds the events in it. */
class Binned {
  readonly #bins: Float64Array
  #before = 0

  constructor(count: number) {
    this.#bins = new Float64Array(count)
  }

  /** Ends a bin with the counter at `total`. */
  end(bin: number, total: number): void {
    this.#bins[bin] = total - this.#before
    this.#before = total
  }

  times(k: number): Float64Array {
    return k === 1 ? this.#bins : this.#bins.map((n) => n * k)
  }
}

/** One job of a run: its counters at the edges of bins and seconds, and the results. */
class JobWatch {
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

  /** Ends a second: it is starved if something waited from its beginning and nothing was replied. */
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
   * Returns counts and series times `k`; waits unchanged.
   *
   * @param record    tokens lent (+) or borrowed (-); undefined without a ledger.
   * @param fairRpcs  its fair share.
   */
  report(k: number, record: number | undefined, fairRpcs: number): JobReport {
    const { scenario, servedRpcs, servedBytes, waits, wanted } = this.job
    const wait = (q: number): number => (waits.count === 0 ? NaN : waits.quantile(q) / NS_PER_MS)
    return {
      jobId: scenario.id,
      nodes: new Set(scenario.clients).size,
      wantedRpcs: wanted * k,
      servedRpcs: servedRpcs * k,
      servedBytes: servedBytes * k,
      fairRpcs: fairRpcs * k,
      waitP50Ms: wait(0.5),
      waitP95Ms: wait(0.95),
      waitP99Ms: wait(0.99),
      starvedS: this.#starvedS * k,
      record: record === undefined ? NaN : record * k,
      bytes: this.#bytes.times(k),
      rpcs: this.#rpcs.times(k),
    }
  }
}

/** Values that the run itself adds. */
export type Measured = Omit<RunReport, 'variant' | 'seed' | 'seconds' | 'thinning' | 'remarks' | 'events'>

export interface MeasureOptions {
  /** Length of the run as reported, s. */
  readonly seconds: number
  /** The simulation lasts a k-th of that. */
  readonly thinning: number
  /** System limit that metadata is judged by. */
  readonly metadataLimit?: MetadataLimit | undefined
}

interface TargetWatch {
  readonly target: EmulatedOst | EmulatedMdt
  readonly rpcs: Binned
}

export class Measures {
  readonly #seconds: number
  readonly #thinning: number
  readonly #endNs: number
  readonly #binNs: number
  readonly #bins: number
  readonly #jobs: readonly JobWatch[]
  readonly #targets: readonly TargetWatch[]
  readonly #shares: Shares
  readonly #planes: PlaneWatch
  #bin = 0
  #second = 0

  constructor(cluster: EmulatedCluster, { seconds, thinning, metadataLimit }: MeasureOptions) {
    this.#seconds = seconds
    this.#thinning = thinning
    this.#endNs = sToNs(seconds / thinning)
    this.#bins = binsOf(seconds)
    this.#binNs = sToNs(binOf(seconds) / thinning)
    this.#jobs = cluster.jobs.map((j) => new JobWatch(j, this.#bins))
    const targets = reached(cluster)
    this.#targets = targets.map((target) => ({ target, rpcs: new Binned(this.#bins) }))
    this.#shares = new Shares(cluster, targets)
    this.#planes = new PlaneWatch(cluster, metadataLimit)
  }

  /** Next time at which it must read counters. */
  get nextNs(): number {
    return Math.min(this.#binEndNs, (this.#second + 1) * NS_PER_S)
  }

  get #binEndNs(): number {
    return this.#bin < this.#bins ? Math.min((this.#bin + 1) * this.#binNs, this.#endNs) : Infinity
  }

  /** Ends the seconds and bins that are over at `nowNs`. */
  sample(nowNs: number): void {
    const isSecond = nowNs >= (this.#second + 1) * NS_PER_S
    if (isSecond) {
      this.#second++
      for (const j of this.#jobs) j.endSecond()
      this.#planes.sample()
    }
    if (isSecond || nowNs >= this.#endNs) this.#shares.addService(nowNs)
    if (nowNs < this.#binEndNs) return
    for (const j of this.#jobs) j.endBin(this.#bin)
    for (const { target, rpcs } of this.#targets) rpcs.end(this.#bin, target.servedRpcs)
    this.#bin++
  }

  /** @param records  tokens lent or borrowed by job; undefined without a ledger. */
  report(sloWaitMs: number, records: ReadonlyMap<string, number> | undefined): Measured {
    const seconds = this.#seconds
    const k = this.#thinning
    const jobs = this.#jobs.map((j, i) => {
      const record = records && (records.get(j.job.scenario.id) ?? 0)
      return j.report(k, record, this.#shares.fairOf(i))
    })
    const targets = this.#targets.map((t) => targetReport(t, this.#endNs, k))
    const sum = (values: readonly number[]): number => values.reduce((n, v) => n + v, 0)
    return {
      binS: binOf(seconds),
      jobs,
      targets,
      throughputRpcs: sum(jobs.map((j) => j.servedRpcs)) / seconds,
      throughputBps: sum(jobs.map((j) => j.servedBytes)) / seconds,
      jain: this.#shares.jain,
      starvedS: sum(jobs.map((j) => j.starvedS)),
      // A job without any reply has no p95; it has waited for as long as it starved.
      sloMisses: jobs.filter((j) => (j.servedRpcs > 0 ? j.waitP95Ms : (j.starvedS / k) * 1000) > sloWaitMs).length,
      utilisation: targets.length === 0 ? 0 : sum(targets.map((t) => t.utilisation)) / targets.length,
      planes: this.#planes.figures(seconds, k),
    }
  }
}

/** Targets that a job of the scenario can reach. */
function reached({ osts, mds, scenario }: EmulatedCluster): readonly (EmulatedOst | EmulatedMdt)[] {
  const isReached = (name: string, data: boolean): boolean =>
    scenario.jobs.some(
      (j) => j.op.some((op) => isData(op) === data) && (j.targets.length === 0 || j.targets.includes(name)),
    )
  const mdts = mds.flatMap((m) => m.mdts)
  return [...osts.filter((t) => isReached(t.name, true)), ...mdts.filter((t) => isReached(t.name, false))]
}

const targetReport = ({ target, rpcs }: TargetWatch, endNs: number, k: number): TargetReport => ({
  name: target.name,
  servedRpcs: target.servedRpcs * k,
  utilisation: target.busyNs / endNs,
  serviceMs: target.servedRpcs === 0 ? NaN : target.deviceNs / target.servedRpcs / NS_PER_MS,
  rpcs: rpcs.times(k),
})
