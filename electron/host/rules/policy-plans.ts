/** Plan of a staged policy change for every server, and reasons against it. */
import { createHash, randomBytes } from 'node:crypto'
import type { ServiceName } from '#core/api/rule-edits.ts'
import type { Failure } from '#core/base/result.ts'
import type { QueueChoice } from '#core/control/rule-edit.ts'
import { isControllerRule, isHelperRule } from '#core/controllers/registry.ts'
import {
  planPolicy,
  planQueuePolicies,
  policyText,
  restoreRules,
  type PolicyChoice,
  type PolicyPlan,
  type QueuePolicy,
} from '#core/control/policy-plan.ts'
import { counted, listed } from '#core/control/sentence.ts'
import { planBaseHash } from '#core/control/plan-base.ts'
import { DEFAULT_RULE, headOf, cptsOf, writtenRules, type ServerRules } from '#core/control/server-rules.ts'
import type { PolicyStatus, Queue } from '#core/lustre/nrs-policies.ts'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import { SERVICES } from '../../base/service.ts'
import { policyLines, type PolicyServer } from '../../enforce/policy-commit.ts'
import type { ServerFacts } from './rule-plan.ts'
import type { OperatorRules } from './operator-rules.ts'
import { failure } from './refusal.ts'

/** State of a server before a change of its policy, to restore it. */
export interface PolicyBefore {
  /** Policies of the changed queues. */
  readonly policies: readonly QueuePolicy[]
  /** Rules that were lost with TBF, in match order, as written; all CPTs have the same list. */
  readonly rules: readonly RuleLine[]
  readonly realtime: ReadonlyMap<string, boolean>
  /** Rules with an expiry timer: they are restored only while the timer exists. */
  readonly timed: readonly { readonly queue: Queue; readonly name: string }[]
}

export interface StagedPolicy {
  readonly id: string
  readonly service: ServiceName
  readonly to: PolicyChoice
  /** Queues to change. */
  readonly queue: QueueChoice
  /** Servers to change; undefined for all. */
  readonly hosts?: readonly string[] | undefined
  readonly reason: string
  readonly stagedMs: number
  /** State before the change that an undo reverts, by server; it replaces `to`. */
  readonly back?: ReadonlyMap<string, PolicyBefore> | undefined
  /** Committed change that it undoes. */
  readonly undoes?: string | undefined
}

export interface PlannedPolicy {
  readonly staged: StagedPolicy
  readonly servers: readonly (PolicyServer & { readonly version: string })[]
  readonly planId: string
}

export interface PolicyRead extends ServerRules {
  readonly policies: readonly PolicyStatus[]
}

/** Minimum and maximum time to wait for a policy to stop, wall ms. */
const WAIT_MS = { least: 60_000, most: 900_000 } as const
/** Time to expiry that a restored rule must have left, ms: once its timer has fired nothing would end it. */
const LEAST_MS = 60_000

/** Title of a staged change: the policy, and the queue if only one changes. */
export const titleOf = ({ to, queue }: Pick<StagedPolicy, 'to' | 'queue'>): string =>
  queue === 'both' ? policyText(to) : `${policyText(to)} on ${queue}`

export const newPolicy = (staged: Omit<StagedPolicy, 'id'>): StagedPolicy => ({
  id: randomBytes(3).toString('hex'),
  ...staged,
})

/** Inputs of a plan besides the servers. */
export interface PolicyFacts {
  readonly factsOf: (host: string) => ServerFacts
  readonly operatorRules: OperatorRules
  readonly nowMs: number
}

interface Planned {
  readonly plan: PolicyPlan
  readonly restored: readonly RuleLine[]
}

function planServer(staged: StagedPolicy, found: PolicyRead, { operatorRules, nowMs }: PolicyFacts): Planned {
  const { back, to, queue, service } = staged
  if (!back) return { plan: planPolicy(found, found.policies, to, queue), restored: [] }
  const host = found.server
  const before = back.get(host)
  const plan = planQueuePolicies(found, found.policies, before?.policies ?? [])
  const onTbf = plan.wanted.filter((w) => w.policy.name === 'tbf')
  const queues = onTbf.map((w) => w.queue)
  const endsMs = nowMs + waitOf(plan) + LEAST_MS
  const isTimed = (r: RuleLine): boolean => before?.timed.some((t) => t.queue === r.queue && t.name === r.name) === true
  const isEnding = (r: RuleLine): boolean => {
    const timer = operatorRules.find({ service, host, queue: r.queue, name: r.name })?.timer
    return isTimed(r) && !(timer && timer.expiresMs > endsMs)
  }
  // Rules of controllers are restored by their controller.
  const preserved = (before?.rules ?? []).filter(
    (r) => queues.includes(r.queue) && !isControllerRule(r.name) && !isHelperRule(r.name),
  )
  const restored = preserved.filter((r) => !isEnding(r))
  const over = [...new Set(preserved.filter(isEnding).map((r) => r.name))]
  const argOf = (q: Queue): string | undefined =>
    onTbf.find((w) => w.queue === q)?.policy.arg ?? (plan.queues.includes(q) ? undefined : found.tbf[q])
  const after = { ...found, tbf: { reg: argOf('reg'), hp: argOf('hp') }, realtime: before?.realtime }
  const steps = [...plan.steps, ...restoreRules(after, restored, queues)]
  const notes = over.length === 0 ? [] : [`Not restored, because they have expired or soon will: ${listed(over)}.`]
  return { plan: { ...plan, steps, notes: [...plan.notes, ...notes] }, restored }
}

