/** Staged frame: planned changes, their review, and committed changes. */
import type { Lint, Review, ServiceName, StagedFrame } from '#core/api/rule-edits.ts'
import type { DiffLine } from '#core/control/plan.ts'
import { lintRules } from '#core/control/lint.ts'
import { isControllerRule } from '#core/controllers/registry.ts'
import { runTrial } from '#core/control/trial.ts'
import { policyText } from '#core/control/policy-plan.ts'
import { primaryPolicy } from '#core/lustre/nrs-policies.ts'
import { CANARY_S } from '../../../enforce/change.ts'
import { commandsOf, inverseOf, type ServerChange } from '../../../enforce/server-change.ts'
import { SERVICES, type Service } from '../../../base/service.ts'
import { literals } from '../../../base/connection.ts'
import type { ClusterMonitor } from '../../../cluster/monitor.ts'
import { isWork, type PlannedChange, type RulePlan } from '../../rules/rule-plan.ts'
import type { RuleService } from '../../rules/rule-service.ts'
import type { PastChange } from '../../rules/past-change.ts'
import { isUndo, missingFor } from '../../rules/refusal.ts'
import { toLint, toTrial } from '../../rules/check.ts'
import { ThrottledCache } from '../../rules/throttled-cache.ts'
import { isFor, type StagedChange } from '../../rules/staged-changes.ts'
import { liveJobs } from '../../rules/servers.ts'
import { triedGroups } from '../../rules/trial-inputs.ts'
import { resolvePosition } from '../../position.ts'
import { policyLines } from '../../../enforce/policy-commit.ts'
import { foreignLoss, titleOf, type PlannedPolicy } from '../../rules/policy-plans.ts'
import { toNotice } from '../status.ts'

/** Most removed rules listed in the review. */
const LOST_LINES = 120

function policyNodes(service: ServiceName, { servers }: PlannedPolicy): Review['nodes'] {
  const groups = new Map<string, Review['nodes'][number]>()
  for (const { plan } of servers) {
    if (plan.steps.length === 0) continue
    const [commands, inverse] = [plan.steps, plan.inverse].map((s) => policyLines(s, SERVICES[service]))
    const key = JSON.stringify([commands, inverse])
    const group = groups.get(key)
    if (group) group.alike.push(plan.server)
    else groups.set(key, { host: plan.server, commands: commands ?? [], inverse: inverse ?? [], alike: [] })
  }
  return [...groups.values()]
}

type PolicyPart = Pick<StagedFrame, 'policy' | 'inverse' | 'lints' | 'review'>

/** Staged policy change: its steps, the rules it removes, and its review. */
function policyPart(ruleService: RuleService, service: ServiceName, plan: PlannedPolicy): PolicyPart {
  const { staged, servers } = plan
  const work = servers.filter((s) => s.plan.steps.length > 0)
  const [first] = work
  const now = first && primaryPolicy(first.policies, 'reg')
  const lost = first?.plan.lost ?? []
  const refused = ruleService.policies.refusal(service, plan)
  const foreign = foreignLoss(plan, ruleService.rules)
  const notes = [...new Set(servers.flatMap((s) => s.plan.notes))]
  return {
    policy: {
      id: staged.id,
      to: titleOf(staged),
      reason: staged.reason,
      from: now ? policyText(now) : '',
      lost: lost.slice(0, LOST_LINES),
      drainS: Math.max(0, ...servers.map((s) => s.plan.drain.mostS)),
    },
    inverse: first ? policyLines(first.plan.inverse, SERVICES[service]) : [],
    lints: [
      ...(foreign === undefined
        ? []
        : [{ code: 'FOREIGN_RULES', level: 'bad', rule: '', text: foreign } satisfies Lint]),
      ...notes.map((text): Lint => ({ code: 'POLICY', level: 'watch', rule: '', text })),
    ],
    review: {
      planId: plan.planId,
      nodes: policyNodes(service, plan),
      list: lost.slice(0, LOST_LINES).map((text) => {
        const [name = '', ...rest] = text.split(' ')
        return { kind: 'del', rank: null, name, text: rest.join(' ') }
      }),
      more: Math.max(0, lost.length - LOST_LINES),
      trial: null,
      servers: work.length,
      serversTotal: ruleService.monitor.serversOf(service).length,
      refillTokens: 0,
      typed: ruleService.typedTarget(service),
      expiresS: null,
      timers: 'server',
      canaryS: ruleService.options.canaryS ?? CANARY_S,
      pending: [],
      refused: refused ? toNotice(refused) : null,
    },
  }
}

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
  const rulePlan = { ...plan, commands: plan.commands.filter((c) => c.rule === rule) }
  return commandsOf(service, {
    plan: rulePlan,
    found,
    keeps,
    timers: timers.filter((t) => t.rule === rule),
    endTimers: [],
  })
}

