/** Plans that were shown, so that what is different when one is committed can be said. */
import { standingDiff } from '#core/control/standing.ts'
import type { DeskChange, DeskPlan } from './desk-plan.ts'

/** A review stays open while plans come and go. */
const KEPT = 24
/** Differences that are named. */
const NAMED = 12

/** As much of a plan as it takes to say what is different now. */
export interface PlanToCompare extends Pick<DeskPlan, 'staged'> {
  readonly changes: readonly (Pick<DeskChange, 'found' | 'version'> & { readonly plan: { readonly server: string } })[]
}

/**
 * What is different between two plans, in words: the servers first, then what is staged, then the commands that follow.
 *
 * @param silentText  of a server that does not answer now.
 */
export function plansDiffer(
  then: PlanToCompare,
  now: DeskPlan,
  silentText: (host: string) => string | undefined,
): string[] {
  const out: string[] = []
  const ids = (p: PlanToCompare): string => p.staged.map((s) => s.id).join(' ')
  if (ids(then) !== ids(now)) out.push('other changes are staged')
  for (const { plan, found, version } of then.changes) {
    const is = now.changes.find((c) => c.plan.server === plan.server)
    if (!is) out.push(silentText(plan.server) ?? `${plan.server} is not among the servers any more`)
    else {
      if (is.version !== version)
        out.push(`${plan.server}: release ${is.version || 'unknown'}, not ${version || 'unknown'}`)
      out.push(...standingDiff(found, is.found).map((d) => `${plan.server}: ${d}`))
    }
  }
  for (const { plan } of now.changes) {
    if (!then.changes.some((c) => c.plan.server === plan.server)) out.push(`${plan.server} is new`)
  }
  if (out.length === 0) out.push('a controller moved its rules, and other commands are needed now')
  if (out.length <= NAMED) return out
  return [...out.slice(0, NAMED), `and ${out.length - NAMED} more`]
}

export class KeptPlans {
  readonly #plans = new Map<string, DeskPlan>()

  /** Keeps a plan that is shown. */
  keep(plan: DeskPlan): void {
    this.#plans.delete(plan.planId)
    this.#plans.set(plan.planId, plan)
    const [oldest] = this.#plans.keys()
    if (this.#plans.size > KEPT && oldest !== undefined) this.#plans.delete(oldest)
  }

  /** What is different since a plan was shown; undefined for a plan that is not known. */
  since(planId: string, now: DeskPlan, silentText: (host: string) => string | undefined): string[] | undefined {
    const then = this.#plans.get(planId)
    return then && plansDiffer(then, now, silentText)
  }
}