/** Twice the slowest rule's drain time: queue estimates are not exact. */
const waitOf = ({ drain }: PolicyPlan): number => Math.min(WAIT_MS.most, Math.max(WAIT_MS.least, drain.mostS * 2_000))

/** True if a staged change applies to a server. */
export const isMeantFor = ({ hosts, back }: StagedPolicy, host: string): boolean =>
  hosts?.includes(host) ?? back?.has(host) ?? true

export function planPolicies(staged: StagedPolicy, servers: readonly PolicyRead[], facts: PolicyFacts): PlannedPolicy {
  const plans = servers
    .filter((s) => isMeantFor(staged, s.server))
    .map((found) => {
      const { version } = facts.factsOf(found.server)
      const { plan, restored } = planServer(staged, found, facts)
      return { plan, restored, found, policies: found.policies, waitMs: waitOf(plan), version: version?.text ?? '' }
    })
  const texts = plans.map(({ plan, found, version }) => [
    found.server,
    policyLines(plan.steps, SERVICES[staged.service]),
    plan.steps.length > 0 ? [planBaseHash(found), version, plan.was] : [],
  ])
  const planId = createHash('sha256')
    .update(JSON.stringify([staged.service, texts]))
    .digest('hex')
    .slice(0, 16)
  return { staged, servers: plans, planId }
}

/** State needed to restore a server, stored before its policy is changed. */
export function policyBefore(
  service: ServiceName,
  { plan, found }: PolicyServer,
  operatorRules: OperatorRules,
): PolicyBefore {
  const tbfQueues = plan.was.filter((w) => w.policy.name === 'tbf').map((w) => w.queue)
  const written = writtenRules(found)
  const rules = tbfQueues.flatMap((q) => headOf(written, q, cptsOf(written, q)[0] ?? 0))
  const timed = rules
    .filter(({ queue, name }) => operatorRules.find({ service, host: found.server, queue, name })?.timer !== undefined)
    .map(({ queue, name }) => ({ queue, name }))
  return { policies: plan.was, rules, realtime: found.realtime ?? new Map<string, boolean>(), timed }
}

/** Owners of the rules that are lost with a policy. */
export interface LostRules {
  readonly sluice: readonly string[]
  readonly controller: readonly string[]
  readonly other: readonly string[]
}

export function lostOn(service: ServiceName, { plan, found }: PolicyServer, operatorRules: OperatorRules): LostRules {
  const tbfQueues = plan.was.filter((w) => w.policy.name === 'tbf').map((w) => w.queue)
  const lost = found.rules.filter((r) => tbfQueues.includes(r.queue) && r.name !== DEFAULT_RULE)
  const isManaged = ({ queue, name }: RuleLine): boolean =>
    isHelperRule(name) || operatorRules.find({ service, host: found.server, queue, name }) !== undefined
  const names = (is: (r: RuleLine) => boolean): string[] => [...new Set(lost.filter(is).map((r) => r.name))]
  return {
    sluice: names((r) => !isControllerRule(r.name) && isManaged(r)),
    controller: names((r) => isControllerRule(r.name)),
    other: names((r) => !isControllerRule(r.name) && !isManaged(r)),
  }
}

/** Rules lost with a policy that someone else started, as text; undefined for none. */
export function foreignLoss(plan: PlannedPolicy, operatorRules: OperatorRules): string | undefined {
  const on = new Map<string, string[]>()
  for (const s of plan.servers) {
    for (const name of lostOn(plan.staged.service, s, operatorRules).other)
      on.set(name, [...(on.get(name) ?? []), s.found.server])
  }
  if (on.size === 0) return undefined
  const names = listed([...on].map(([name, hosts]) => `${name} on ${listed(hosts)}`))
  return `${counted(on.size, 'rule')} that Sluice did not start ${on.size === 1 ? 'is' : 'are'} removed with TBF: ${names}.`
}

/** Reason why a change of policy cannot be committed; undefined if it can. */
export function policyRefusal({ servers }: PlannedPolicy, missing: readonly string[]): Failure | undefined {
  const what = 'The policy cannot be changed'
  if (missing.length > 0) {
    return failure('SERVER_MISSING', what, `${missing.join(', ')} does not answer`, 'Wait until every server answers.')
  }
  const unread = servers.filter((s) => s.version === '')
  if (unread.length > 0) {
    const why = `the release of ${unread.map((s) => s.found.server).join(', ')} could not be read, and the effect of a policy change depends on it`
    return failure('VERSION_UNKNOWN', what, why, 'Allow the login to run lctl get_param -n version, then review again.')
  }
  const refused = servers.find((s) => s.plan.refused !== undefined)
  if (refused) return failure('POLICY_REFUSED', what, refused.plan.refused ?? '', 'Choose another policy, or wait.')
  if (servers.some((s) => s.plan.steps.length > 0)) return undefined
  return failure('NO_CHANGE', 'There is nothing to send', 'every server runs it already', 'Discard the change.')
}
