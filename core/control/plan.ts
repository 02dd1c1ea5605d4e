/**
 * From desired rules to commands: the fewest, in an order that is never unsafe midway, with their inverse.
 *
 * Source: spec/adaptbf section 5: stop the rules of jobs that are no longer active, lower rates, raise rates, start new
 * rules, so that the sum of live rates never exceeds the budget in between; unchanged rates are skipped, because every
 * `change`, even to the same rate, hands each class a fresh bucket. New rules start in ascending priority: a started rule
 * goes before the older ones. Only the `reg` queue and only our own rules are written.
 */
import type { RuleLine } from '../lustre/nrs-tbf-rule.ts'
import { isOurs, type DesiredRule } from './desired-rule.ts'

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
  /** Our rules after the plan, by name: what a read-back must find. */
  readonly expected: ReadonlyMap<string, DesiredRule>
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
/** Servers up to 2.17.0 print a rule of `tbf jobid` without the field; our own rules match by nothing else. */
const conditionsOf = (r: RuleLine): string => (r.conditions.startsWith('{') ? `jobid=${r.conditions}` : r.conditions)
const ownRules = (present: readonly RuleLine[]): Map<string, RuleLine> =>
  new Map(
    present
      .filter((r) => r.queue === 'reg' && r.cpt === 0 && isOurs(r.name))
      .map((r) => [r.name, { ...r, conditions: conditionsOf(r) }]),
  )
const line = (r: DesiredRule): string => `${r.name} ${r.conditions} ${r.rate}`

/**
 * Compares what a server has with what a controller wants.
 *
 * @param present  the server's rules as read; only queue `reg` counts, and CPT 0 stands for all (plans write them alike).
 * @param desired  highest priority first.
 */
export function planRules(server: string, present: readonly RuleLine[], desired: readonly DesiredRule[]): Plan {
  const list = present.filter((r) => r.queue === 'reg' && r.cpt === 0)
  const ours = ownRules(present)
  const wanted = new Map(desired.map((r) => [r.name, r]))
  const stops: PlanCommand[] = []
  const lowers: PlanCommand[] = []
  const raises: PlanCommand[] = []
  const starts: PlanCommand[] = []
  const restarts: PlanCommand[] = []
  const backLower: PlanCommand[] = []
  const backRaise: PlanCommand[] = []
  const restops: PlanCommand[] = []
  const diff: DiffLine[] = []

  for (const [name, r] of ours) {
    const want = wanted.get(name)
    // A rule whose conditions differ is another rule under our name: it is replaced.
    if (want?.conditions === r.conditions) continue
    stops.push(stop(name))
    const next = list[list.findIndex((x) => x.name === name) + 1]
    // Undone last to first, so the rule that followed is back in its place when this one returns.
    restarts.unshift(start({ name, conditions: r.conditions, rate: r.rate }, next?.name))
    diff.push({ kind: 'del', text: line(r) })
  }
  for (const want of desired) {
    const have = ours.get(want.name)
    if (have?.conditions !== want.conditions || have.rate === want.rate) continue
    const isLower = want.rate < have.rate
    ;(isLower ? lowers : raises).push(change(want.name, want.rate))
    ;(isLower ? backRaise : backLower).push(change(want.name, have.rate))
    diff.push({ kind: 'del', text: line(have) }, { kind: 'mod', text: line(want) })
  }
  for (const want of desired.toReversed()) {
    if (ours.get(want.name)?.conditions === want.conditions) continue
    starts.push(start(want))
    restops.push(stop(want.name))
    diff.push({ kind: 'add', text: line(want) })
  }
  const commands = [...stops, ...lowers, ...raises, ...starts]
  const inverse = [...restops, ...backLower, ...backRaise, ...restarts]
  return { server, commands, inverse, diff, expected: wanted }
}

/** The plan that removes every rule of ours from a server. */
export const planRemoval = (server: string, present: readonly RuleLine[]): Plan => planRules(server, present, [])

/**
 * Compares a read-back with what the plan must have left.
 *
 * @returns  the differences in words; empty when they are equal.
 */
export function compareReadBack(plan: Plan, present: readonly RuleLine[]): string[] {
  const out: string[] = []
  const found = ownRules(present)
  for (const [name, want] of plan.expected) {
    const have = found.get(name)
    if (!have) out.push(`${name} is missing`)
    else if (have.conditions !== want.conditions) out.push(`${name} matches ${have.conditions}, not ${want.conditions}`)
    else if (have.rate !== want.rate) out.push(`${name} has rate ${have.rate}, not ${want.rate}`)
  }
  for (const name of found.keys()) if (!plan.expected.has(name)) out.push(`${name} is still there`)
  return out
}
