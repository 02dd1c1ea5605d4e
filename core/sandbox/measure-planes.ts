/**
 * Measurements of the planes besides the OSTs: one value for each objective of `core/controllers/objectives.ts` that
 * the run has. An absent plane, and one that nothing used, has none.
 */
import type { ObjectiveKey } from '../controllers/objectives.ts'
import { NS_PER_MS, NS_PER_S } from '../base/units.ts'
import { mean } from '../base/statistics.ts'
import type { EmulatedCluster } from '../emulator/cluster.ts'
import { isData } from '../emulator/operations.ts'
import type { Scenario } from '../emulator/scenario.ts'
import { processesOf } from '../emulator/scenario-ccpfs.ts'
import { idleTokens } from '../haechi/sim/idle-tokens.ts'
import { parsePolicies } from '../padll/rules/policy-schedule.ts'
import { falseAllocation } from '../padll/status.ts'
import { Tally } from '../sim/statistics.ts'
import type { PlaneFigure } from './run-report.ts'

/** Samples of a data node that are read: one in four of the last minute. */
const TOKEN_SAMPLES = 4_000

type Figures = Partial<Record<ObjectiveKey, number>>

/** Quantile of times, ms; NaN without any. */
const quantileMs = (times: Tally, q: number): number => (times.count === 0 ? NaN : times.quantile(q) / NS_PER_MS)

/** System limit of metadata operations, and the jobs that it applies to. */
export interface MetadataLimit {
  /** op/s. */
  readonly rate: number
  readonly jobs: ReadonlySet<string>
}

/**
 * Returns the system limit of a scenario for all metadata operations (`meta_op`), of its stages or of its metadata
 * servers; undefined without one. Limits of single operations are not judged.
 */
export function metadataLimitOf({ padll, control, jobs }: Scenario): MetadataLimit | undefined {
  const staged = padll?.system_limits.meta_op
  if (staged !== undefined) return { rate: staged, jobs: new Set(jobs.filter((j) => j.stages).map((j) => j.id)) }
  const rate = control.metadata?.limits['meta_op']
  if (control.metadata === undefined || rate === undefined) return undefined
  return { rate, jobs: new Set(parsePolicies(control.metadata.policies).policies.map((p) => p.job)) }
}

export class PlaneWatch {
  readonly #cluster: EmulatedCluster
  /** False allocation of PADLL's stages at the ends of the seconds, op/s. */
  readonly #unused: number[] = []
  readonly #limit: MetadataLimit | undefined
  /** Operations above the system limit at the ends of the seconds, op/s. */
  readonly #above: number[] = []
  #answered = 0

  /** @param limit  system limit that the run is judged by; undefined without one. */
  constructor(cluster: EmulatedCluster, limit: MetadataLimit | undefined) {
    this.#cluster = cluster
    this.#limit = limit
  }

  /** Reads what only the present shows; called once a simulated second. */
  sample(): void {
    const { padll, sim, jobs } = this.#cluster
    const limit = this.#limit
    if (limit) {
      const answered = jobs.reduce((n, j) => n + (limit.jobs.has(j.scenario.id) ? j.metadataWaits.count : 0), 0)
      this.#above.push(Math.max(0, answered - this.#answered - limit.rate))
      this.#answered = answered
    }
    const status = padll?.global?.status(sim.now / NS_PER_MS)
    if (!status || status.limits.length === 0) return
    const byScope = Map.groupBy(status.jobs, (j) => j.scope)
    this.#unused.push(status.limits.reduce((sum, l) => sum + falseAllocation(byScope.get(l.scope) ?? []), 0))
  }

