/** Plans that were shown, to report differences when one is committed. */
import { planBaseDiff } from '#core/control/plan-base.ts'
import type { ServerRules } from '#core/control/server-rules.ts'
import type { RulePlan } from './rule-plan.ts'

/** A review stays open while new plans are made. */
const PLANS_MAX = 24
/** Most differences listed. */
const NAMED = 12

/** Plan as far as needed to compare it. */
export interface PlanToCompare extends Pick<RulePlan, 'staged'> {
  readonly changes: readonly ServerThen[]
}

/** Server as a plan found it. */
export interface ServerThen {
  readonly found: ServerRules
  readonly version: string
}

/** Text about a server that does not answer now; undefined for one that does, or is unknown. */
export type SilentText = (host: string) => string | undefined

/**
 * Differences between servers now and as a plan found them: missing or silent ones, releases, policies and rules, new
 * ones.
 */
export function serverDifferences(
  then: readonly ServerThen[],
  now: readonly ServerThen[],
  silentText: SilentText,
): string[] {
  const out: string[] = []
  for (const { found, version } of then) {
    const host = found.server
    const is = now.find((c) => c.found.server === host)
    if (!is) {
      out.push(silentText(host) ?? `${host} is no longer among the servers`)
      continue
    }
    if (is.version !== version) out.push(`${host}: release ${is.version || 'unknown'}, not ${version || 'unknown'}`)
    out.push(...planBaseDiff(found, is.found).map((d) => `${host}: ${d}`))
  }
  const isNew = (s: ServerThen): boolean => !then.some((c) => c.found.server === s.found.server)
  return [...out, ...now.filter(isNew).map((s) => `${s.found.server} is new`)]
}

/** First differences, and the number of the others. */
export const namedDifferences = (all: readonly string[]): string[] =>
  all.length <= NAMED ? [...all] : [...all.slice(0, NAMED), `and ${all.length - NAMED} more`]

/** Differences between two plans, as text: staged changes, then servers; if neither differs, the commands. */
export function planDifferences(then: PlanToCompare, now: RulePlan, silentText: SilentText): string[] {
  const out: string[] = []
  const ids = (p: PlanToCompare): string => p.staged.map((s) => s.id).join(' ')
  if (ids(then) !== ids(now)) out.push('other changes are staged')
  out.push(...serverDifferences(then.changes, now.changes, silentText))
  if (out.length === 0) out.push('a controller changed its rules, so the commands differ')
  return namedDifferences(out)
}

export class ShownPlans {
  readonly #plans = new Map<string, RulePlan>()

  /** Keeps a plan that is shown. */
  keep(plan: RulePlan): void {
    this.#plans.delete(plan.planId)
    this.#plans.set(plan.planId, plan)
    const [oldest] = this.#plans.keys()
    if (this.#plans.size > PLANS_MAX && oldest !== undefined) this.#plans.delete(oldest)
  }

  /** Differences since a plan was shown; undefined for an unknown plan. */
  since(planId: string, now: RulePlan, silentText: SilentText): string[] | undefined {
    const then = this.#plans.get(planId)
    return then && planDifferences(then, now, silentText)
  }
}
