/**
 * Rollback to an earlier state from any current state of a server: after a plan that failed midway, or after unrelated changes by others.
 * Only the rules written by the plan are restored; leftover helper rules are stopped.
 */
import { isHelperRule } from '../controllers/registry.ts'
import type { RuleLine } from '../lustre/nrs-tbf-rule.ts'
import { helpersFor } from './edit-plan.ts'
import { planList, type Op } from './list-plan.ts'
import { queueList } from './queue-list.ts'
import type { Item } from './rule-edit.ts'
import { withSelectors, type RuleCommandLine } from './selectors.ts'
import { QUEUES, typeOn, writtenRules, type ServerRules } from './server-rules.ts'
import { afterPlan } from './simulate.ts'

export interface BackPlan {
  readonly server: string
  readonly commands: readonly RuleCommandLine[]
  /** Every head as expected in the read-back. */
  readonly expected: readonly RuleLine[]
}

/** Returns the current list with the touched rules restored, each before its former successor. */
function restored(now: readonly Item[], before: readonly Item[], touched: ReadonlySet<string>): Item[] {
  const list = now.filter((i) => !touched.has(i.name) && !isHelperRule(i.name))
  let id = now.reduce((n, i) => Math.max(n, i.id + 1), 0)
  for (const [at, was] of [...before.entries()].reverse()) {
    if (!touched.has(was.name)) continue
    const have = now.find((i) => i.name === was.name)
    // A rule that is still the same keeps its classes; if CPTs lack it, it must be started.
    const isSame = have?.isEven === true && have.conditions === was.conditions
    const item = isSame ? { ...have, rate: was.rate, rates: [was.rate] } : { ...was, id: id++, isEven: true }
    const next = before.slice(at + 1).find((b) => list.some((i) => i.name === b.name))
    list.splice(next ? list.findIndex((i) => i.name === next.name) : list.length, 0, item)
  }
  return list
}

/**
 * Plans the rollback.
 *
 * @param now      as just read.
 * @param before   lines of every head before the plan (`EditPlan.before`).
 * @param touched  names that the plan writes (`EditPlan.touched`).
 */
export function planRollback(now: ServerRules, before: readonly RuleLine[], touched: readonly string[]): BackPlan {
  const rules = writtenRules(now)
  const names = new Set(touched)
  const ops = { reg: [] as Op[], hp: [] as Op[] }
  for (const queue of QUEUES) {
    const type = typeOn(now, queue)
    if (!type) continue
    const from = queueList(rules, queue, now.realtime)
    const to = restored(from, queueList(before, queue, now.realtime), names)
    const movable = new Set(from.filter((i) => names.has(i.name)).map((i) => i.id))
    ops[queue] = planList(from, to, movable, helpersFor(type.fields[0], from))
  }
  const commands = withSelectors(ops, now)
  const values = commands.map((c) => c.value)
  return { server: now.server, commands, expected: afterPlan(now, values) }
}
