/** Staged changes in the list of rules: marks on those that are there, and rows for those that are not there yet. */
import type { ServiceName } from '#core/api/rule-edits.ts'
import type { LiveJob } from '#core/control/live-job.ts'
import { groupServers, type Group } from '#core/control/trial-groups.ts'
import { tryAgainstLive, type TriedServer } from '#core/control/trial.ts'
import type { DeskPlan } from '../rules/desk-plan.ts'
import type { RuleDesk } from '../rules/desk.ts'
import { liveJobs } from '../rules/servers.ts'
import type { MergedRule, StagedMark } from './rule-rows.ts'

export interface StagedRows {
  readonly rows: readonly MergedRule[]
  readonly marks: ReadonlyMap<MergedRule, StagedMark>
}

/** What new rules of a plan are tried against, and the classes that they would have; made once a plan. */
interface Tried {
  readonly servers: readonly TriedServer[]
  readonly groups: readonly Group[]
  readonly jobs: readonly LiveJob[]
  readonly classes: Map<string, number>
}
const kept = new WeakMap<DeskPlan, Tried>()

function triedOf(desk: RuleDesk, service: ServiceName, plan: DeskPlan): Tried {
  const servers = plan.changes.map((c) => ({ before: c.found, after: c.plan.expected }))
  return { servers, groups: groupServers(servers), jobs: liveJobs(desk.monitor, service), classes: new Map() }
}

function wouldBind(desk: RuleDesk, service: ServiceName, plan: DeskPlan, rule: string): number {
  let tried = kept.get(plan)
  if (!tried) kept.set(plan, (tried = triedOf(desk, service, plan)))
  const { servers, jobs, groups, classes } = tried
  const known = classes.get(rule) ?? tryAgainstLive(servers, jobs, [rule], groups).classes
  classes.set(rule, known)
  return known
}

/** The rows of one queue with what is staged for them. */
export function stagedRows(
  desk: RuleDesk,
  service: ServiceName,
  queue: 'reg' | 'hp',
  merged: readonly MergedRule[],
): StagedRows {
  if (desk.staged.of(service).length === 0) return { rows: merged, marks: new Map() }
  const plan = desk.plan(service)
  const preview = plan.changes.find((c) => c.plan.commands.length > 0)?.plan.preview[queue] ?? []
  const marks = new Map<MergedRule, StagedMark>()
  const rows = [...merged]
  for (const [at, line] of preview.entries()) {
    const row = merged.find((m) => m.name === line.name)
    if (line.kind === 'mod' && row) marks.set(row, { kind: 'mod', rate: line.rate, would: null })
    else if (line.kind === 'del' && row && !marks.has(row)) marks.set(row, { kind: 'del', rate: null, would: null })
    else if (line.kind === 'add') {
      // A rule that is replaced under its name changes where it stands.
      if (row) {
        marks.set(row, { kind: 'mod', rate: line.rate, would: null })
        continue
      }
      const next = preview.slice(at + 1).find((l) => rows.some((r) => r.name === l.name))?.name
      const added: MergedRule = { name: line.name, conditions: line.conditions, lines: [] }
      const place = next === undefined ? rows.length : rows.findIndex((r) => r.name === next)
      rows.splice(place, 0, added)
      marks.set(added, { kind: 'add', rate: line.rate, would: wouldBind(desk, service, plan, line.name) })
    }
  }
  return { rows, marks }
}
