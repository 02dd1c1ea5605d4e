/**
 * Figures that alert rules are evaluated on, from data the monitor already has. Nothing is read from servers for it.
 */
import {
  JOB_BIN_MS,
  type ConvoyFigures,
  type Figures,
  type GrownJob,
  type JobFigures,
  type ServerFigures,
  type StagedFigures,
} from '#core/alerts/figures.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import type { Job } from '../../cluster/state/job-registry.ts'
import { ldlmColumn } from '../../cluster/locks/ldlm-series.ts'
import { resourceName } from '../../cluster/locks/condition-text.ts'
import { jobColumn, shareColumn, shareName, TARGET_COLUMNS } from '../../cluster/state/recent.ts'
import { LockLevels } from './lock-levels.ts'
import { MetadataLevels } from './metadata-levels.ts'
import { TokenFacts } from './token-facts.ts'

/** A reading older than this many intervals is not current. */
const STALE_INTERVALS = 2.5
const STALE_LEAST_MS = 1_000
const STAGED_MS = 1_000
/** Waiting locks of a target, over all resources, that count as one waiter of a resource. */
const LDLM_PER = 8
const LDLM_FRESH_MS = 15_000
/** Windows before and after, ms, in which job rates are compared to find the one that grew, and the least growth. */
const GROWN_MS = { before: 60_000, after: 10_000 } as const
const GROWN_LEAST = 1

const TARGET = { rpcs: TARGET_COLUMNS.indexOf('rpcs'), queued: TARGET_COLUMNS.indexOf('queued') } as const

export class AlertFacts {
  readonly #monitor: ClusterMonitor
  readonly #tokens: TokenFacts
  readonly #metadata = new MetadataLevels()
  readonly #locks = new LockLevels()
  #bin = { atMs: NaN, sample: 0 }
  #stagedMs = -Infinity
  /** Number of rule changes by operators. */
  #changes = 0

  constructor(monitor: ClusterMonitor) {
    this.#monitor = monitor
    this.#tokens = new TokenFacts(monitor)
    monitor.events.onEvent((m) => {
      if (m.kind === 'change' && m.subject === 'Rule' && m.level !== 'bad') this.#changes++
    })
  }

  /** Figures as of now. */
  take(atMs: number): Figures {
    const { loop, intervalNs, ldlm, locks } = this.#monitor
    const hasLocks = locks !== undefined || ldlm.hasServers
    const tokens = this.#tokens.take()
    return {
      atMs,
      intervalMs: intervalNs / 1e6,
      regime: `${loop.controller} ${loop.mode} ${this.#changes}`,
      servers: this.#monitor.allServers.map((host) => this.#server(host)),
      jobs: this.#jobs(atMs),
      staged: this.#staged(atMs),
      convoys: hasLocks ? this.#convoys(atMs) : undefined,
      reservations: tokens?.reservations,
      levels: {
        ...this.#locks.take(this.#monitor, atMs),
        ...this.#metadata.take(this.#monitor, atMs),
        ...tokens?.levels,
      },
      grown: (host, sinceMs) => this.#grown(host, sinceMs),
    }
  }

