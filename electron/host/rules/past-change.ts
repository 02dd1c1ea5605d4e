/** Changes that were committed, with what takes them back. */
import type { NodeEnd, ServiceName } from '#core/api/rule-edits.ts'
import type { PolicyChoice, PolicyStep } from '#core/control/policy-plan.ts'
import { primaryPolicy } from '#core/lustre/nrs-policies.ts'
import { SERVICES } from '../../cluster/service.ts'
import { policyLines } from '../../enforce/policy-commit.ts'
import { inverseOf } from '../../enforce/server-change.ts'
import type { DeskChange, DeskPlan } from './desk-plan.ts'
import type { OperatorRules } from './operator-rules.ts'
import type { PolicyDeskPlan } from './policy-plans.ts'
import { wayBack, type WayBack } from './undo.ts'

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
  readonly unsure: Map<string, DeskChange>
  /** Staged changes that it was made of. */
  readonly stagedIds: readonly string[]
  /** Of a change of policy: what ran before. */
  readonly policy?:
    { readonly was: PolicyChoice; readonly restores: ReadonlyMap<string, readonly PolicyStep[]> } | undefined
  /** Whether its inverse was committed. */
  undone: boolean
}

/** What a plan does, in short, and why. */
export const whyOf = ({ staged }: DeskPlan): Pick<PastChange, 'title' | 'reason'> => ({
  title: [...new Set(staged.map(({ edit }) => `${edit.verb} ${edit.name}`))].join(', '),
  reason: [...new Set(staged.map((s) => s.terms.reason).filter((r) => r !== ''))].join('; '),
})

/** What takes a change back on one server. @param rules  as they were before the change was settled. */
export function wayBackOf({ plan, found, terms }: DeskChange, rules: OperatorRules): WayBack {
  const expiries = terms.flatMap(({ place, start }) => {
    const timer = start ? undefined : rules.find(place)?.timer
    return timer ? [{ queue: place.queue, name: place.name, atMs: timer.expiresMs }] : []
  })
  const { before, expected, touched } = plan
  const edits = wayBack({ before, expected, touched, realtime: found.realtime ?? new Map<string, boolean>() })
  return { edits, expiries }
}

export function pastChange(
  service: ServiceName,
  plan: DeskPlan,
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
    unsure: new Map(plan.changes.flatMap((c) => (isUnknown(c.plan.server) ? [[c.plan.server, c]] : []))),
    stagedIds: plan.staged.map((s) => s.id),
    undone: false,
  }
}

/** A change of policy that was sent. */
export function policyPast(
  service: ServiceName,
  { servers }: PolicyDeskPlan,
  head: Pick<PastChange, 'id' | 'atMs' | 'title' | 'reason' | 'nodes'>,
): PastChange {
  const first = servers.find((s) => s.plan.steps.length > 0)
  const was = first && primaryPolicy(first.policies, 'reg')
  return {
    ...head,
    service,
    inverse: first ? policyLines(first.plan.inverse, SERVICES[service]) : [],
    ...{ expiresMs: null, done: new Map<string, WayBack>(), unsure: new Map<string, DeskChange>() },
    ...{ stagedIds: [], undone: false },
    policy: {
      was: { name: was?.name ?? 'fifo', arg: was?.arg ?? '' },
      restores: new Map(
        servers.map((s) => [
          s.plan.server,
          s.plan.inverse.filter((x) => x.kind === 'write' && x.parameter === 'nrs_tbf_rule'),
        ]),
      ),
    },
  }
}
