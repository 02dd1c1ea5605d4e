/** Staged frame: planned changes, their review, and committed changes. */
import type { Lint, Review, ServiceName, StagedFrame } from '#core/api/rule-edits.ts'
import type { DiffLine } from '#core/control/plan.ts'
import { lintRules } from '#core/control/lint.ts'
import { isControllerRule } from '#core/controllers/registry.ts'
import { runTrial } from '#core/control/trial.ts'
import { CANARY_S } from '../../../enforce/change.ts'
import { commandsOf, inverseOf, type ServerChange } from '../../../enforce/server-change.ts'
import { SERVICES, type Service } from '../../../base/service.ts'
import { literals } from '../../../base/connection.ts'
import type { ClusterMonitor } from '../../../cluster/monitor.ts'
import { isWork, type RulePlan } from '../../rules/rule-plan.ts'
import type { RuleService } from '../../rules/rule-service.ts'
import type { PastChange } from '../../rules/past-change.ts'
import { isUndo, missingFor } from '../../rules/refusal.ts'
import { toLint, toTrial } from '../../rules/check.ts'
import { ThrottledCache } from '../../rules/throttled-cache.ts'
import { isFor, type StagedChange } from '../../rules/staged-changes.ts'
import { liveJobs } from '../../rules/servers.ts'
import { triedGroups } from '../../rules/trial-inputs.ts'
import { stand } from '../../position.ts'
import { policyPart } from './staged-policy.ts'
import { toNotice } from '../status.ts'

export interface StagedQuery {
  readonly service: ServiceName
  /** Plan under review. */
  readonly reviewed?: string | undefined
}

/** Most lines of a list in a review; changed lines are always included. */
const LIST_LINES = 120

const kindOf = { start: 'add', change: 'mod', stop: 'del' } as const

/** Commands of the first server that concern one rule, including its timer. */
function commandsFor(service: Service, change: ServerChange | undefined, rule: string): string[] {
  if (!change) return []
  const { plan, timers, found, keeps } = change
  const own = { ...plan, commands: plan.commands.filter((c) => c.rule === rule) }
  return commandsOf(service, { plan: own, found, keeps, timers: timers.filter((t) => t.rule === rule), endTimers: [] })
}

const diffFor = (change: ServerChange | undefined, rule: string): DiffLine[] =>
  (change?.plan.diff ?? []).filter((d) => d.text.startsWith(`${rule} `)).map(({ kind, text }) => ({ kind, text }))

function itemOf(service: Service, { changes }: RulePlan, s: StagedChange): StagedFrame['items'][number] {
  const { edit } = s
  const isAbout = (c: ServerChange): boolean =>
    c.plan.commands.some((x) => x.rule === edit.name) || c.timers.some((t) => t.rule === edit.name)
  const on = changes.filter((c) => isFor(s, c.plan.server) && isAbout(c))
  const first = on[0] ?? changes[0]
  return {
    id: s.id,
    verb: edit.verb,
    kind: kindOf[edit.verb],
    rule: edit.name,
    form: s.form,
    expiresS: s.terms.expiresS,
    reason: s.terms.reason,
    stagedMs: s.stagedMs,
    servers: on.length,
    diff: diffFor(first, edit.name),
    commands: commandsFor(service, first, edit.name),
  }
}

/** Servers with the same commands are grouped under the first of them. */
function nodesOf(monitor: ClusterMonitor, service: Service, changes: readonly ServerChange[]): Review['nodes'] {
  const groups = new Map<string, Review['nodes'][number]>()
  for (const c of changes) {
    const node = monitor.node(c.plan.server)
    const commands = literals(node, commandsOf(service, c))
    const inverse = literals(node, inverseOf(service, c))
    const key = JSON.stringify(commands)
    const group = groups.get(key)
    if (group) group.alike.push(c.plan.server)
    else groups.set(key, { host: c.plan.server, commands, inverse, alike: [] })
  }
  return [...groups.values()]
}

function listOf(change: ServerChange | undefined): { list: Review['list']; more: number } {
  if (!change) return { list: [], more: 0 }
  const { preview, commands } = change.plan
  const isHpOnly = commands.length > 0 && commands.every((c) => c.queue === 'hp')
  const all = preview[isHpOnly ? 'hp' : 'reg']
  const list = all
    .filter((l, i) => i < LIST_LINES || l.kind !== '')
    .map((l) => ({ kind: l.kind, rank: l.rank ?? null, name: l.name, text: `${l.conditions} ${l.rate}` }))
  return { list, more: all.length - list.length }
}

