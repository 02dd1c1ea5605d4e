/** What every job was served by every target in every second, held against its fair share. */
import { NS_PER_S } from '../base/units.ts'
import type { EmulatedCluster } from '../emulator/cluster.ts'
import type { EmulatedMdt } from '../emulator/mds.ts'
import type { EmulatedOst, JobFlow } from '../emulator/oss.ts'
import { isData } from '../emulator/operations.ts'
import type { EmulatedJob } from '../emulator/workload.ts'
import { closedLoopRate } from './measure-demand.ts'
import { FairShares, type Use } from './measure-fairness.ts'

interface SharedJob {
  readonly job: EmulatedJob
  /** RPC/s of a closed loop on each of its targets when nobody else is there; 0 for others. */
  readonly idleRate: number
  /** Targets over which its RPCs go round. */
  readonly targets: number
}

/** A job on one target. */
interface OnTarget {
  readonly at: number
  readonly flow: JobFlow
  served: number
}

export class Shares {
  readonly #jobs: readonly SharedJob[]
  readonly #at: ReadonlyMap<string, number>
  readonly #targets: readonly { readonly target: EmulatedOst | EmulatedMdt; readonly seen: OnTarget[] }[]
  readonly #fair: FairShares
  #sinceNs = 0

  constructor({ scenario, jobs }: EmulatedCluster, targets: readonly (EmulatedOst | EmulatedMdt)[]) {
    this.#targets = targets.map((target) => ({ target, seen: [] }))
    this.#jobs = jobs.map((job) => {
      const own = job.scenario.targets
      const [hasData, hasMetadata] = [job.scenario.op.some(isData), !job.scenario.op.every(isData)]
      const count = targets.filter(
        (t) => (own.length === 0 || own.includes(t.name)) && ('disk' in t ? hasData : hasMetadata),
      ).length
      return { job, targets: count, idleRate: (closedLoopRate(job.scenario, scenario) ?? 0) / Math.max(1, count) }
    })
    this.#at = new Map(jobs.map((j, i) => [j.scenario.id, i]))
    this.#fair = new FairShares(scenario.jobs.map((j) => Math.max(1, new Set(j.clients).size)))
  }

  /** Takes in what was served since the last look. */
  look(nowNs: number): void {
    const seconds = (nowNs - this.#sinceNs) / NS_PER_S
    this.#sinceNs = nowNs
    if (seconds <= 0) return
    for (const { target, seen } of this.#targets) {
      if (seen.length < target.flow.size) this.#meet(target.flow, seen)
      const uses: Use[] = []
      for (const s of seen) {
        const { job, idleRate, targets } = this.#jobs[s.at] as SharedJob
        const served = s.flow.served - s.served
        s.served = s.flow.served
        if (served === 0 && job.waiting === 0) continue
        const demand = Math.max(served + job.waiting / Math.max(1, targets), idleRate * seconds)
        uses.push({ job: s.at, served, demand })
      }
      this.#fair.add(uses)
    }
  }

  /** Fair share of the job at a place of the scenario's list so far, RPCs. */
  fairOf(at: number): number {
    return this.#fair.fairOf(at)
  }

  /** Jain's index so far. */
  get jain(): number {
    return this.#fair.jain
  }

  #meet(flow: ReadonlyMap<string, JobFlow>, seen: OnTarget[]): void {
    let n = 0
    for (const [jobId, f] of flow)
      if (n++ >= seen.length) seen.push({ at: this.#at.get(jobId) ?? 0, flow: f, served: 0 })
  }
}
