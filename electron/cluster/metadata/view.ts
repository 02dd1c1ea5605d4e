/** Assembles the state of one metadata control cycle for the views. */
import type { MetadataSettings } from '#core/api/padll.ts'
import { isControllerRule } from '#core/controllers/registry.ts'
import type { Failure } from '#core/base/result.ts'
import type { CompiledRule } from '#core/padll/mds/compile.ts'
import type { MetadataDecision } from '#core/padll/mds/controller.ts'
import { countOfScope, MDS_SCOPES } from '#core/padll/mds/operations.ts'
import type { Scope } from '#core/padll/vocabulary.ts'
import { serviceReading, type NodeReading } from '../read/collector.ts'
import type { PoliciesAt } from './policies.ts'
import type {
  MetadataEvent,
  MetadataJob,
  MetadataRule,
  MetadataServer,
  MetadataService,
  MetadataState,
} from './state.ts'
import type { ServerCounts } from './window.ts'
import type { WrittenServer } from './writer.ts'
import { policyOf } from '../control/sample.ts'
import { SERVICES } from '../../base/service.ts'

/** A server at its last reading. */
export interface LastServer {
  readonly written: WrittenServer
  reading: NodeReading
  seenMs: number
  /** Reason why it does not answer now; undefined if it does. */
  silent: string | undefined
}

export interface StateParts {
  readonly sample: number
  readonly atMs: number
  readonly cycle: number
  readonly cycleMs: number | null
  readonly settings: MetadataSettings
  readonly decision: MetadataDecision | undefined
  readonly policies: PoliciesAt
  readonly failures: readonly Failure[]
  readonly events: readonly MetadataEvent[]
  readonly hosts: readonly string[]
  readonly serverOf: (host: string) => LastServer | undefined
  readonly countsOf: (host: string) => ServerCounts | undefined
  readonly leaseUntilMs: (host: string) => number | null
}

/** Maximum listed jobs without a policy, those with most operations. */
const FREE_MAX = 500

export function metadataState(p: StateParts): MetadataState {
  const rules = p.decision?.rules ?? []
  const { sample, atMs, cycle, cycleMs, settings, failures, events } = p
  return {
    sample,
    atMs,
    cycle,
    cycleMs,
    settings,
    failures,
    events,
    scopes: scopesOf(p),
    jobs: jobsOf(p),
    servers: p.hosts.map((host) => serverOf(p, host, rules)),
    steps: p.policies.steps,
    nextInS: p.policies.nextInS,
    unexpressed: p.decision?.unexpressed ?? [],
  }
}

/** Scopes with a limit or a policy, the broadest first. */
function scopesOf({ settings, decision, policies }: StateParts): Scope[] {
  const scopes = new Set<Scope>([
    ...settings.limits.map((l) => l.scope),
    ...(decision?.shares ?? []).map((s) => s.scope),
    ...policies.inForce.map((s) => s.scope),
  ])
  return [...scopes].sort((a, b) => MDS_SCOPES[b].opcodes.length - MDS_SCOPES[a].opcodes.length)
}

function jobsOf(p: StateParts): MetadataJob[] {
  const { decision, hosts, countsOf } = p
  const isMeasured = hosts.some((host) => countsOf(host) !== undefined)
  const rulesOf = new Map<string, CompiledRule[]>()
  for (const r of decision?.rules ?? []) {
    for (const scope of r.scopes) {
      const key = `${r.job}\u0000${scope}`
      const list = rulesOf.get(key)
      if (list) list.push(r)
      else rulesOf.set(key, [r])
    }
  }
  const held = (decision?.shares ?? []).map((s): MetadataJob => {
    const mine = rulesOf.get(`${s.job}\u0000${s.scope}`) ?? []
    const { job, scope, demand, limit, allocated, isActive } = s
    const measured = isMeasured ? s.measured : null
    const atLimit = isMeasured ? mine.filter((r) => r.isAtLimit).length : 0
    return { job, scope, demand, limit, asked: null, measured, allocated, isActive, rules: mine.length, atLimit }
  })
  return [...held, ...freeJobs(p, held)]
}

/** Jobs without a policy: their operations in the limited scopes, as counted by job_stats of the MDTs. */
function freeJobs(p: StateParts, held: readonly MetadataJob[]): MetadataJob[] {
  const known = new Set(held.map((j) => `${j.job}\u0000${j.scope}`))
  const measured = new Map<string, { readonly job: string; readonly scope: Scope; perSec: number }>()
  const scopes = scopesOf(p)
  for (const host of p.hosts) {
    const counts = p.countsOf(host)
    for (const [job, ops] of counts?.jobs ?? []) {
      for (const scope of scopes) {
        const key = `${job}\u0000${scope}`
        const perSec = countOfScope(ops, scope) / (counts?.spanS ?? 1)
        if (perSec === 0 || known.has(key)) continue
        const sum = measured.get(key)
        if (sum) sum.perSec += perSec
        else measured.set(key, { job, scope, perSec })
      }
    }
  }
  const biggest = [...measured.values()].sort((a, b) => b.perSec - a.perSec).slice(0, FREE_MAX)
  return biggest.map(({ job, scope, perSec }) => ({
    job,
    scope,
    demand: null,
    limit: null,
    asked: null,
    measured: perSec,
    allocated: null,
    isActive: true,
    rules: 0,
    atLimit: 0,
  }))
}

function serverOf(p: StateParts, host: string, rules: readonly CompiledRule[]): MetadataServer {
  const last = p.serverOf(host)
  const counts = last?.silent === undefined ? p.countsOf(host) : undefined
  const policy = (service: MetadataService): string => {
    const reading = last && serviceReading(last.reading, SERVICES[service])
    return reading ? policyOf(reading) : ''
  }
  // The rules of a silent server are gone once its timer has fired.
  const isGone = last?.silent !== undefined && (p.leaseUntilMs(host) ?? 0) <= p.atMs
  let operations = 0
  for (const ops of counts?.jobs.values() ?? []) operations += countOfScope(ops, 'meta_op')
  const lines = last ? [...last.written.services.mdt.rules, ...last.written.services.mdt_readpage.rules] : []
  const all = last ? [last.reading, ...last.reading.others] : []
  return {
    host,
    state: last && last.silent === undefined ? 'ok' : 'silent',
    lastSeenMs: last?.seenMs ?? null,
    why: last ? (last.silent ?? '') : 'it has not answered yet',
    cpts: lines.reduce((n, r) => Math.max(n, r.cpt + 1), 1),
    policies: { mdt: policy('mdt'), mdt_readpage: policy('mdt_readpage') },
    measured: counts ? operations / counts.spanS : null,
    queued: all.reduce((n, r) => n + r.policies.reduce((k, x) => k + x.queued, 0), 0),
    leaseUntilMs: p.leaseUntilMs(host),
    rules: rules.filter((r) => r.host === host).map((r) => ruleOf(r, last, counts !== undefined, isGone)),
  }
}

function ruleOf(r: CompiledRule, last: LastServer | undefined, isMeasured: boolean, isGone: boolean): MetadataRule {
  const { host, service, name, job, scopes, opcodes, operations, conditions, rate, limit, isAtLimit } = r
  const present = last?.written.services[service].rules.find((x) => x.queue === 'reg' && x.name === name)
  return {
    key: `${host}/${service}/${name}`,
    host,
    service,
    name,
    job,
    scopes,
    opcodes,
    operations,
    conditions,
    rate,
    limit,
    measured: isMeasured ? r.used : null,
    atLimit: isMeasured && isAtLimit,
    inForce: present?.rate === rate && isControllerRule(name) && !isGone,
  }
}