function reviewOf(ruleService: RuleService, query: StagedQuery, plan: RulePlan): Review {
  const { monitor } = ruleService
  const service = SERVICES[query.service]
  const changes = plan.changes.filter(isWork)
  const names = plan.staged.filter((s) => s.edit.verb !== 'stop').map((s) => s.edit.name)
  const trial = runTrial([], liveJobs(monitor, query.service), names, triedGroups(query.service, plan))
  const seconds = plan.changes.flatMap((c) => c.timers.map((t) => t.seconds))
  const refused = ruleService.refusal(query.service, plan)
  return {
    planId: plan.planId,
    nodes: nodesOf(monitor, service, changes),
    ...listOf(changes[0] ?? plan.changes[0]),
    trial: toTrial(trial, monitor.sample === 0 ? null : monitor.nowMs()),
    servers: changes.length,
    serversTotal: monitor.serversOf(query.service).length,
    refillTokens: plan.changes.reduce((n, c) => n + c.plan.refillTokens, 0),
    typed: ruleService.typedTarget(query.service),
    expiresS: seconds.length === 0 ? null : Math.min(...seconds),
    timers: changes.some((c) => c.keeps === 'none' && c.timers.length > 0) ? 'laptop' : 'server',
    canaryS: ruleService.options.canaryS ?? CANARY_S,
    pending: isUndo(plan) ? missingFor(monitor, query.service, plan) : [],
    refused: refused ? toNotice(refused) : null,
  }
}

/** Remarks on the resulting lists and the staged rules, and from the plans. */
function lintsOf(ruleService: RuleService, query: StagedQuery, { changes, staged }: RulePlan): Lint[] {
  const names = new Set(staged.map((s) => s.edit.name))
  const after = changes.map((c) => ({ ...c.found, rules: c.plan.expected }))
  const jobs = liveJobs(ruleService.monitor, query.service)
  const found = lintRules({ servers: after, service: query.service, jobs, isPrivate: isControllerRule })
  const notes = new Map(changes.flatMap((c) => c.plan.notes).map((n) => [n.text, n]))
  const refused = new Map(changes.flatMap((c) => c.plan.refused).map((r) => [r.text, r]))
  const gates = new Map(changes.flatMap((c) => c.gates).map((g) => [g.text, g]))
  return [
    ...[...gates.values()].map((g): Lint => {
      return { code: g.id, level: g.action === 'refuse' ? 'bad' : 'watch', rule: '', text: g.text }
    }),
    ...[...refused.keys()].map((text): Lint => ({ code: 'REFUSED', level: 'bad', rule: '', text })),
    ...found.filter((l) => names.has(l.rule)).map(toLint),
    ...[...notes.values()].map((n): Lint => ({ code: n.code, level: 'info', rule: '', text: n.text })),
  ]
}

const pastOf = (
  { pending }: RuleService,
  { id, atMs, title, reason, nodes, inverse, expiresMs, undone }: PastChange,
): StagedFrame['changes'][number] => ({
  id,
  atMs,
  title,
  reason,
  expiresMs,
  undone,
  nodes: [...nodes],
  inverse: [...inverse],
  pending: pending.of(id).map(({ host, why }) => ({ host, why })),
})

/** Review and remarks, which evaluate every live job on every server. */
interface Judged {
  readonly lints: Lint[]
  readonly review: Review
}
const kept = new WeakMap<RuleService, Record<ServiceName, ThrottledCache<Judged>>>()

function judged(ruleService: RuleService, query: StagedQuery, plan: RulePlan): Judged {
  const of = kept.get(ruleService) ?? {
    ost_io: new ThrottledCache<Judged>(400),
    mdt: new ThrottledCache<Judged>(400),
    mdt_readpage: new ThrottledCache<Judged>(400),
  }
  kept.set(ruleService, of)
  const guard = ruleService.guard()?.code ?? ''
  const key = `${plan.planId} ${guard} ${ruleService.isCommitting ? 1 : 0} ${ruleService.monitor.missing.size}`
  return of[query.service].get(key, () => ({
    lints: lintsOf(ruleService, query, plan),
    review: reviewOf(ruleService, query, plan),
  }))
}

export function stagedFrame(ruleService: RuleService, query: StagedQuery, seq: number): StagedFrame {
  const { sample, atMs } = stand(ruleService.monitor, null)
  const service = SERVICES[query.service]
  const plan = ruleService.plan(query.service)
  const policy = ruleService.policies.plan(query.service)
  const isAny = plan.staged.length > 0
  const first = plan.changes.find(isWork)
  return {
    seq,
    sample,
    atMs,
    service: query.service,
    state: ruleService.state(query.service),
    items: plan.staged.map((s) => itemOf(service, plan, s)),
    policy: null,
    inverse: first ? inverseOf(service, first) : [],
    lints: isAny ? judged(ruleService, query, plan).lints : [],
    review: isAny ? judged(ruleService, query, plan).review : null,
    ...(policy && policyPart(ruleService, query.service, policy)),
    changes: ruleService.changesOf(query.service).map((c) => pastOf(ruleService, c)),
    commit: ruleService.progressOf(query.service),
    since: query.reviewed === undefined ? [] : ruleService.since(query.service, query.reviewed),
  }
}
