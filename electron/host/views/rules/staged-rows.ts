/** Staged changes in the rule list: marks on existing rules, and rows for new ones. */
import type { ServiceName } from '#core/api/rule-edits.ts'
import { classesOfEach } from '#core/control/trial.ts'
import type { RulePlan } from '../../rules/rule-plan.ts'
import { DEFAULT_RULE } from '#core/control/server-rules.ts'
import type { RuleService } from '../../rules/rule-service.ts'
import { triedGroups } from '../../rules/trial-inputs.ts'
import { liveJobs } from '../../rules/servers.ts'
import type { MergedRule, StagedMark } from './rule-rows.ts'

export interface StagedRows {
  readonly rows: readonly MergedRule[]
  readonly marks: ReadonlyMap<MergedRule, StagedMark>
}

/** Classes that the new rules of a plan would have, by name; counted once per plan. */
const kept = new WeakMap<RulePlan, ReadonlyMap<string, number>>()

function wouldBind(ruleService: RuleService, service: ServiceName, plan: RulePlan, rule: string): number {
  let classes = kept.get(plan)
  if (!classes) {
    const rules = new Set(plan.staged.map((s) => s.edit.name).filter((name) => name !== DEFAULT_RULE))
    classes = classesOfEach(liveJobs(ruleService.monitor, service), rules, triedGroups(service, plan))
    kept.set(plan, classes)
  }
  return classes.get(rule) ?? 0
}

/** Rows of one queue with their staged changes. */
export function stagedRows(
  ruleService: RuleService,
  service: ServiceName,
  queue: 'reg' | 'hp',
  merged: readonly MergedRule[],
): StagedRows {
  if (ruleService.staged.of(service).length === 0) return { rows: merged, marks: new Map() }
  const plan = ruleService.plan(service)
  const preview = plan.changes.find((c) => c.plan.commands.length > 0)?.plan.preview[queue] ?? []
  const marks = new Map<MergedRule, StagedMark>()
  const rows = [...merged]
  for (const [at, line] of preview.entries()) {
    const row = merged.find((m) => m.name === line.name)
    if (line.kind === 'mod' && row) marks.set(row, { kind: 'mod', rate: line.rate, would: null })
    else if (line.kind === 'del' && row && !marks.has(row)) marks.set(row, { kind: 'del', rate: null, would: null })
    else if (line.kind === 'add') {
      // A rule replaced under its name keeps its position.
      if (row) {
        marks.set(row, { kind: 'mod', rate: line.rate, would: null })
        continue
      }
      const next = preview.slice(at + 1).find((l) => rows.some((r) => r.name === l.name))?.name
      const added: MergedRule = { name: line.name, conditions: line.conditions, lines: [] }
      const place = next === undefined ? rows.length : rows.findIndex((r) => r.name === next)
      rows.splice(place, 0, added)
      marks.set(added, { kind: 'add', rate: line.rate, would: wouldBind(ruleService, service, plan, line.name) })
    }
  }
  return { rows, marks }
}
