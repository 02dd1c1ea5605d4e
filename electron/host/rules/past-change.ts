/** Committed changes, with the commands that undo them. */
import type { NodeEnd, ServiceName } from '#core/api/rule-edits.ts'
import type { EditPlan } from '#core/control/edit-plan.ts'
import type { ServerRules } from '#core/control/server-rules.ts'
import { SERVICES } from '../../base/service.ts'
import { policyLines } from '../../enforce/policy-commit.ts'
import { inverseOf } from '../../enforce/server-change.ts'
import type { PlannedChange, RulePlan } from './rule-plan.ts'
import type { OperatorRule, OperatorRules, RulePlace } from './operator-rules.ts'
import { policyBefore, type PolicyBefore, type PlannedPolicy } from './policy-plans.ts'
import { isRenewal } from './staged-changes.ts'
import { wayBack, type RuleUndo } from './undo.ts'

/** Change sent to a server with an unknown outcome: enough to determine it from the server's rules, and to store it. */
export interface UnknownOutcome extends Pick<PlannedChange, 'terms' | 'timers' | 'endTimers' | 'keeps'> {
  readonly plan: Pick<EditPlan, 'server' | 'before' | 'expected' | 'touched'>
  readonly found: Pick<ServerRules, 'realtime'>
  /** Terms of replaced rules. */
  readonly was: readonly { readonly place: RulePlace; readonly rule: OperatorRule }[]
}

/** Change that was sent, and its outcome. */
export interface PastChange {
  readonly id: string
  readonly service: ServiceName
  readonly atMs: number
  readonly title: string
  readonly reason: string
  nodes: readonly NodeEnd[]
  /** Literal rollback commands of the first server. */
  readonly inverse: readonly string[]
  readonly expiresMs: number | null
  /** Undo by server on which it was applied. */
  readonly done: Map<string, RuleUndo>
  /** Unknown outcomes by server; a later reading may resolve them. */
  readonly unsure: Map<string, UnknownOutcome>
  /** Timers by server that the change left over with nothing to stop. */
  readonly spareTimers: Map<string, readonly string[]>
  /** Staged changes that it contained. */
  readonly stagedIds: readonly string[]
  /** State before a change of policy, by server on which it was or may have been applied. */
  readonly policy?: ReadonlyMap<string, PolicyBefore> | undefined
  /** True once its undo was committed. */
  undone: boolean
}

/** Result of a change, over all of its servers. `partial`: applied on some, or failed halfway on one; `not done`: applied on none. */
export type ChangeEnd = 'done' | 'partial' | 'not done' | 'unknown'

/**
 * Result of a change from the results of its servers. An unknown result has priority; a server that is waited for
 * counts as done.
 */
export function endOfChange(nodes: readonly NodeEnd[]): ChangeEnd {
  const states = nodes.map((n) => n.state)
  if (states.includes('unknown')) return 'unknown'
  if (states.every((s) => s === 'done' || s === 'pending')) return 'done'
  return states.some((s) => s === 'done' || s === 'failed' || s === 'pending') ? 'partial' : 'not done'
}

/** Title and reason of a plan. */
export const whyOf = ({ staged }: RulePlan): Pick<PastChange, 'title' | 'reason'> => ({
  title: [...new Set(staged.map((s) => `${isRenewal(s) ? 'new expiry of' : s.edit.verb} ${s.edit.name}`))].join(', '),
  reason: [...new Set(staged.map((s) => s.terms.reason).filter((r) => r !== ''))].join('; '),
})

/** Undo of a change on one server. @param rules  as they were before the change was settled. */
export function ruleUndoOf(
  { plan, found, terms }: Pick<UnknownOutcome, 'plan' | 'found' | 'terms'>,
  rules: OperatorRules,
): RuleUndo {
  const expiries = terms.flatMap(({ place, start }) => {
    const timer = start ? undefined : rules.find(place)?.timer
    return timer ? [{ queue: place.queue, name: place.name, atMs: timer.expiresMs }] : []
  })
  const { before, expected, touched } = plan
  const edits = wayBack({ before, expected, touched, realtime: found.realtime ?? new Map<string, boolean>() })
  return { edits, expiries }
}

function unknownEnd(
  { plan, found, terms, timers, endTimers, keeps }: PlannedChange,
  rules: OperatorRules,
): UnknownOutcome {
  const was = terms.flatMap(({ place }) => {
    const rule = rules.find(place)
    return rule ? [{ place, rule }] : []
  })
  return { plan, found, terms, timers, endTimers, keeps, was }
}

export function pastChange(
  service: ServiceName,
  plan: RulePlan,
  rules: OperatorRules,
  head: Pick<PastChange, 'id' | 'atMs' | 'title' | 'reason' | 'nodes'>,
): PastChange {
  const on = plan.changes.filter((c) => head.nodes.some((n) => n.host === c.plan.server && n.state === 'done'))
  const isUnknown = (host: string): boolean => head.nodes.some((n) => n.host === host && n.state === 'unknown')
  const seconds = on.flatMap((c) => c.timers.map((t) => t.seconds))
  return {
    ...head,
    service,
    inverse: on[0] ? inverseOf(SERVICES[service], on[0]) : [],
    expiresMs: seconds.length === 0 ? null : head.atMs + Math.min(...seconds) * 1000,
    done: new Map(on.map((c) => [c.plan.server, ruleUndoOf(c, rules)])),
    unsure: new Map(
      plan.changes.flatMap((c) => (isUnknown(c.plan.server) ? [[c.plan.server, unknownEnd(c, rules)]] : [])),
    ),
    spareTimers: new Map<string, readonly string[]>(),
    stagedIds: plan.staged.map((s) => s.id),
    undone: false,
  }
}

/** Change of policy that was sent. */
export function policyPast(
  service: ServiceName,
  { servers }: PlannedPolicy,
  rules: OperatorRules,
  head: Pick<PastChange, 'id' | 'atMs' | 'title' | 'reason' | 'nodes'>,
): PastChange {
  const first = servers.find((s) => s.plan.steps.length > 0)
  const isBack = (host: string): boolean =>
    head.nodes.every((n) => n.host !== host || n.state === 'not sent' || n.state === 'rolled back')
  const changed = servers.filter((s) => !isBack(s.plan.server))
  return {
    ...head,
    service,
    inverse: first ? policyLines(first.plan.inverse, SERVICES[service]) : [],
    expiresMs: null,
    done: new Map<string, RuleUndo>(),
    unsure: new Map<string, UnknownOutcome>(),
    spareTimers: new Map<string, readonly string[]>(),
    stagedIds: [],
    undone: false,
    policy: new Map(changed.map((s) => [s.plan.server, policyBefore(service, s, rules)])),
  }
}
