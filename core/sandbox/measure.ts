/** What is measured of a run: counters of the emulator, read at the edges of bins and of whole seconds. */
import { NS_PER_MS, NS_PER_S, sToNs } from '../base/units.ts'
import type { EmulatedCluster } from '../emulator/cluster.ts'
import type { EmulatedMdt } from '../emulator/mds.ts'
import { isData } from '../emulator/operations.ts'
import type { EmulatedOst } from '../emulator/oss.ts'
import { JobWatch } from './measure-job.ts'
import { planeFigures } from './measure-planes.ts'
import { binOf, Binned, binsOf } from './measure-series.ts'
import { Shares } from './measure-shares.ts'
import type { RunReport, TargetReport } from './run-report.ts'

/** What the run itself adds. */
export type Measured = Omit<RunReport, 'variant' | 'seed' | 'seconds' | 'thinning' | 'remarks' | 'events'>

export interface MeasureOptions {
  /** Of the run as it is reported, s. */
  readonly seconds: number
  /** The simulation lasts a k-th of that. */
  readonly thinning: number
}

interface TargetWatch {
  readonly target: EmulatedOst | EmulatedMdt
  readonly rpcs: Binned
}

export class Measures {
  readonly #cluster: EmulatedCluster
  readonly #seconds: number
  readonly #thinning: number
  readonly #endNs: number
  readonly #binNs: number
  readonly #bins: number
  readonly #jobs: readonly JobWatch[]
  readonly #targets: readonly TargetWatch[]
  readonly #shares: Shares
  #bin = 0
  #second = 0

  constructor(cluster: EmulatedCluster, { seconds, thinning }: MeasureOptions) {
    this.#cluster = cluster
    this.#seconds = seconds
    this.#thinning = thinning
    this.#endNs = sToNs(seconds / thinning)
    this.#bins = binsOf(seconds)
    this.#binNs = sToNs(binOf(seconds) / thinning)
    this.#jobs = cluster.jobs.map((j) => new JobWatch(j, this.#bins))
    const targets = reached(cluster)
    this.#targets = targets.map((target) => ({ target, rpcs: new Binned(this.#bins) }))
    this.#shares = new Shares(cluster, targets)
  }

  /** Instant at which it has to look next. */
  get nextNs(): number {
    return Math.min(this.#binEndNs, (this.#second + 1) * NS_PER_S)
  }

  get #binEndNs(): number {
    return this.#bin < this.#bins ? Math.min((this.#bin + 1) * this.#binNs, this.#endNs) : Infinity
  }

  look(nowNs: number): void {
    const isSecond = nowNs >= (this.#second + 1) * NS_PER_S
    if (isSecond) {
      this.#second++
      for (const j of this.#jobs) j.endSecond()
    }
    if (isSecond || nowNs >= this.#endNs) this.#shares.look(nowNs)
    if (nowNs < this.#binEndNs) return
    for (const j of this.#jobs) j.endBin(this.#bin)
    for (const { target, rpcs } of this.#targets) rpcs.end(this.#bin, target.servedRpcs)
    this.#bin++
  }

  /** @param records  tokens lent or borrowed by job; undefined without a ledger. */
  report(sloWaitMs: number, records: ReadonlyMap<string, number> | undefined): Measured {
    const [seconds, k] = [this.#seconds, this.#thinning]
    const jobs = this.#jobs.map((j, i) => {
      const record = records && (records.get(j.job.scenario.id) ?? 0)
      return j.report(k, record, this.#shares.fairOf(i))
    })
    const targets = this.#targets.map((t) => targetReport(t, this.#endNs, k))
    const sum = (values: readonly number[]): number => values.reduce((n, v) => n + v, 0)
    return {
      binS: binOf(seconds),
      ...{ jobs, targets },
      throughputRpcs: sum(jobs.map((j) => j.servedRpcs)) / seconds,
      throughputBps: sum(jobs.map((j) => j.servedBytes)) / seconds,
      jain: this.#shares.jain,
      starvedS: sum(jobs.map((j) => j.starvedS)),
      // A job that nobody answered has no p95, and has waited for as long as it starved.
      sloMisses: jobs.filter((j) => (j.servedRpcs > 0 ? j.waitP95Ms : (j.starvedS / k) * 1000) > sloWaitMs).length,
      utilisation: targets.length === 0 ? 0 : sum(targets.map((t) => t.utilisation)) / targets.length,
      planes: planeFigures(this.#cluster, seconds / k),
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
