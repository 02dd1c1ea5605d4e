/**
 * Estimated demand of a scenario's jobs, without running it: a weight for sorting and a first guess of the number of
 * RPCs in a run. Never shown as a result.
 */
import { KIB } from '../base/units.ts'
import { isData } from '../emulator/operations.ts'
import type { JobScenario, Scenario } from '../emulator/scenario.ts'

export interface JobDemandEstimate {
  readonly job: JobScenario
  /** RPC/s that it would reach alone, capped by its targets. */
  readonly rpcs: number
  /** Part of them that are reads or writes, 0..1. */
  readonly data: number
}

/** Time of one RPC of `bytes` on an otherwise idle OST, s. */
export const diskSeconds = (disk: Scenario['oss'][number]['osts'][number]['disk'], bytes: number): number =>
  disk.per_op_us / 1e6 + (bytes * disk.channels) / (disk.bandwidth_mb_s * 1e6)

/** Maximum RPC/s of an OST with RPCs of `bytes`. */
export const diskRate = (disk: Scenario['oss'][number]['osts'][number]['disk'], bytes: number): number =>
  disk.channels / Math.max(1e-9, diskSeconds(disk, bytes))

function requestedRate(job: JobScenario, serviceS: number): number {
  const { pattern, processes, outstanding } = job
  switch (pattern.kind) {
    case 'continuous':
      return (processes * outstanding) / (serviceS + pattern.think_ms / 1000)
    case 'bursts':
      return (processes * pattern.rpcs) / pattern.every_s
    case 'poisson':
      return processes * pattern.rate
    case 'phases': {
      const length = pattern.phases.reduce((n, p) => n + p.for_s, 0)
      return (processes * pattern.phases.reduce((n, p) => n + p.for_s * p.rate, 0)) / length
    }
  }
}

/** Demand of each job, in the order of the scenario. */
export function estimateDemands(s: Scenario): JobDemandEstimate[] {
  const osts = s.oss.flatMap((o) => o.osts)
  const mdts = s.mds.flatMap((m) => m.mdts)
  return s.jobs.map((job) => {
    const of = new Set(job.targets)
    const targets = osts.filter((t) => of.size === 0 || of.has(t.name))
    const bytes = job.size_kib * KIB
    const data = job.op.filter(isData).length / job.op.length
    const [first] = targets
    const serviceS = Math.max(1e-4, data * (first ? diskSeconds(first.disk, bytes) : 0) + (1 - data) * 0.0003)
    const most =
      data > 0 ? targets.reduce((n, t) => n + diskRate(t.disk, bytes), 0) / data : Math.max(1, mdts.length) * 1e5
    return { job, rpcs: Math.min(requestedRate(job, serviceS), most), data }
  })
}
