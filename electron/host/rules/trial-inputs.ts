/**
 * Inputs of trials from drafts and plans, with caches for parts that rarely change: the editor runs a trial at every
 * keystroke.
 */
import type { ServiceName } from '#core/api/rule-edits.ts'
import { ShapeCache } from '#core/control/binding.ts'
import { planEdits } from '#core/control/edit-plan.ts'
import type { Steps } from '#core/base/steps.ts'
import type { RuleEdit } from '#core/control/rule-edit.ts'
import { allRulesText, writtenRules, type ServerRules } from '#core/control/server-rules.ts'
import { groupServers, type Group, type TriedServer } from '#core/control/trial-groups.ts'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import type { RulePlan } from './rule-plan.ts'

/** Parsed conditions, by service: most of a draft's list equals that of the previous draft. */
const shapes: Readonly<Record<ServiceName, ShapeCache>> = {
  ost_io: new ShapeCache(),
  mdt: new ShapeCache(),
  mdt_readpage: new ShapeCache(),
}

/**
 * Servers with edits applied, in groups that are evaluated once. Equal servers are planned once; their classes, which
 * may differ, do not matter to a trial.
 */
export function* groupsInSteps(
  service: ServiceName,
  servers: readonly ServerRules[],
  edits: readonly RuleEdit[],
): Steps<Group[]> {
  const afterOf = new Map<string, readonly RuleLine[]>()
  const tried: TriedServer[] = []
  for (const before of servers) {
    const { tbf, profile, hp, cpts, realtime = [] } = before
    const key = JSON.stringify([tbf, profile.release, hp, cpts, [...realtime], allRulesText(writtenRules(before))])
    let after = afterOf.get(key)
    if (!after) afterOf.set(key, (after = planEdits(before, edits).expected))
    tried.push({ before, after })
    yield
  }
  return groupServers(tried, shapes[service])
}

const planned = new WeakMap<RulePlan, readonly Group[]>()

/** Same for a plan; computed once per plan. */
export function triedGroups(service: ServiceName, plan: RulePlan): readonly Group[] {
  let groups = planned.get(plan)
  if (!groups) {
    const servers = plan.changes.map((c) => ({ before: c.found, after: c.plan.expected }))
    planned.set(plan, (groups = groupServers(servers, shapes[service])))
  }
  return groups
}
