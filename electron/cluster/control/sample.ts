/**
 * One sample of a cluster: counts per job, per target and in total for a period, summed from the readings of its
 * servers and the decisions that followed. Stateless.
 */
import type { Decision } from '#core/control/controller.ts'
import { primaryPolicy } from '#core/lustre/nrs-policies.ts'
import type { NodeReading, TargetReading } from '../read/collector.ts'
import type { ServerPeriod } from './control-loop.ts'

/** One job over the whole cluster; counts of the period, not rates. */
export interface JobSums {
  rpcs: number
  readBytes: number
  writeBytes: number
  /** Tokens lent (+) or borrowed (-), summed over targets; undefined without a ledger. */
  record: number | undefined
  /**
   * Servers on which a rule matches the job, those where it runs at its limit, and the total rate of the rules in
   * RPC/s.
   */
  servers: number
  atLimit: number
  allowed: number
  /** Metadata RPCs on MDTs; `rpcs` counts only the data RPCs on OSTs. */
  mdops: number
  /**
   * RPCs that the job wanted, as counted by the controller, and tokens allocated to it; undefined without a controller.
   */
  demand: number | undefined
  tokens: number | undefined
}

/** One job on one target. */
export interface ShareSums {
  readonly jobId: string
  readonly rpcs: number
  readonly tokens: number | undefined
  readonly record: number | undefined
  readonly demand: number | undefined
}

/** One target; undefined counts where the period could not be measured. */
export interface TargetSums {
  readonly target: string
  readonly rpcs: number
  /** Mean service time of a read or write, ms; undefined if there was none. */
  readonly serviceMs: number | undefined
  /** RPCs queued on its server; NaN if not read. */
  readonly queued: number
  readonly shares: readonly ShareSums[]
}

export interface ClusterSums {
  readonly jobs: Map<string, JobSums>
  /** Only measured targets: the first reading after a gap is a base, the RPCs served in the gap are unknown. */
  readonly targets: readonly TargetSums[]
  readonly total: {
    readonly serviceMs: number | undefined
    readonly queued: number
    readonly rules: number
    /** Tokens that lenders have out, and those that changed hands in the period. */
    readonly onLoan: number
    readonly lent: number
    readonly borrowed: number
  }
}

const newJob = (): JobSums => ({
  rpcs: 0,
  readBytes: 0,
  writeBytes: 0,
  record: undefined,
  servers: 0,
  atLimit: 0,
  allowed: 0,
  mdops: 0,
  demand: undefined,
  tokens: undefined,
})

/** RPCs waiting in all policies of a server; NaN if not read. */
const queuedOn = (r: NodeReading): number => (r.isRead ? r.policies.reduce((n, p) => n + p.queued, 0) : NaN)

/** Shown as the policy of a service whose rules are not read. */
const NOT_READ = 'not read: the probe is off'

/** The policy that schedules regular requests, as the server names it. */
export function policyOf(r: Pick<NodeReading, 'policies' | 'isRead'>): string {
  if (!r.isRead) return NOT_READ
  const policy = primaryPolicy(r.policies, 'reg')
  return policy ? `${policy.name} ${policy.arg}`.trim() : ''
}

function sharesOf(
  t: TargetReading,
  decision: Decision | undefined,
  demand: ReadonlyMap<string, number> | undefined,
): ShareSums[] {
  const served = new Map(t.deltas?.map((d) => [d.jobId, d.rpcs * t.scale]))
  const tokens = new Map(decision?.allocations.map((a) => [a.jobId, a.tokens]))
  return [...new Set([...tokens.keys(), ...served.keys()])].map((jobId) => ({
    jobId,
    rpcs: served.get(jobId) ?? 0,
    tokens: tokens.get(jobId),
    record: decision?.records.get(jobId),
    demand: demand && (demand.get(jobId) ?? 0),
  }))
}

/**
 * Sums one sample.
 *
 * @param readings  readings of the servers that answered.
 * @param periods   results of the control loop for them, in the same order.
 * @param held      decisions held for servers that did not answer: their records are unchanged.
 * @param isKnown   true for a job that is still in memory: a forgotten one with an even record is left out.
 */
export function sumSample(
  readings: readonly NodeReading[],
  periods: readonly ServerPeriod[],
  held: readonly ServerPeriod[],
  isKnown: (jobId: string) => boolean,
): ClusterSums {
  const jobs = new Map<string, JobSums>()
  const jobOf = (id: string): JobSums => {
    let j = jobs.get(id)
    if (!j) jobs.set(id, (j = newJob()))
    return j
  }
  const targets: TargetSums[] = []
  const total = { usecs: 0, data: 0, queued: 0, rules: 0, onLoan: 0, lent: 0, borrowed: 0 }
  readings.forEach((reading, i) => {
    const { rules, others, decisions, reports } = periods[i] as ServerPeriod
    const queued = queuedOn(reading)
    total.queued += queued
    for (const list of [rules, ...(others ?? []).map((o) => o.rules)]) {
      total.rules += list.filter((r) => r.queue === 'reg' && r.cpt === 0 && r.name !== 'default').length
    }
    for (const t of reading.targets) {
      if (t.deltas === undefined) continue
      const { scale } = t
      if (reading.service.name === 'mdt') {
        for (const d of t.deltas) jobOf(d.jobId).mdops += d.rpcs * scale
        continue
      }
      const sums = { rpcs: 0, usecs: 0, data: 0 }
      for (const d of t.deltas) {
        const j = jobOf(d.jobId)
        j.rpcs += d.rpcs * scale
        j.readBytes += d.readBytes * scale
        j.writeBytes += d.writeBytes * scale
        sums.rpcs += d.rpcs * scale
        sums.usecs += d.serviceUsecs
        sums.data += d.dataRpcs
      }
      total.usecs += sums.usecs
      total.data += sums.data
      const decision = decisions.find((d) => d.target === t.target)
      const serviceMs = sums.data > 0 ? sums.usecs / sums.data / 1000 : undefined
      const report = reports.get(t.target)
      const demand = report?.held ? undefined : report?.demand
      targets.push({ target: t.target, rpcs: sums.rpcs, serviceMs, queued, shares: sharesOf(t, decision, demand) })
    }
  })
  for (const { decisions, reports } of [...periods, ...held]) {
    for (const d of decisions) {
      for (const a of d.allocations) {
        if (a.recordDelta > 0) total.lent += a.recordDelta
        else total.borrowed -= a.recordDelta
        const j = jobOf(a.jobId)
        j.tokens = (j.tokens ?? 0) + a.tokens
      }
      for (const [jobId, demand] of reports.get(d.target)?.demand ?? []) {
        const j = jobOf(jobId)
        j.demand = (j.demand ?? 0) + demand
      }
      for (const [jobId, record] of d.records) {
        if (record === 0 && !isKnown(jobId)) continue
        const j = jobOf(jobId)
        j.record = (j.record ?? 0) + record
        if (record > 0) total.onLoan += record
      }
    }
  }
  const serviceMs = total.data > 0 ? total.usecs / total.data / 1000 : undefined
  return { jobs, targets, total: { ...total, serviceMs } }
}
