/**
 * Plan from desired rules to the fewest commands, in an order that is safe at every step, with their inverse.
 *
 * Source: spec/adaptbf section 5: stop the rules of jobs that are no longer active, lower rates, raise rates, start new rules, so that
 * the sum of live rates never exceeds the budget in between; unchanged rates are skipped, because every `change`, even to the same rate,
 * hands each class a fresh bucket. New rules start in ascending priority: a started rule goes before the older ones. Only the `reg` queue
 * and only controllers' rules are written.
 *
 * A started rule never goes before a foreign rule: if there are any, it is placed before `default`, or before a controller's rule that is
 * followed only by controllers' rules and `default`. So a controller never changes the handling of requests decided by a foreign rule.
 */
import { isControllerRule } from '../controllers/registry.ts'
import type { RuleLine } from '../lustre/nrs-tbf-rule.ts'
import type { DesiredRule } from './desired-rule.ts'
import { DEFAULT_RULE } from './server-rules.ts'

export interface PlanCommand {
  readonly verb: 'start' | 'change' | 'stop'
  readonly rule: string
  /** The value written to nrs_tbf_rule. */
  readonly value: string
}

export interface DiffLine {
  readonly kind: 'add' | 'mod' | 'del'
  readonly text: string
}

export interface Plan {
  readonly server: string
  readonly commands: readonly PlanCommand[]
  /** Undoes the commands, to be sent in this order. */
  readonly inverse: readonly PlanCommand[]
  readonly diff: readonly DiffLine[]
  /** Controllers' rules after the plan, by name, as expected in the read-back. */
  readonly expected: ReadonlyMap<string, DesiredRule>
  /** Wanted rules that cannot be placed, because a foreign rule is last. */
  readonly unplaceable: readonly string[]
}

const stop = (rule: string): PlanCommand => ({ verb: 'stop', rule, value: `reg stop ${rule}` })
const change = (rule: string, rate: number): PlanCommand => ({
  verb: 'change',
  rule,
  value: `reg change ${rule} rate=${rate}`,
})
const start = (r: DesiredRule, rank?: string): PlanCommand => ({
  verb: 'start',
  rule: r.name,
  value: `reg start ${r.name} ${r.conditions} rate=${r.rate}${rank === undefined ? '' : ` rank=${rank}`}`,
})
/** Servers up to 2.17.0 print a rule of `tbf jobid` without the field; controllers' rules match by nothing else. */
const conditionsOf = (r: RuleLine): string => (r.conditions.startsWith('{') ? `jobid=${r.conditions}` : r.conditions)
const controllerRules = (present: readonly RuleLine[]): Map<string, RuleLine> =>
  new Map(
    present
      .filter((r) => r.queue === 'reg' && r.cpt === 0 && isControllerRule(r.name))
      .map((r) => [r.name, { ...r, conditions: conditionsOf(r) }]),
  )
/** Names without a foreign rule behind them, first to last; undefined if there are no foreign rules. */
function tailOf(list: readonly RuleLine[]): string[] | undefined {
  const last = list.findLastIndex((r) => !isControllerRule(r.name) && r.name !== DEFAULT_RULE)
  return last < 0 ? undefined : list.slice(last + 1).map((r) => r.name)
}

const line = (r: DesiredRule): string => `${r.name} ${r.conditions} ${r.rate}`

/**
 * Compares a server's rules with those that a controller wants.
 *
 * @param present  the server's rules as read; only queue `reg` counts, and CPT 0 represents all (plans write them alike).
 * @param desired  highest priority first.
 */
export function planRules(server: string, present: readonly RuleLine[], desired: readonly DesiredRule[]): Plan {
  const list = present.filter((r) => r.queue === 'reg' && r.cpt === 0)
  const current = controllerRules(present)
  // Writes only names of controllers' rules: never `default`, never a foreign rule.
  const valid = desired.filter((r) => isControllerRule(r.name))
  const wanted = new Map(valid.map((r) => [r.name, r]))
  const stops: PlanCommand[] = []
  const lowers: PlanCommand[] = []
  const raises: PlanCommand[] = []
  const starts: PlanCommand[] = []
  const restarts: PlanCommand[] = []
  const backLower: PlanCommand[] = []
  const backRaise: PlanCommand[] = []
  const restops: PlanCommand[] = []
  const diff: DiffLine[] = []

  for (const [name, r] of current) {
    const want = wanted.get(name)
    // A rule with other conditions is another rule under the same name: it is replaced.
    if (want?.conditions === r.conditions) continue
    stops.push(stop(name))
    const next = list[list.findIndex((x) => x.name === name) + 1]
    // Undone last to first, so that the following rule is back in place when this one returns.
    restarts.unshift(start({ name, conditions: r.conditions, rate: r.rate }, next?.name))
    diff.push({ kind: 'del', text: line(r) })
  }
  for (const want of valid) {
    const have = current.get(want.name)
    if (have?.conditions !== want.conditions || have.rate === want.rate) continue
    const isLower = want.rate < have.rate
    ;(isLower ? lowers : raises).push(change(want.name, want.rate))
    ;(isLower ? backRaise : backLower).push(change(want.name, have.rate))
    diff.push({ kind: 'del', text: line(have) }, { kind: 'mod', text: line(want) })
  }
  const stopped = new Set(stops.map((c) => c.rule))
  const tail = tailOf(list)?.filter((name) => !stopped.has(name))
  const behind = new Set(tail)
  const unplaceable: string[] = []
  /** Rule to start before; the next one in order of priority, if it is behind the foreign ones. */
  let next = behind.has(DEFAULT_RULE) ? DEFAULT_RULE : tail?.[0]
  for (const want of valid.toReversed()) {
    if (current.get(want.name)?.conditions === want.conditions) {
      if (behind.has(want.name)) next = want.name
      continue
    }
    if (tail && next === undefined) {
      unplaceable.push(want.name)
      wanted.delete(want.name)
      continue
    }
    starts.push(start(want, tail && next))
    if (tail) {
      behind.add(want.name)
      next = want.name
    }
    restops.push(stop(want.name))
    diff.push({ kind: 'add', text: line(want) })
  }
  const commands = [...stops, ...lowers, ...raises, ...starts]
  const inverse = [...restops, ...backLower, ...backRaise, ...restarts]
  return { server, commands, inverse, diff, expected: wanted, unplaceable }
}

/** Plan that removes every controller's rule from a server. */
export const planRemoval = (server: string, present: readonly RuleLine[]): Plan => planRules(server, present, [])

/**
 * Compares a read-back with the expected result of the plan.
 *
 * @returns  the differences as text; empty if equal.
 */
export function compareReadBack(plan: Plan, present: readonly RuleLine[]): string[] {
  const out: string[] = []
  const found = controllerRules(present)
  for (const [name, want] of plan.expected) {
    const have = found.get(name)
    if (!have) out.push(`${name} is missing`)
    else if (have.conditions !== want.conditions) out.push(`${name} matches ${have.conditions}, not ${want.conditions}`)
    else if (have.rate !== want.rate) out.push(`${name} has rate ${have.rate}, not ${want.rate}`)
  }
  for (const name of found.keys()) if (!plan.expected.has(name)) out.push(`${name} is still there`)
  return out
}
