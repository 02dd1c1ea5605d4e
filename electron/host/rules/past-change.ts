/** Changes that were committed, with what takes them back. */
import type { NodeEnd, ServiceName } from '#core/api/rule-edits.ts'
import { SERVICES } from '../../cluster/service.ts'
import { inverseOf } from '../../enforce/change.ts'
import type { DeskPlan } from './desk-plan.ts'
import type { OperatorRules } from './operator-rules.ts'
import { wayBack, type WayBack } from './undo.ts'

/** A change that was sent, and what came of it. */
export interface PastChange {
  readonly id: string
  readonly service: ServiceName
  readonly atMs: number
  readonly title: string
  readonly reason: string
  readonly nodes: readonly NodeEnd[]
  /** Literal commands of the first server. */
  readonly inverse: readonly string[]
  readonly expiresMs: number | null
  /** By server on which it was done. */
  readonly done: ReadonlyMap<string, WayBack>
  /** Whether its inverse was committed. */
  undone: boolean
}

/** What a plan does, in short, and why. */
export const whyOf = ({ staged }: DeskPlan): Pick<PastChange, 'title' | 'reason'> => ({
  title: [...new Set(staged.map(({ edit }) => `${edit.verb} ${edit.name}`))].join(', '),
  reason: [...new Set(staged.map((s) => s.terms.reason).filter((r) => r !== ''))].join('; '),
})

/** @param rules  as they were before the change was settled. */
export function pastChange(
  service: ServiceName,
  plan: DeskPlan,
  rules: OperatorRules,
  head: Pick<PastChange, 'id' | 'atMs' | 'title' | 'reason' | 'nodes'>,
): PastChange {
  const on = plan.changes.filter((c) => head.nodes.some((n) => n.host === c.plan.server && n.state === 'done'))
  const seconds = on.flatMap((c) => c.timers.map((t) => t.seconds))
  const done = on.map(({ plan: p, found, terms }): [string, WayBack] => {
    const expiries = terms.flatMap(({ place, start }) => {
      const timer = start ? undefined : rules.find(place)?.timer
      return timer ? [{ queue: place.queue, name: place.name, atMs: timer.expiresMs }] : []
    })
    const { before, expected, touched } = p
    const edits = wayBack({ before, expected, touched, realtime: found.realtime ?? new Map<string, boolean>() })
    return [p.server, { edits, expiries }]
  })
  return {
    ...head,
    service,
    inverse: on[0] ? inverseOf(SERVICES[service], on[0]) : [],
    expiresMs: seconds.length === 0 ? null : head.atMs + Math.min(...seconds) * 1000,
    done: new Map(done),
    undone: false,
  }
}
