/**
 * Where a rule stands and where it can be moved. The server knows one verb for it: `change NAME rank=OTHER` puts it right
 * before OTHER, so a place is named by the rule below it.
 */
import type { RuleRow } from './rule-face.ts'

/** A rule of the same list that can be named on every server: not a controller's (named per server), not one that goes. */
const isNameable = (row: RuleRow): boolean => row.owner !== 'sluice' && row.staged !== 'add' && row.staged !== 'del'
/** A rule that can change its place: `default` stays last, and a controller places its own. */
export const isMovable = (row: RuleRow): boolean =>
  row.owner !== 'lustre' && row.owner !== 'sluice' && row.staged !== 'del'

/** The rule to stand right before, for a move by one place; null where there is no further place. */
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
  // It goes behind the next one, that is before the one after it; nothing goes behind `default`.
  return below[0] === undefined || below[0].owner === 'lustre' ? null : (below[1]?.name ?? null)
}

/** The rule to stand right before, when it is let go above row `gap` (0 = above the first); null where nothing changes. */
export function rankAtGap(rows: readonly RuleRow[], at: number, gap: number): string | null {
  const row = rows[at]
  if (row === undefined || !isMovable(row)) return null
  const next = (from: number): string | null => rows.slice(from).find((r) => r !== row && isNameable(r))?.name ?? null
  const target = next(gap)
  return target === next(at + 1) ? null : target
}

/** Names that `rank=` may take, for the list under the field. */
export const rankNames = (rows: readonly RuleRow[], own: string): string[] =>
  rows.filter((r) => isNameable(r) && r.name !== own).map((r) => r.name)

/** A staged change as far as it is about a place. */
export interface StagedPlace {
  readonly rule: string
  readonly form: { readonly verb: string; readonly rank: string }
}

/**
 * The rows in the order that the staged places lead to, in the order in which they were staged. A row whose neighbour is not
 * among these rows stays where it is.
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

/** Whether a rule already stands right before another one, so that moving it there changes nothing. */
export function isRightBefore(rows: readonly RuleRow[], name: string, rank: string): boolean {
  const at = rows.findIndex((r) => r.name === name)
  return at >= 0 && rows.slice(at + 1).find((r) => isNameable(r))?.name === rank
}
