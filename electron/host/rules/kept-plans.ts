/** Plans that were shown, so that what is different when one is committed can be said. */
import { standingDiff } from '#core/control/standing.ts'
import type { ServerRules } from '#core/control/server-rules.ts'
import type { RulePlan } from './rule-plan.ts'

/** A review stays open while plans come and go. */
const KEPT = 24
/** Differences that are named. */
const NAMED = 12

/** As much of a plan as it takes to say what is different now. */
export interface PlanToCompare extends Pick<RulePlan, 'staged'> {
  readonly changes: readonly ServerThen[]
}

/** A server as a plan found it. */
export interface ServerThen {
  readonly found: ServerRules
  readonly version: string
}

/** Words for a server that does not answer now; undefined for one that does, or is unknown. */
export type SilentText = (host: string) => string | undefined

/** How servers differ from what a plan found: those that are gone or silent, releases, policies and rules, those that are new. */
export function serversDiffer(
  then: readonly ServerThen[],
  now: readonly ServerThen[],
  silentText: SilentText,
): string[] {
  const out: string[] = []
  for (const { found, version } of then) {
    const host = found.server
    const is = now.find((c) => c.found.server === host)
    if (!is) {
      out.push(silentText(host) ?? `${host} is not among the servers any more`)
      continue
    }
    if (is.version !== version) out.push(`${host}: release ${is.version || 'unknown'}, not ${version || 'unknown'}`)
    out.push(...standingDiff(found, is.found).map((d) => `${host}: ${d}`))
  }
  const isNew = (s: ServerThen): boolean => !then.some((c) => c.found.server === s.found.server)
  return [...out, ...now.filter(isNew).map((s) => `${s.found.server} is new`)]
}

/** The first of the differences, and how many more there are. */
export const namedDifferences = (all: readonly string[]): string[] =>
  all.length <= NAMED ? [...all] : [...all.slice(0, NAMED), `and ${all.length - NAMED} more`]

/** What is different between two plans, in words: the servers, then what is staged, then the commands that follow. */
export function plansDiffer(then: PlanToCompare, now: RulePlan, silentText: SilentText): string[] {
  const out: string[] = []
  const ids = (p: PlanToCompare): string => p.staged.map((s) => s.id).join(' ')
  if (ids(then) !== ids(now)) out.push('other changes are staged')
  out.push(...serversDiffer(then.changes, now.changes, silentText))
  if (out.length === 0) out.push('a controller moved its rules, and other commands are needed now')
  return namedDifferences(out)
}

export class KeptPlans {
  readonly #plans = new Map<string, RulePlan>()

  /** Keeps a plan that is shown. */
  keep(plan: RulePlan): void {
    this.#plans.delete(plan.planId)
    this.#plans.set(plan.planId, plan)
    const [oldest] = this.#plans.keys()
    if (this.#plans.size > KEPT && oldest !== undefined) this.#plans.delete(oldest)
  }

  /** What is different since a plan was shown; undefined for a plan that is not known. */
  since(planId: string, now: RulePlan, silentText: SilentText): string[] | undefined {
    const then = this.#plans.get(planId)
    return then && plansDiffer(then, now, silentText)
  }
}