const diffFor = (change: ServerChange | undefined, rule: string): DiffLine[] =>
  (change?.plan.diff ?? []).filter((d) => d.text.startsWith(`${rule} `)).map(({ kind, text }) => ({ kind, text }))

function itemOf(service: Service, { changes }: RulePlan, s: StagedChange): StagedFrame['items'][number] {
  const { edit } = s
  const isAbout = (c: PlannedChange): boolean =>
    c.plan.commands.some((x) => x.rule === edit.name) ||
    c.timers.some((t) => t.rule === edit.name) ||
    c.terms.some((t) => t.start === s)
  const on = changes.filter((c) => isFor(s, c.plan.server) && isAbout(c))
  const first = on[0] ?? changes[0]
  return {
    id: s.id,
    verb: edit.verb,
    kind: kindOf[edit.verb],
    rule: edit.name,
    form: s.form,
    expiresS: s.terms.expiresS,
    ...(s.terms.renews === true ? { renews: true } : {}),
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
  // A change of timers alone writes no rule, and is not nothing.
  const noted = changes.flatMap((c) => c.plan.notes.filter((n) => n.code !== 'NO_CHANGE' || !isWork(c)))
  const notes = new Map(noted.map((n) => [n.text, n]))
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
  revertible: ReadonlySet<string>,
): StagedFrame['changes'][number] => ({
  id,
  atMs,
  title,
  reason,
  expiresMs,
  undone,
  revertible: revertible.has(id),
  nodes: [...nodes],
  inverse: [...inverse],
  pending: pending.of(id).map(({ host, why }) => ({ host, why })),
})

/** Review and remarks, which evaluate every live job on every server. */
interface Judged {
  readonly lints: Lint[]
  readonly review: Review
}
const cache = new WeakMap<RuleService, Record<ServiceName, ThrottledCache<Judged>>>()
/** Latest review of each service: while it is committed, it is not evaluated against servers that have part of it. */
const latest = new WeakMap<RuleService, Map<ServiceName, Judged>>()

function judged(ruleService: RuleService, query: StagedQuery, plan: RulePlan): Judged {
  const of = cache.get(ruleService) ?? {
    ost_io: new ThrottledCache<Judged>(400),
    mdt: new ThrottledCache<Judged>(400),
    mdt_readpage: new ThrottledCache<Judged>(400),
  }
  cache.set(ruleService, of)
  const last = latest.get(ruleService) ?? new Map<ServiceName, Judged>()
  latest.set(ruleService, last)
  const before = last.get(query.service)
  if (before?.review.planId === plan.planId && ruleService.state(query.service).phase === 'committing') return before
  const refusal = ruleService.writeRefusal()?.code ?? ''
  const key = `${plan.planId} ${refusal} ${ruleService.isCommitting ? 1 : 0} ${ruleService.monitor.missing.size}`
  const now = of[query.service].get(key, () => ({
    lints: lintsOf(ruleService, query, plan),
    review: reviewOf(ruleService, query, plan),
  }))
  last.set(query.service, now)
  return now
}

export function stagedFrame(ruleService: RuleService, query: StagedQuery, seq: number): StagedFrame {
  const { sample, atMs } = resolvePosition(ruleService.monitor, null)
  const service = SERVICES[query.service]
  const plan = ruleService.plan(query.service)
  const policy = ruleService.policies.plan(query.service)
  const isAny = plan.staged.length > 0
  const revertible = ruleService.revertible(query.service)
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
    changes: ruleService.changesOf(query.service).map((c) => pastOf(ruleService, c, revertible)),
    commit: ruleService.progressOf(query.service),
    since: query.reviewed === undefined ? [] : ruleService.since(query.service, query.reviewed),
  }
}
