/**
 * What the jobs of a scenario ask for, as far as it can be told without running it: a weight to order them by and a first guess of
 * how many RPCs a run has. Nothing that is shown as a result comes from here.
 */
import { KIB } from '../base/units.ts'
import { isData } from '../emulator/operations.ts'
import type { JobScenario, Scenario } from '../emulator/scenario.ts'

export interface JobWish {
  readonly job: JobScenario
  /** RPC/s that it would reach alone, capped by what its targets can do. */
  readonly rpcs: number
  /** Part of them that reads or writes, 0..1. */
  readonly data: number
}

/** Time of one RPC of `bytes` on an OST that does nothing else, s. */
export const diskSeconds = (disk: Scenario['oss'][number]['osts'][number]['disk'], bytes: number): number =>
  disk.per_op_us / 1e6 + (bytes * disk.channels) / (disk.bandwidth_mb_s * 1e6)

/** RPC/s that an OST serves at most, all of them `bytes` long. */
export const diskRate = (disk: Scenario['oss'][number]['osts'][number]['disk'], bytes: number): number =>
  disk.channels / Math.max(1e-9, diskSeconds(disk, bytes))

function asked(job: JobScenario, serviceS: number): number {
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

/** What each job asks for, in the order of the scenario. */
export function wishes(s: Scenario): JobWish[] {
  const osts = s.oss.flatMap((o) => o.osts)
  const mdts = s.mds.flatMap((m) => m.mdts)
  return s.jobs.map((job) => {
    const of = new Set(job.targets)
    const mine = osts.filter((t) => of.size === 0 || of.has(t.name))
    const bytes = job.size_kib * KIB
    const data = job.op.filter(isData).length / job.op.length
    const [first] = mine
    const serviceS = Math.max(1e-4, data * (first ? diskSeconds(first.disk, bytes) : 0) + (1 - data) * 0.0003)
    const most =
      data > 0 ? mine.reduce((n, t) => n + diskRate(t.disk, bytes), 0) / data : Math.max(1, mdts.length) * 1e5
    return { job, rpcs: Math.min(asked(job, serviceS), most), data }
  })
}
