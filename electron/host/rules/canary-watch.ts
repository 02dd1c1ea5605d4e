/** Feeds the watch of a commit's first server with the monitor's samples. */
import type { ServiceName } from '#core/api/rule-edits.ts'
import { DEFAULT_RULE } from '#core/control/server-rules.ts'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import type { NodeReading } from '../../cluster/read/collector.ts'
import { ldlmColumn } from '../../cluster/locks/ldlm-series.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import { ruleFinder, RuleMatcher } from '../../cluster/state/rule-matcher.ts'
import { policyOf } from '../../cluster/control/sample.ts'
import { CANARY_DEFAULTS, type CanaryLimits, type CanaryReading, type CanaryWatch } from '../../enforce/canary.ts'
import type { ServerChange } from '../../enforce/server-change.ts'

/** RPCs in flight of one client to one target, doubled: max_rpcs_in_flight is 8 and seldom more than 16. */
const SLOTS = 16
/** Queued RPCs that are always tolerated. */
const QUEUED_FREE = 256

/** Lock callback timeouts of a server in total; undefined if one of its namespaces is not read. */
function timeoutsOf({ ldlm: { series } }: ClusterMonitor, host: string): number | undefined {
  let sum: number | undefined
  for (const n of series.known) {
    if (n.node !== host) continue
    const v = series.value(series.table, n.key, ldlmColumn('timeouts'), n.lastRow)
    if (Number.isNaN(v)) return undefined
    sum = (sum ?? 0) + v
  }
  return sum
}

/** Change as far as the watch needs it: the jobs it covers. */
interface WatchedChange {
  readonly plan: Pick<ServerChange['plan'], 'server' | 'commands' | 'touched' | 'before' | 'expected'>
}

export class SampledCanaryWatch implements CanaryWatch {
  readonly before: CanaryReading
  readonly limits: CanaryLimits
  readonly #monitor: ClusterMonitor
  readonly #service: ServiceName
  readonly #host: string
  readonly #bound: ReadonlySet<string>
  readonly #isCovered: (jobId: string) => boolean
  #last: NodeReading | undefined

  constructor(
    monitor: ClusterMonitor,
    service: ServiceName,
    change: WatchedChange,
    limits: Partial<CanaryLimits> = {},
  ) {
    const { plan } = change
    this.#monitor = monitor
    this.#service = service
    this.#host = plan.server
    const lets = plan.commands.filter((c) => c.verb !== 'stop').map((c) => c.rule)
    this.#bound = new Set(lets.filter((r) => r !== DEFAULT_RULE && plan.touched.includes(r)))
    const reading = monitor.reading(plan.server, service)
    const policy = reading ? policyOf(monitor.serviceReading(plan.server, service) ?? reading) : ''
    const touched = new Set(plan.touched)
    const [then, after] = [plan.before, plan.expected].map((rules) => ruleFinder(rules, new RuleMatcher(), policy))
    const isIn = (find: ((id: string) => RuleLine | undefined) | undefined, id: string): boolean =>
      touched.has(find?.(id)?.name ?? DEFAULT_RULE)
    this.#isCovered = (id) => isIn(then, id) || isIn(after, id)
    this.#last = reading
    this.before = this.#read(reading)
    const queuedMost = this.before.queued + this.#explained(reading) + QUEUED_FREE
    this.limits = { ...CANARY_DEFAULTS, queuedMost, ...limits }
  }

  /** RPCs that the clients of the covered jobs can have queued on the server. */
  #explained(reading: NodeReading | undefined): number {
    let slots = 0
    for (const t of reading?.targets ?? []) {
      for (const { jobId } of t.entries) {
        if (this.#isCovered(jobId)) slots += SLOTS * (this.#monitor.jobs.find(jobId)?.nodes ?? 16)
      }
    }
    return slots
  }

  #read(reading: NodeReading | undefined): CanaryReading {
    const monitor = this.#monitor
    const service = monitor.serviceReading(this.#host, this.#service)
    let usecs = 0
    let n = 0
    for (const d of reading?.targets.flatMap((t) => t.deltas ?? []) ?? []) {
      if (this.#isCovered(d.jobId)) continue
      usecs += d.serviceUsecs
      n += d.dataRpcs
    }
    const rules = service?.rules.filter((r) => this.#bound.has(r.name)) ?? []
    return {
      atMs: monitor.nowMs(),
      queued: service?.policies.reduce((sum, p) => sum + p.queued, 0) ?? 0,
      timeouts: timeoutsOf(monitor, this.#host),
      othersMs: n === 0 ? undefined : usecs / n / 1000,
      bound: this.#bound.size === 0 ? undefined : rules.reduce((sum, r) => sum + r.ref, 0),
    }
  }

  /** Next reading of the server; undefined if none came in time, or the signal fired. */
  next(signal: AbortSignal | undefined): Promise<CanaryReading | undefined> {
    return new Promise((resolve) => {
      const end = (reading: CanaryReading | undefined): void => {
        clearTimeout(timer)
        off()
        signal?.removeEventListener('abort', cancel)
        resolve(reading)
      }
      const cancel = (): void => end(undefined)
      const timer = setTimeout(() => end(undefined), this.limits.silentMs)
      const off = this.#monitor.onChange(() => {
        const reading = this.#monitor.reading(this.#host, this.#service)
        if (!reading || reading === this.#last || this.#monitor.missing.has(this.#host)) return
        this.#last = reading
        end(this.#read(reading))
      })
      signal?.addEventListener('abort', cancel)
      if (signal?.aborted) cancel()
    })
  }
}
