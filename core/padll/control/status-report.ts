/** Status of a global controller (core/padll/status.ts). */
import type { Failure } from '../../base/result.ts'
import { NS_PER_MS, NS_PER_S } from '../../base/units.ts'
import type { HousekeepingRule } from '../rules/housekeeping.ts'
import type { PolicySchedule } from '../rules/policy-schedule.ts'
import type { PadllStatus } from '../status.ts'
import type { Scope } from '../vocabulary.ts'
import { objectsOf } from './layout-objects.ts'
import type { ChannelCounts } from './messages.ts'
import type { Plan, PoliciesByScope } from './plan.ts'
import type { GlobalSettings } from './settings.ts'
import { equalPart } from './split.ts'
import type { Reservation } from './reservations.ts'
import { bounded, type LocalPeer, type StageRecord, type StageScope } from './stage-record.ts'

export interface StatusInput {
  readonly reservations: readonly Reservation[]
  readonly controller: string
  readonly epoch: number
  readonly nowMs: number
  readonly startedMs: number
  readonly cycle: number
  readonly cycleMs: number
  readonly settings: GlobalSettings
  readonly peers: readonly LocalPeer[]
  readonly housekeeping: readonly HousekeepingRule[]
  readonly plan: Plan
  readonly policies: PoliciesByScope
  readonly policiesText: string
  readonly policiesStartedMs: number
  readonly schedule: PolicySchedule
  /** Sums of each job since the controller first saw it, by scope. */
  readonly sums: ReadonlyMap<
    Scope,
    ReadonlyMap<string, { readonly arrived: number; readonly served: number; readonly throttledNs: number }>
  >
  readonly events: PadllStatus['events']
  readonly failures: readonly Failure[]
  readonly msOf: (ns: number) => number
}

type Job = PadllStatus['jobs'][number]
type Stage = PadllStatus['locals'][number]['stages'][number]

const ROWS_MAX = 10_000
const TEXT_MAX = 512
const FAILURES_MAX = 100

const cut = (text: string): string => text.slice(0, TEXT_MAX)
const count = (n: number): number => (Number.isSafeInteger(n) && n >= 0 ? n : 0)
const amount = bounded
const perSecond = (n: number, windowNs: number): number => (windowNs > 0 ? (amount(n) / windowNs) * NS_PER_S : 0)

export function statusOf(of: StatusInput): PadllStatus {
  const { settings } = of
  const stages = of.peers.flatMap((peer) => [...peer.stages.values()])
  const present = new Set(stages.map((s) => s.identity.job))
  return {
    version: 1,
    controller: cut(of.controller),
    epoch: of.epoch,
    atMs: of.nowMs,
    startedMs: of.startedMs,
    cycle: of.cycle,
    cycleMs: amount(of.cycleMs),
    algorithm: settings.algorithm,
    epsilon: settings.epsilon,
    split: settings.split,
    intervalMs: settings.intervalNs / NS_PER_MS,
    collectRounds: settings.collectRounds,
    lease: { seconds: settings.lease.ns / NS_PER_S, onExpiry: settings.lease.onExpiry },
    limits: [...settings.limits].map(([scope, rate]) => ({ scope, rate })),
    jobs: jobsOf(of, stages),
    locals: localsOf(of),
    policies: {
      text: of.policiesText,
      startedMs: of.policiesStartedMs,
      steps: of.schedule
        .steps((job) => present.has(job))
        .slice(0, ROWS_MAX)
        .map(({ line, rule, atS, kind, job, scope, value, state }) => {
          return { line, rule, atS, kind: kind === 'limit' ? 'job' : kind, job: cut(job), scope, value, state }
        }),
    },
    events: of.events,
    failures: of.failures.slice(0, FAILURES_MAX).map((f) => {
      return { code: f.code, what: cut(f.what), why: cut(f.why ?? ''), where: cut(of.controller) }
    }),
  }
}

