/**
 * Estimate of the RPCs that each job had in flight to its servers: Little's law, L = rate x wait.
 *
 * In service: rate x service time. In the scheduler: a server reports how many wait, not of which jobs; they are
 * distributed over the jobs that it served, those at the limit of a rule first. RPCs that wait in a client, for a slot
 * or in a cache, never reached a server and are not included.
 */
import type { ForkInputs, ForkJob } from './fork-inputs.ts'
import { meanOr0 } from './fork-series.ts'

/** Weight of a job not held back by a rule, relative to one that is. */
const UNHELD = 0.05

/** Mean RPCs in flight while active, by job id. */
export function outstandingOf({ jobs, targets }: Pick<ForkInputs, 'jobs' | 'targets'>): Map<string, number> {
  const serviceMs = new Map(targets.map((t) => [t.name, weighted(t.serviceMs, t.rpcs)]))
  const serverOf = new Map(targets.map((t) => [t.name, t.server]))
  const queued = new Map(targets.map((t) => [t.server, meanOr0(t.queued)]))
  const all = targets.map((t) => t.name)
  const rows = jobs.map((job) => {
    const known = job.targets.filter((t) => serverOf.has(t))
    const used = known.length > 0 ? known : all
    const rate = meanOr0(job.rpcs)
    const ms = meanOr0(used.map((t) => serviceMs.get(t) ?? NaN))
    const perServer = new Map<string, number>()
    for (const t of used) {
      const server = serverOf.get(t) as string
      const weight = (rate / used.length) * (UNHELD + job.throttled)
      perServer.set(server, (perServer.get(server) ?? 0) + weight)
    }
    return { job, rate, inService: (rate * ms) / 1000, perServer }
  })
  const weightOf = new Map<string, number>()
  for (const r of rows) for (const [s, w] of r.perServer) weightOf.set(s, (weightOf.get(s) ?? 0) + w)
  const out = new Map<string, number>()
  for (const { job, inService, perServer } of rows) {
    let waiting = 0
    for (const [server, w] of perServer) {
      const sum = weightOf.get(server) ?? 0
      if (sum > 0) waiting += ((queued.get(server) ?? 0) * w) / sum
    }
    out.set(job.jobId, (inService + waiting) / activity(job))
  }
  return out
}

/** Part of the bins in which it was active: turns a mean over all bins into one over active bins. */
export function activity(job: Pick<ForkJob, 'rpcs' | 'mdops'>): number {
  let busy = 0
  let known = 0
  job.rpcs.forEach((r, i) => {
    const m = job.mdops[i] ?? NaN
    if (Number.isNaN(r) && Number.isNaN(m)) return
    known++
    if (r > 0 || m > 0) busy++
  })
  return busy === 0 ? 1 : busy / known
}

/** Weighted mean of values; gaps in either are ignored. */
function weighted(values: readonly number[], weights: readonly number[]): number {
  let sum = 0
  let of = 0
  values.forEach((v, i) => {
    const w = weights[i] ?? NaN
    if (Number.isNaN(v) || !(w > 0)) return
    sum += v * w
    of += w
  })
  return of === 0 ? NaN : sum / of
}
