/**
 * Simulation of the rule lists of a server after each command of a plan, for the review and for the expected read-back.
 *
 * Lists behave as in core/tbf; a command walks CPT 0 reg, CPT 0 hp, CPT 1 reg, ... and an error stops the walk, so that the preceding
 * heads keep the change (measured A10).
 */
import { fail, ok, type Result } from '../base/result.ts'
import type { Errno } from '../lustre/errno.ts'
import type { Queue } from '../lustre/nrs-policies.ts'
import type { RuleLine } from '../lustre/nrs-tbf-rule.ts'
import type { Conditions } from '../tbf/conditions.ts'
import { parseRuleCommand, type RuleCommand } from '../tbf/rule-command.ts'
import { LUSTRE_DEFAULTS, RuleList } from '../tbf/rule-list.ts'
import { areCptsAlike, cptsOf, DEFAULT_RULE, headOf, QUEUES, writtenRules, type ServerRules } from './server-rules.ts'

/** One list for the CPTs that have it; all CPTs of a queue share one as long as they are equal. */
interface Head {
  readonly queue: Queue
  readonly cpts: readonly number[]
  readonly list: RuleList
  /** Classes by rule name, one map for each of the CPTs. */
  readonly refs: readonly ReadonlyMap<string, number>[]
}

const conditions = (text: string): Conditions => ({ text, matches: () => false, cautions: [] })

/** Builds a list with the given rules in their order, including `default` at any position. */
function listOf(rules: readonly RuleLine[]): RuleList {
  const list = new RuleList(LUSTRE_DEFAULTS)
  for (const r of rules.toReversed()) {
    if (r.name !== DEFAULT_RULE) list.start(r.name, conditions(r.conditions), { rate: r.rate })
  }
  const at = rules.findIndex((r) => r.name === DEFAULT_RULE)
  list.change(DEFAULT_RULE, { rate: rules[at]?.rate, rank: rules[at + 1]?.name })
  return list
}

function carryOut(list: RuleList, c: RuleCommand): Result<unknown, Errno> {
  if (c.verb === 'stop') return list.stop(c.name)
  return c.verb === 'change' ? list.change(c.name, c) : list.start(c.name, conditions(c.conditions), c)
}

function linesOf(heads: readonly Head[]): RuleLine[] {
  const out: RuleLine[] = []
  for (const queue of QUEUES) {
    for (const { cpts, list, refs } of heads.filter((h) => h.queue === queue)) {
      for (const [i, cpt] of cpts.entries()) {
        for (const { name, conditions: c, rate } of list.rules) {
          out.push({ queue, cpt, name, conditions: c.text, rate, ref: refs[i]?.get(name) ?? 0 })
        }
      }
    }
  }
  return out
}

/** Lists after one command. */
export interface SimulatedStep {
  /** Error of the server; undefined for success. */
  readonly error: Errno | undefined
  /** All heads, conditions in written form; classes as before the plan. */
  readonly rules: readonly RuleLine[]
}

type Simulated = Pick<ServerRules, 'rules' | 'tbf' | 'profile' | 'cpts' | 'hp'>

/** Heads in the order of a server's walk; CPTs with equal lists share one if `isShared`. */
function headsOf(server: Simulated, isShared: boolean): Head[] {
  const rules = writtenRules(server)
  const queues = (server.hp ? QUEUES : (['reg'] as const)).filter((q) => server.tbf[q] !== undefined)
  const lines = new Map(queues.map((q) => [q, cptsOf(rules, q).map((cpt) => ({ cpt, head: headOf(rules, q, cpt) }))]))
  const refsOf = (head: readonly RuleLine[]): Map<string, number> => new Map(head.map((r) => [r.name, r.ref]))
  const out: Head[] = []
  for (let cpt = 0; cpt < server.cpts; cpt++) {
    for (const queue of queues) {
      const all = lines.get(queue) ?? []
      const found = all.find((l) => l.cpt === cpt)
      if (!found || (isShared && found !== all[0])) continue
      const of = isShared ? all : [found]
      out.push({ queue, cpts: of.map((l) => l.cpt), list: listOf(found.head), refs: of.map((l) => refsOf(l.head)) })
    }
  }
  return out
}

/**
 * @param isLastOnly  returns only the lists after the last command: for many commands on a long list, building them dominates the cost.
 */
function carryOutAll(
  heads: readonly Head[],
  values: readonly string[],
  server: Simulated,
  isLastOnly: boolean,
): SimulatedStep[] {
  return values.map((value, i) => {
    const command = parseRuleCommand(value, { rules: server.profile.rules })
    let done: Result<unknown, Errno> = command.ok ? ok(undefined) : fail(command.error.errno)
    if (command.ok) {
      for (const h of heads.filter((x) => command.value.queue === undefined || x.queue === command.value.queue)) {
        done = carryOut(h.list, command.value)
        if (!done.ok) break
      }
    }
    const rules = isLastOnly && i < values.length - 1 ? [] : linesOf(heads)
    return { error: done.ok ? undefined : done.error, rules }
  })
}

/**
 * Carries out commands on a copy of a server's rules. Conditions are not validated: that is done on input.
 *
 * @param values  as written to nrs_tbf_rule.
 * @returns       the lists after each command.
 */
export const simulatePlan = (present: Simulated, values: readonly string[]): SimulatedStep[] =>
  simulate(present, values, false)

function simulate(present: Simulated, values: readonly string[], isLastOnly: boolean): SimulatedStep[] {
  if (QUEUES.every((q) => areCptsAlike(present.rules, q))) {
    const shared = carryOutAll(headsOf(present, true), values, present, isLastOnly)
    // After an error CPTs may differ.
    if (shared.every((s) => s.error === undefined)) return shared
  }
  return carryOutAll(headsOf(present, false), values, present, isLastOnly)
}

/** Lists after the last command; the current ones without commands. */
export const afterPlan = (present: Simulated, values: readonly string[]): readonly RuleLine[] =>
  values.length === 0 ? writtenRules(present) : (simulate(present, values, true).at(-1)?.rules ?? [])
