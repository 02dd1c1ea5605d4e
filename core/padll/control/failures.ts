/** What keeps a global controller from its work, in words. */
import type { Failure } from '../../base/result.ts'
import { NS_PER_S } from '../../base/units.ts'
import type { Plan } from './plan.ts'
import type { Roster } from './roster.ts'

/** Another controller that commands in this one's place. */
export interface Successor {
  readonly controller: string
  readonly epoch: number
}

const LOCALS_NAMED = 5

export interface FailureInput {
  readonly successor: Successor | undefined
  readonly plan: Plan
  readonly roster: Roster
  /** Why commands were refused, by job and scope. */
  readonly refusals: ReadonlyMap<string, string>
  readonly nowNs: number
}

/** Codes: SUPERSEDED, NOT_ALLOCATED, OUT_OF_REACH, NOT_ENFORCED, TAKING_OVER. */
export function failuresOf({ successor, plan, roster, refusals, nowNs }: FailureInput): Failure[] {
  const failures: Failure[] = []
  const secondsTo = (ns: number): number => Math.max(0, Math.ceil((ns - nowNs) / NS_PER_S))
  if (successor) {
    const why = `controller ${successor.controller} with epoch ${successor.epoch} has taken over`
    failures.push({ code: 'SUPERSEDED', what: 'This controller commands nobody any more', why })
  }
  for (const { scope, why } of plan.faults) {
    failures.push({ code: 'NOT_ALLOCATED', what: `The rates of ${scope} cannot be computed`, why })
  }
  const away = roster.reservations.all
  if (away.length > 0) {
    const locals = [...new Set(away.map((r) => r.local))].slice(0, LOCALS_NAMED).join(', ')
    const last = (of: 'untilNs' | 'forgetNs'): number => secondsTo(away.reduce((t, r) => Math.max(t, r[of]), 0))
    const isOver = !away.some((r) => r.later.size > 0)
    const until = isOver
      ? `for ${last('untilNs')} s more`
      : `until they or their nodes are back, ${last('forgetNs')} s at most`
    const why = `lost with ${locals}; they may hold them ${until}`
    failures.push({ code: 'OUT_OF_REACH', what: `The rates of ${away.length} stages out of reach are reserved`, why })
  }
  for (const [where, why] of refusals) failures.push({ code: 'NOT_ENFORCED', what: `${where} was refused`, why })
  if (roster.caps) {
    const why = `stages that the last controller gave rates to may still hold them for ${secondsTo(roster.cautiousNs)} s`
    failures.push({ code: 'TAKING_OVER', what: 'No rates beyond those found are given yet', why })
  }
  return failures
}
