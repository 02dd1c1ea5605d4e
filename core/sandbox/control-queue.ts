/**
 * Job knowledge of the console in a run: the resource manager is queried at an interval, and again in the period after
 * an unknown job was seen. So a new job counts as one of unknown size for a period or two, as on a cluster.
 */
import { batchNumber } from '../batch/lustre-job.ts'
import { NS_PER_S, sToNs } from '../base/units.ts'
import type { EmulatedCluster } from '../emulator/cluster.ts'
import type { JobFlow } from '../emulator/oss.ts'
import type { JobScenario } from '../emulator/scenario.ts'

/** Query interval, ns. */
const EVERY_NS = 2 * NS_PER_S

/** A job as reported by the resource manager. */
export interface KnownJob {
  readonly user: string
  readonly nodes: number
}

interface Entry extends KnownJob {
  readonly startNs: number
  readonly stopNs: number
}

/** A job on a target that has not served it yet. */
interface Unmet {
  readonly jobId: string
  readonly flow: JobFlow
  readonly servedBefore: number
}

interface Watched {
  readonly flow: ReadonlyMap<string, JobFlow>
  seen: number
  unmet: Unmet[]
}

export class JobQueue {
  readonly #entries = new Map<string, Entry>()
  readonly #known = new Map<string, KnownJob>()
  readonly #met = new Set<string>()
  readonly #targets: readonly Watched[]
  readonly #everyNs: number
  #queryNs = 0
  #looks = 0

  /** @param thinning  factor of the time compression. */
  constructor({ scenario, osts, mds }: EmulatedCluster, thinning: number) {
    for (const j of scenario.jobs) {
      const entry = entryOf(j)
      if (entry) this.#entries.set(j.id, entry)
    }
    this.#targets = [...osts, ...mds.flatMap((m) => m.mdts)].map(({ flow }) => ({ flow, seen: 0, unmet: [] }))
    this.#everyNs = EVERY_NS / thinning
  }

  /** Returns what is known of a job now; undefined if the resource manager has not reported it. */
  find(jobId: string): KnownJob | undefined {
    return this.#known.get(jobId)
  }

  /** Ends a period: queries if due, then records the jobs that were active in it. */
  look(nowNs: number): void {
    if (nowNs >= this.#queryNs) this.#query(nowNs)
    const isBase = this.#looks++ === 0
    for (const t of this.#targets) {
      if (t.seen < t.flow.size) this.#take(t, isBase)
      if (isBase || t.unmet.length === 0) continue
      const moved = t.unmet.filter((u) => u.flow.served > u.servedBefore)
      if (moved.length === 0) continue
      t.unmet = t.unmet.filter((u) => u.flow.served === u.servedBefore)
      for (const { jobId } of moved) {
        if (this.#met.has(jobId)) continue
        this.#met.add(jobId)
        if (!this.#known.has(jobId)) this.#queryNs = nowNs
      }
    }
  }

  #query(nowNs: number): void {
    this.#queryNs = nowNs + this.#everyNs
    for (const [id, e] of this.#entries) {
      if (nowNs < e.startNs || this.#known.has(id)) continue
      if (nowNs < e.stopNs) this.#known.set(id, e)
      this.#entries.delete(id)
    }
  }

  /** Records jobs that are new on a target since the last call. */
  #take(t: Watched, isBase: boolean): void {
    let at = 0
    for (const [jobId, flow] of t.flow) {
      if (at++ >= t.seen) t.unmet.push({ jobId, flow, servedBefore: isBase ? flow.served : 0 })
    }
    t.seen = t.flow.size
  }
}

function entryOf({ id, in_slurm, clients, user, start_s, stop_s }: JobScenario): Entry | undefined {
  if (!in_slurm || batchNumber(id) === undefined) return undefined
  const stopNs = stop_s === undefined ? Infinity : sToNs(stop_s)
  return { user, nodes: new Set(clients).size, startNs: sToNs(start_s), stopNs }
}
