/** Changes that were committed, with what takes them back. */
import type { NodeEnd, ServiceName } from '#core/api/rule-edits.ts'
import type { EditPlan } from '#core/control/edit-plan.ts'
import type { ServerRules } from '#core/control/server-rules.ts'
import { SERVICES } from '../../base/service.ts'
import { policyLines } from '../../enforce/policy-commit.ts'
import { inverseOf } from '../../enforce/server-change.ts'
import type { PlannedChange, RulePlan } from './rule-plan.ts'
import type { OperatorRule, OperatorRules, RulePlace } from './operator-rules.ts'
import { policyBefore, type PolicyBefore, type PlannedPolicy } from './policy-plans.ts'
import { wayBack, type WayBack } from './undo.ts'

/** What was sent to a server whose end is not known: enough to tell by its rules how it ended, and to keep on record. */
export interface UnknownEnd extends Pick<PlannedChange, 'terms' | 'timers' | 'endTimers' | 'keeps'> {
  readonly plan: Pick<EditPlan, 'server' | 'before' | 'expected' | 'touched'>
  readonly found: Pick<ServerRules, 'realtime'>
  /** Terms of rules that it replaces. */
  readonly was: readonly { readonly place: RulePlace; readonly rule: OperatorRule }[]
}

/** A change that was sent, and what came of it. */
export interface PastChange {
  readonly id: string
  readonly service: ServiceName
  readonly atMs: number
  readonly title: string
  readonly reason: string
  nodes: readonly NodeEnd[]
  /** Literal commands of the first server. */
  readonly inverse: readonly string[]
  readonly expiresMs: number | null
  /** By server on which it was done. */
  readonly done: Map<string, WayBack>
  /** By server whose end is not known: a later reading may tell. */
  readonly unsure: Map<string, UnknownEnd>
  /** By server: timers that have nothing left to stop, and were not ended with the change. */
  readonly spareTimers: Map<string, readonly string[]>
  /** Staged changes that it was made of. */
  readonly stagedIds: readonly string[]
  /** Of a change of policy: by server on which it was or may have been done, what it had before. */
  readonly policy?: ReadonlyMap<string, PolicyBefore> | undefined
  /** Whether its inverse was committed. */
  undone: boolean
}

/** Result of a change, over all of its servers. `partial`: applied on some, or failed halfway on one; `not done`: applied on none. */
export type ChangeEnd = 'done' | 'partial' | 'not done' | 'unknown'

/** Result of a change from the results of its servers. An unknown result comes first; a server that is waited for counts as done. */
export function endOfChange(nodes: readonly NodeEnd[]): ChangeEnd {
  const states = nodes.map((n) => n.state)
  if (states.includes('unknown')) return 'unknown'
  if (states.every((s) => s === 'done' || s === 'pending')) return 'done'
  return states.some((s) => s === 'done' || s === 'failed' || s === 'pending') ? 'partial' : 'not done'
}

/** What a plan does, in short, and why. */
export const whyOf = ({ staged }: RulePlan): Pick<PastChange, 'title' | 'reason'> => ({
  title: [...new Set(staged.map(({ edit }) => `${edit.verb} ${edit.name}`))].join(', '),
  reason: [...new Set(staged.map((s) => s.terms.reason).filter((r) => r !== ''))].join('; '),
})

/** What takes a change back on one server. @param rules  as they were before the change was settled. */
export function wayBackOf(
  { plan, found, terms }: Pick<UnknownEnd, 'plan' | 'found' | 'terms'>,
  rules: OperatorRules,
): WayBack {
  const expiries = terms.flatMap(({ place, start }) => {
    const timer = start ? undefined : rules.find(place)?.timer
    return timer ? [{ queue: place.queue, name: place.name, atMs: timer.expiresMs }] : []
  })
  const { before, expected, touched } = plan
  const edits = wayBack({ before, expected, touched, realtime: found.realtime ?? new Map<string, boolean>() })
  return { edits, expiries }
}

function unknownEnd({ plan, found, terms, timers, endTimers, keeps }: PlannedChange, rules: OperatorRules): UnknownEnd {
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
    done: new Map(on.map((c) => [c.plan.server, wayBackOf(c, rules)])),
    unsure: new Map(
      plan.changes.flatMap((c) => (isUnknown(c.plan.server) ? [[c.plan.server, unknownEnd(c, rules)]] : [])),
    ),
    spareTimers: new Map<string, readonly string[]>(),
    stagedIds: plan.staged.map((s) => s.id),
    undone: false,
  }
}

/** A change of policy that was sent. */
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
    done: new Map<string, WayBack>(),
    unsure: new Map<string, UnknownEnd>(),
    spareTimers: new Map<string, readonly string[]>(),
    stagedIds: [],
    undone: false,
    policy: new Map(changed.map((s) => [s.plan.server, policyBefore(service, s, rules)])),
  }
}