  #server(host: string): ServerFigures {
    const missing = this.#monitor.missing.get(host)
    const age = this.#monitor.ageMs(host) ?? Infinity
    const isFresh = age <= Math.max(STALE_LEAST_MS, (STALE_INTERVALS * this.#monitor.intervalNs) / 1e6)
    const queued = isFresh ? this.#queued(host) : NaN
    const silent = missing ? missing.reason || 'no answer' : ''
    return { host, queued: missing ? NaN : queued, silent, silentSinceMs: missing?.sinceMs }
  }

  /** RPCs queued in the main service of each role; NaN if not read. */
  #queued(host: string): number {
    const first = (['ost_io', 'mdt'] as const).flatMap((s) => this.#monitor.serviceReading(host, s) ?? [])
    if (first.length === 0 || first.some((r) => !r.isRead)) return NaN
    return first.reduce((n, r) => n + r.policies.reduce((k, p) => k + p.queued, 0), 0)
  }

  /** Means of the bin that has just ended; undefined before. */
  #jobs(atMs: number): JobFigures | undefined {
    const { recent, sample, jobs, servers, targets, loop } = this.#monitor
    if (Number.isNaN(this.#bin.atMs) || atMs < this.#bin.atMs) this.#bin = { atMs, sample }
    if (atMs - this.#bin.atMs < JOB_BIN_MS) return undefined
    const n = sample - this.#bin.sample
    this.#bin = { atMs, sample }
    if (n <= 0) return undefined
    const all: readonly Job[] = [...jobs.all]
    const ids = all.map((j) => j.jobId)
    const { raw } = recent
    const index = new Map(servers.map((host, i) => [host, i]))
    const serverOf = new Map(targets.map((t) => [t.target, index.get(t.node) ?? -1]))
    const isHeld = loop.mode === 'enforce' && loop.controller !== 'none'
    const gaps = new Float64Array(ids.length).fill(NaN)
    const granted = isHeld ? raw.jobs.means(ids, jobColumn('granted'), sample, n) : gaps
    const held = isHeld ? raw.jobs.means(ids, jobColumn('throttled'), sample, n) : gaps
    for (let i = 0; i < held.length; i++) if (Number.isNaN(granted[i])) held[i] = NaN
    return {
      ids,
      served: raw.jobs.means(ids, jobColumn('rpcs'), sample, n),
      held,
      serversOf: (i) => serversOf(all[i], serverOf),
      weightOf: (i) => all[i]?.nodes ?? 1,
      servers: servers.map((host, i) => {
        const targetsOfServer = targets.filter((t) => serverOf.get(t.target) === i).map((t) => t.target)
        const first = targetsOfServer[0]
        return {
          host,
          queued: first === undefined ? NaN : raw.targets.mean(first, TARGET.queued, sample, n),
          served: targetsOfServer.reduce((sum, t) => sum + raw.targets.mean(t, TARGET.rpcs, sample, n), 0),
        }
      }),
    }
  }

  #staged(atMs: number): StagedFigures[] | undefined {
    const { padll } = this.#monitor
    if (!padll || padll.failure || atMs - this.#stagedMs < STAGED_MS) return undefined
    this.#stagedMs = atMs
    const limits = new Map(padll.documents.newest?.status.limits.map((l) => [l.scope, l.rate]))
    const jobs = padll.jobsNow
    return jobs.map(({ job, scope, measured, asked: requested, queued }) => ({
      job,
      scope,
      measured,
      demand: requested,
      queued,
      limit: limits.get(scope) ?? Infinity,
      demandingJobs: jobs.filter((j) => j.scope === scope && j.asked > 0).length,
    }))
  }

  #convoys(atMs: number): ConvoyFigures[] {
    const { locks, sample, ldlm } = this.#monitor
    const convoys = (locks?.conditions(sample, 1) ?? []).flatMap(({ condition: a }): ConvoyFigures[] => {
      if (a.kind !== 'convoy' || !locks) return []
      const name = resourceName(locks.world, a.resource)
      return [{ key: `resource ${a.resource}`, name, waiting: a.waiting, per: 1, behind: a.behindMode }]
    })
    const { series } = ldlm
    const row = series.rowAt(atMs)
    const isFresh = row > 0 && atMs - series.table.atMs(row) <= LDLM_FRESH_MS
    const counted = [...series.known].map(({ key, target }): ConvoyFigures => {
      const of = (m: 'locks' | 'granted'): number =>
        isFresh ? series.value(series.table, key, ldlmColumn(m), row) : NaN
      return { key, name: target, waiting: Math.max(0, of('locks') - of('granted')), per: LDLM_PER, behind: '' }
    })
    return [...convoys, ...counted]
  }

  #grown(host: string, sinceMs: number): GrownJob | undefined {
    const { recent, jobs, targets, sample } = this.#monitor
    const targetsOfServer = new Set(targets.filter((t) => t.node === host).map((t) => t.target))
    const { shares } = recent
    const stepMs = Math.max(1, this.#monitor.intervalNs / 1e6)
    const since = shares.sampleAt(sinceMs)
    const after = Math.max(1, Math.min(sample - since, Math.round(GROWN_MS.after / stepMs)))
    const before = Math.max(1, Math.round(GROWN_MS.before / stepMs))
    let most: GrownJob | undefined
    for (const { jobId, targets: used } of jobs.all) {
      let by = 0
      for (const t of used) {
        if (!targetsOfServer.has(t)) continue
        const name = shareName(jobId, t)
        const of = (at: number, n: number): number => meanOfAll(shares, name, at, n)
        by += of(sample, after) - of(since, before)
      }
      if (by >= GROWN_LEAST && by > (most?.by ?? 0)) most = { job: jobId, by }
    }
    return most
  }
}

/** Servers of the targets that a job was seen on. */
function serversOf(job: Job | undefined, serverOf: ReadonlyMap<string, number>): number[] {
  const out: number[] = []
  for (const t of job?.targets ?? []) {
    const s = serverOf.get(t)
    if (s !== undefined && s >= 0 && !out.includes(s)) out.push(s)
  }
  return out
}

/** Mean RPC/s of a share over the `n` samples up to `at`; a sample without a value counts as 0. */
function meanOfAll(shares: ClusterMonitor['recent']['shares'], name: string, at: number, n: number): number {
  const from = Math.max(shares.oldest, at - n + 1)
  let sum = 0
  for (let s = from; s <= at; s++) {
    const v = shares.value(name, shareColumn('rpcs'), s)
    if (v > 0) sum += v
  }
  return at < from ? 0 : sum / (at - from + 1)
}
