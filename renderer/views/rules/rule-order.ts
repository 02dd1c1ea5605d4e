/**
 * Order of rules, and the places where a rule can be moved. The server has one command for it: `change NAME rank=OTHER` puts a
 * rule right before OTHER, so a place is named by the rule below it.
 */
import type { RuleRow } from './rule-row-model.ts'

/** True if `rank=` can name the rule on every server: not a controller's (named per server), not one staged to start or stop. */
const isNameable = (row: RuleRow): boolean => row.owner !== 'sluice' && row.staged !== 'add' && row.staged !== 'del'
/** True if the rule can be moved: `default` stays last, and a controller places its own. */
export const isMovable = (row: RuleRow): boolean =>
  row.owner !== 'lustre' && row.owner !== 'sluice' && row.staged !== 'del'

/** Returns the rule to be placed before, for a move by one place; null at the end of the list. */
export function rankByStep(rows: readonly RuleRow[], at: number, by: -1 | 1): string | null {
  const row = rows[at]
  if (row === undefined || !isMovable(row)) return null
  if (by < 0) {
    return (
      rows
        .slice(0, at)
        .reverse()
        .find((r) => isNameable(r))?.name ?? null
    )
  }
  const below = rows.slice(at + 1).filter(isNameable)
  // It moves behind the next rule, that is before the one after it; no rule can be behind `default`.
  return below[0] === undefined || below[0].owner === 'lustre' ? null : (below[1]?.name ?? null)
}

/** Returns the rule to be placed before, if dropped above row `gap` (0 = above the first); null if nothing changes. */
export function rankAtGap(rows: readonly RuleRow[], at: number, gap: number): string | null {
  const row = rows[at]
  if (row === undefined || !isMovable(row)) return null
  const next = (from: number): string | null => rows.slice(from).find((r) => r !== row && isNameable(r))?.name ?? null
  const target = next(gap)
  return target === next(at + 1) ? null : target
}

/** Returns the names that `rank=` may take, for the list under the field. */
export const rankNames = (rows: readonly RuleRow[], own: string): string[] =>
  rows.filter((r) => isNameable(r) && r.name !== own).map((r) => r.name)

/** Part of a staged change that sets the place of a rule. */
export interface StagedPlace {
  readonly rule: string
  readonly form: { readonly verb: string; readonly rank: string }
}

/**
 * Applies the staged places to the rows, in the order in which they were staged. A row whose neighbor is not among these
 * rows keeps its place.
 */
export function inStagedOrder(rows: readonly RuleRow[], items: readonly StagedPlace[]): readonly RuleRow[] {
  let placed = rows
  for (const { rule, form } of items) {
    if (form.verb === 'stop' || form.rank === '' || form.rank === rule) continue
    const row = placed.find((r) => r.name === rule && r.owner !== 'sluice')
    const rest = placed.filter((r) => r !== row)
    const at = rest.findIndex((r) => r.name === form.rank)
    if (row && at >= 0) placed = [...rest.slice(0, at), row, ...rest.slice(at)]
  }
  return placed
}

/** True if a rule is right before another one already, so that moving it there changes nothing. */
export function isRightBefore(rows: readonly RuleRow[], name: string, rank: string): boolean {
  const at = rows.findIndex((r) => r.name === name)
  return at >= 0 && rows.slice(at + 1).find((r) => isNameable(r))?.name === rank
}
