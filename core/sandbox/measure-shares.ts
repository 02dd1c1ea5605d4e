/** Service of every job by every target in every second, relative to its fair share. */
import { NS_PER_S, KIB, NS_PER_MS } from '../base/units.ts'
import type { EmulatedCluster } from '../emulator/cluster.ts'
import type { EmulatedMdt } from '../emulator/mds.ts'
import type { EmulatedOst, JobFlow } from '../emulator/oss.ts'
import { isData, type MetadataOperation } from '../emulator/operations.ts'
import type { EmulatedJob } from '../emulator/workload.ts'
import { mean } from '../base/statistics.ts'
import type { JobScenario, Scenario } from '../emulator/scenario.ts'
import { maxMinShares } from './max-min.ts'

/** Activity of one job on one target in one bin. */
interface Use {
  readonly job: number
  readonly served: number
  /** RPCs; >= served. */
  readonly demand: number
}

/** (sum x)^2 / (n sum x^2), 1/n..1; NaN with fewer than two values or without any service. */
export function jainIndex(values: readonly number[]): number {
  const sum = values.reduce((s, x) => s + x, 0)
  const squares = values.reduce((s, x) => s + x * x, 0)
  return values.length < 2 || squares === 0 ? NaN : (sum * sum) / (values.length * squares)
}

/**
 * Fairness of the targets' service: Jain's index of each job's served RPCs over its max-min fair share.
 *
 * Shares are computed by target and bin: the RPCs that one target served in one bin are divided by weighted max-min
 * fairness among the jobs with demand for it then, weighted by nodes, none above its demand. A job's fair share is the
 * sum. The demand of a job in a bin is its served RPCs and those still waiting at its end, over its targets in equal
 * parts; for a job in a closed loop, which sends the next RPC only after a reply, it is at least the RPCs that an idle
 * system would serve it.
 *
 * Source: R. Jain, D.-M. Chiu, W. Hawe, DEC-TR-301, 1984 (the index and "fair throughput" as its reference).
 */
export class FairShares {
  readonly #nodes: readonly number[]
  readonly #fair: Float64Array
  readonly #served: Float64Array

  /** @param nodes  by job; weight of its share. */
  constructor(nodes: readonly number[]) {
    this.#nodes = nodes
    this.#fair = new Float64Array(nodes.length)
    this.#served = new Float64Array(nodes.length)
  }

  /** Adds the jobs' activity on one target in one bin. */
  add(uses: readonly Use[]): void {
    const capacity = uses.reduce((sum, u) => sum + u.served, 0)
    if (capacity === 0) return
    const shares = maxMinShares(
      capacity,
      uses.map((u) => Math.max(u.served, u.demand)),
      uses.map((u) => this.#nodes[u.job] ?? 1),
    )
    uses.forEach(({ job, served }, i) => {
      this.#fair[job]! += shares[i] as number
      this.#served[job]! += served
    })
  }

  /** Fair share of a job so far. */
  fairOf(job: number): number {
    return this.#fair[job] ?? 0
  }

  /** Jain's index over all jobs that had a fair share. */
  get jain(): number {
    const parts: number[] = []
    this.#fair.forEach((fair, job) => {
      if (fair > 0) parts.push((this.#served[job] as number) / fair)
    })
    return jainIndex(parts)
  }
}

/**
 * Demand of a job in a closed loop, which its own waiting hides: RPC/s of all processes together on an otherwise idle
 * system, as RPCs in flight over the time of one on idle links and devices, including think time. Undefined for jobs
 * whose arrivals do not wait for replies.
 *
 * Approximation: RPCs of one process and of one client do not delay each other.
 */
function closedLoopRate(job: JobScenario, scenario: Scenario): number | undefined {
  if (job.pattern.kind !== 'continuous' || job.cached) return undefined
  const { clients, oss, mds } = scenario
  const usedOf = <T extends { readonly name: string }>(all: readonly T[]): readonly T[] =>
    job.targets.length === 0 ? all : all.filter((t) => job.targets.includes(t.name))
  const bytes = job.size_kib * KIB
  const networkNs = 2 * clients.latency_us * 1000 + (bytes * NS_PER_S) / (clients.network_mb_s * 1e6)
  const diskNs = usedOf(oss.flatMap((o) => o.osts)).map(
    ({ disk }) => disk.per_op_us * 1000 + (bytes * disk.channels * NS_PER_S) / (disk.bandwidth_mb_s * 1e6),
  )
  const mdts = usedOf(mds.flatMap((m) => m.mdts))
  const opNs = (op: MetadataOperation): number =>
    2 * clients.latency_us * 1000 + mean(mdts.map((t) => (t.op_us[op] ?? t.per_op_us) * 1000))
  const rpcNs = mean(job.op.map((op) => (isData(op) ? networkNs + mean(diskNs) : opNs(op))))
  const slots = job.processes * job.outstanding
  return (slots * NS_PER_S) / (rpcNs + job.pattern.think_ms * NS_PER_MS)
}

interface SharedJob {
  readonly job: EmulatedJob
  /** RPC/s of a closed loop on each of its targets on an idle system; 0 for others. */
  readonly idleRate: number
  /** Number of targets that its RPCs rotate over. */
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
      const names = job.scenario.targets
      const hasData = job.scenario.op.some(isData)
      const hasMetadata = !job.scenario.op.every(isData)
      const count = targets.filter(
        (t) => (names.length === 0 || names.includes(t.name)) && ('disk' in t ? hasData : hasMetadata),
      ).length
      return { job, targets: count, idleRate: (closedLoopRate(job.scenario, scenario) ?? 0) / Math.max(1, count) }
    })
    this.#at = new Map(jobs.map((j, i) => [j.scenario.id, i]))
    this.#fair = new FairShares(scenario.jobs.map((j) => Math.max(1, new Set(j.clients).size)))
  }

  /** Adds the service since the last call. */
  addService(nowNs: number): void {
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

  /** Fair share so far of the job at an index of the scenario's list, RPCs. */
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
