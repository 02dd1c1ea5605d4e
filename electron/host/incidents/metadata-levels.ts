/** Levels of the metadata plane: waits and false allocation in PADLL's stages, lost stages, its global controller, saturated MDSes. */
import { amount, formatDuration, named } from '#core/alerts/format.ts'
import type { LevelFigures, Levels } from '#core/alerts/figures.ts'
import { isSuperseded, type PadllStatus } from '#core/padll/status.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import type { PadllReader } from '../../cluster/metadata/padll-reader.ts'
import { falseAllocation } from '#core/padll/status.ts'

export class MetadataLevels {
  /** Start of the time without a controller in command, ms. */
  #withoutSinceMs: number | undefined

  take(monitor: ClusterMonitor, atMs: number): Levels {
    const mds = monitor.serversOf('mdt').map((host) => requestWait(monitor, host))
    const { padll } = monitor
    if (!padll) return { mds }
    const status = padll.failure ? undefined : padll.documents.newest?.status
    const controller = [this.#controller(padll, status, atMs)]
    // Figures of a superseded controller no longer change.
    if (!status || isSuperseded(status)) return { mds, controller }
    return {
      mds,
      controller,
      'metadata-wait': waits(status),
      'false-allocation': falseAllocations(status),
      stage: lostStages(status),
    }
  }

  #controller({ failure, node }: PadllReader, status: PadllStatus | undefined, atMs: number): LevelFigures {
    const superseded = status?.failures.find((f) => f.code === 'SUPERSEDED')
    const isWithout = failure !== undefined || superseded !== undefined
    if (!isWithout) this.#withoutSinceMs = undefined
    else if (this.#withoutSinceMs === undefined || this.#withoutSinceMs > atMs) this.#withoutSinceMs = atMs
    const sinceMs = this.#withoutSinceMs
    const what = superseded
      ? `The global controller on ${named(node.host)} with epoch ${status?.epoch ?? 0} is superseded`
      : named(failure?.what ?? '')
    const why = superseded?.why ?? failure?.why ?? ''
    return {
      subject: 'controller',
      where: node.host,
      value: sinceMs === undefined ? 0 : (atMs - sinceMs) / 1_000,
      sinceMs,
      text: () => `${what}${why === '' ? '' : `: ${named(why)}`}`,
    }
  }
}

interface Waiting {
  served: number
  /** Sum over operations, ms. */
  waitMs: number
  stages: number
}

/** Mean wait of each job in each scope over its stages; NaN while none of its waiting operations is served. */
function waits({ locals, jobs }: PadllStatus): LevelFigures[] {
  const sums = new Map<string, Waiting>()
  const keyOf = (job: string, scope: string): string => `${scope} ${job}`
  for (const stage of locals.flatMap((l) => (l.state === 'lost' ? [] : l.stages))) {
    for (const { scope, served, waitMs } of stage.channels) {
      const key = keyOf(stage.job, scope)
      const sum = sums.get(key) ?? { served: 0, waitMs: 0, stages: 0 }
      sum.served += served
      sum.waitMs += served * waitMs
      sum.stages++
      sums.set(key, sum)
    }
  }
  return jobs.map(({ job, scope, queued }) => {
    const sum = sums.get(keyOf(job, scope))
    const meanMs = sum && sum.served > 0 ? sum.waitMs / sum.served : queued > 0 ? NaN : 0
    return {
      subject: keyOf(job, scope),
      where: job,
      value: meanMs,
      text: () =>
        `Operations of ${named(job)} (${named(scope)}) wait ${formatDuration(meanMs)} on average, stages: ${amount(sum?.stages ?? 0)}, ${amount(queued)} queued`,
    }
  })
}

function falseAllocations({ limits, jobs }: PadllStatus): LevelFigures[] {
  return limits.map(({ scope, rate }) => {
    const unused = falseAllocation(jobs.filter((j) => j.scope === scope))
    return {
      subject: scope,
      where: scope,
      value: rate > 0 ? (100 * unused) / rate : 0,
      text: () =>
        `${named(scope)}: ${amount(unused)} of ${amount(rate)} op/s are allocated and unused while a job waits`,
    }
  })
}

/** Lost stages by client; a job that ended has said goodbye and has none. */
function lostStages({ locals }: PadllStatus): LevelFigures[] {
  return [...Map.groupBy(locals, (l) => l.hostname)].map(([host, those]) => {
    const stages = those.flatMap((l) => l.stages)
    const lost = those.flatMap((l) => l.stages.filter((s) => l.state !== 'ok' || s.state === 'silent'))
    const [job = '', ...others] = new Set(lost.map((s) => s.job))
    return {
      subject: host,
      where: host,
      value: lost.length,
      text: () =>
        `${named(host)}: ${amount(lost.length)} of ${amount(stages.length)} stages without heartbeat, of ${others.length === 0 ? named(job) : `${amount(others.length + 1)} jobs`}`,
    }
  })
}

/** Wait of requests before a thread of the `mdt` service takes them; unknown while TBF rules hold requests back on purpose. */
function requestWait(monitor: ClusterMonitor, host: string): LevelFigures {
  const reading = monitor.serviceReading(host, 'mdt')
  const wait = reading?.wait
  const isLimited = reading?.rules.some((r) => r.name !== 'default') ?? false
  const queued = reading?.policies.reduce((n, p) => n + p.queued, 0) ?? NaN
  // Between two readings without a request there is no wait, unless requests are still queued.
  const measuredMs = wait ? (wait.p95Ms ?? wait.meanMs) : queued === 0 ? 0 : NaN
  const waitMs = isLimited || monitor.missing.has(host) ? NaN : measuredMs
  return {
    subject: host,
    where: host,
    value: waitMs,
    text: () =>
      `${named(host)}: requests wait ${amount(waitMs)} ms for a thread of mdt (${wait?.p95Ms === undefined ? 'mean' : '95th percentile'}), ${amount(wait?.requests ?? 0)} served`,
  }
}