/** One row for each job in each scope that it has channels for. */
function jobsOf(of: StatusInput, stages: readonly StageRecord[]): Job[] {
  const rows = new Map<Scope, Map<string, Job>>()
  const rowOf = (job: string, scope: Scope): Job => {
    let jobs = rows.get(scope)
    if (!jobs) rows.set(scope, (jobs = new Map<string, Job>()))
    let row = jobs.get(job)
    if (!row) {
      const { demand, limit } = of.policies.get(scope)?.get(job) ?? { demand: null, limit: null }
      const sum = of.sums.get(scope)?.get(job)
      row = {
        job: cut(job),
        scope,
        stages: 0,
        demand,
        limit,
        asked: 0,
        measured: 0,
        allocated: null,
        queued: 0,
        throttledS: (sum?.throttledNs ?? 0) / NS_PER_S,
        askedTotal: sum?.arrived ?? 0,
        servedTotal: sum?.served ?? 0,
      }
      jobs.set(job, row)
    }
    return row
  }
  for (const stage of stages) {
    for (const scope of stage.scopes.keys()) rowOf(stage.identity.job, scope).stages++
    for (const c of stage.counts) {
      const row = rowOf(stage.identity.job, c.scope)
      row.asked += perSecond(c.arrived, stage.windowNs)
      row.measured += perSecond(c.served, stage.windowNs)
      row.queued += count(Math.round(c.queued))
    }
  }
  const given = new Map(of.plan.scopes.map((s) => [s.scope, s.allocated]))
  for (const stage of stages) {
    const { job } = stage.identity
    for (const [scope, inScope] of stage.scopes) {
      if (given.get(scope)?.has(job)) {
        const row = rowOf(job, scope)
        row.allocated = (row.allocated ?? 0) + limitOf(stage, inScope)
      }
    }
  }
  return [...rows.values()].flatMap((jobs) => [...jobs.values()]).slice(0, ROWS_MAX)
}

/** Limit of a stage over the time that its counts cover; before the first counts, the current one. */
const limitOf = (stage: StageRecord, of: StageScope): number => (stage.windowNs === 0 ? of.most : of.held)

function localsOf(of: StatusInput): PadllStatus['locals'] {
  const layout = new Map(objectsOf(of.housekeeping).map((o) => [`${o.channel} ${o.object}`, o.refillUs / 1000]))
  const known = of.peers.filter((peer) => peer.isAccepted)
  const there = known.slice(0, ROWS_MAX).map((peer): PadllStatus['locals'][number] => ({
    id: cut(peer.local),
    hostname: cut(peer.hostname),
    state: peer.misses > 0 ? 'silent' : 'ok',
    lastSeenMs: of.msOf(peer.lastSeenNs),
    stages: [...peer.stages.values()].map((stage) => stageOf(stage, layout)),
  }))
  return [...there, ...lostOf(of, new Set(known.map((peer) => peer.local)))].slice(0, ROWS_MAX)
}

/** Local controllers that are gone while some of their rates are still reserved. */
function lostOf(of: StatusInput, known: ReadonlySet<string>): PadllStatus['locals'] {
  const lost = new Map<string, PadllStatus['locals'][number]>()
  for (const { local, identity, rates, lostNs } of of.reservations) {
    if (known.has(local)) continue
    const { job, instance, hostname, pid, user } = identity
    let row = lost.get(local)
    if (!row) {
      row = { id: cut(local), hostname: cut(hostname), state: 'lost', lastSeenMs: of.msOf(lostNs), stages: [] }
      lost.set(local, row)
    }
    row.stages.push({
      key: `lost ${row.stages.length}`,
      job: cut(job),
      instance: count(instance),
      hostname: cut(hostname),
      pid: count(pid),
      user: cut(user),
      state: 'silent',
      channels: [...rates].map(([scope, limit]) => {
        return { channel: 0, object: 0, scope, limit, refillMs: null, ...flowOf(undefined, 0) }
      }),
    })
  }
  return [...lost.values()]
}

function stageOf(stage: StageRecord, refillMs: ReadonlyMap<string, number>): Stage {
  const { job, instance, hostname, pid, user } = stage.identity
  const counts = new Map(stage.counts.map((c) => [`${c.channel} ${c.object}`, c]))
  const seen = new Map<Scope, number>()
  return {
    key: cut(stage.key),
    job: cut(job),
    instance: count(instance),
    hostname: cut(hostname),
    pid: count(pid),
    user: cut(user),
    state: stage.isSilent ? 'silent' : stage.windowNs === 0 ? 'joining' : 'ok',
    channels: stage.channels.map(({ channel, object, scope, rate }) => {
      const key = `${channel} ${object}`
      const of = stage.scopes.get(scope)
      const i = rate > 0 ? (seen.get(scope) ?? 0) : 0
      if (rate > 0) seen.set(scope, i + 1)
      const limit = of && rate > 0 ? Math.max(1, equalPart(limitOf(stage, of), of.objects.length, i)) : null
      const refill = refillMs.get(key)
      return { channel, object, scope, limit, refillMs: refill ?? null, ...flowOf(counts.get(key), stage.windowNs) }
    }),
  }
}

const flowOf = (
  c: ChannelCounts | undefined,
  windowNs: number,
): { arrived: number; served: number; waited: number; waitMs: number; queued: number } => ({
  arrived: c ? perSecond(c.arrived, windowNs) : 0,
  served: c ? perSecond(c.served, windowNs) : 0,
  waited: c && c.served > 0 ? Math.min(1, amount(c.waited) / c.served) : 0,
  waitMs: c && c.served > 0 ? amount(c.throttledNs) / c.served / NS_PER_MS : 0,
  queued: c ? count(Math.round(c.queued)) : 0,
})