  /**
   * @param reportedS  length of the run as reported, s.
   * @param thinning   the simulation lasted a k-th of it.
   */
  figures(reportedS: number, thinning: number): PlaneFigure[] {
    const seconds = reportedS / thinning
    const measured = { ...this.#metadata(seconds), ...this.#locks(seconds, thinning), ...this.#tokens(seconds) }
    return (Object.entries(measured) as [ObjectiveKey, number][])
      .filter(([, value]) => !Number.isNaN(value))
      .map(([key, value]) => ({ key, value }))
  }

  #metadata(seconds: number): Figures {
    const { mds, jobs, padll } = this.#cluster
    const using = jobs.filter((j) => j.wanted > 0 && !j.scenario.op.every(isData))
    if (mds.length === 0 || using.length === 0) return {}
    const waits = new Tally()
    const held = new Tally()
    for (const j of using) {
      waits.merge(j.metadataWaits)
      held.merge(j.held)
    }
    return {
      metadataServed: mds.flatMap((m) => m.mdts).reduce((n, t) => n + t.servedRpcs, 0) / seconds,
      metadataWaitMs: quantileMs(waits, 0.95),
      metadataAbove: mean(this.#above),
      ...(padll ? { metadataHeldMs: quantileMs(held, 0.95), falseAllocation: mean(this.#unused) } : {}),
    }
  }

  #locks(seconds: number, thinning: number): Figures {
    const { ccpfs, scenario, sim } = this.#cluster
    if (!ccpfs || !scenario.ccpfs || ccpfs.waits.requests === 0) return {}
    const { workloads } = scenario.ccpfs
    const { total } = ccpfs.run
    const processes = workloads.reduce((n, w) => n + processesOf(w), 0)
    const reads = workloads.some((w) => w.pattern === 'read' || w.readers > 0)
    const writes = workloads.some((w) => w.pattern !== 'read' && w.readers < processesOf(w))
    return {
      ...(writes ? { locksWritten: total.writtenBytes / seconds } : {}),
      ...(reads ? { locksRead: total.readBytes / seconds } : {}),
      lockWaitPart: ccpfs.waits.waitedNs / NS_PER_S / (seconds * processes),
      lockWaitP95Ms: quantileMs(ccpfs.waits.waitsUntil(sim.now), 0.95),
      convoyS: (ccpfs.waits.convoyUntil(sim.now) / NS_PER_S) * thinning,
    }
  }

  #tokens(seconds: number): Figures {
    const { dataNodes, sim } = this.#cluster
    let completed = 0
    let promised = 0
    let met = 0
    let periods = 0
    let metPeriods = 0
    const idle: number[] = []
    for (const d of dataNodes) {
      const run = d.run(sim.now)
      if (!run) continue
      const { node } = run
      for (const { completed: by } of node.periods.items) {
        run.clients.forEach((c, i) => {
          const n = by[i] ?? 0
          completed += n
          if (c.outside || c.reservation === 0 || node.client(i)?.state !== 'active') return
          const due = Math.min(c.reservation, requestsPerPeriod(c, d.scenario.period_ms))
          promised += due
          met += Math.min(n, due)
          periods++
          // I/Os in flight at the end of a period complete in the next one.
          if (n >= due - node.setup.settings.window) metPeriods++
        })
      }
      const { first, end } = node.samples.kept
      const every = Math.max(1, Math.ceil((end - first) / TOKEN_SAMPLES))
      const rows = Array.from({ length: Math.ceil((end - first) / every) }, (_, i) => first + i * every)
      const share = idleTokens(node, rows)
      if (share !== null) idle.push(share)
    }
    if (completed === 0) return {}
    return {
      tokensCompleted: completed / seconds,
      reservationsMet: promised === 0 ? NaN : met / promised,
      reservationPeriods: periods === 0 ? NaN : metPeriods / periods,
      poolIdle: idle.length === 0 ? NaN : mean(idle),
    }
  }
}

/** I/Os that a client wants in a period, by its workload; Infinity if unlimited. */
function requestsPerPeriod(
  { workload: w }: EmulatedCluster['scenario']['haechi'][number]['clients'][number],
  periodMs: number,
): number {
  if (w.kind === 'burst' || w.kind === 'constant') return w.per_period
  if (w.kind === 'backlogged') return Infinity
  const part = w.kind === 'on-off' ? w.on_ms / (w.on_ms + w.off_ms) : 1
  // Random arrivals are sometimes below their mean: two deviations less still count.
  const mean = (w.per_s * part * periodMs) / 1000
  return Math.max(0, Math.floor(mean - 2 * Math.sqrt(mean)))
}
