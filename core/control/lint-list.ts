/** Remarks on rules relative to others: earlier rules of the list, and the other queue. */
import type { RuleLine } from '../lustre/nrs-tbf-rule.ts'
import { LUSTRE_DEFAULTS } from '../tbf/rule-list.ts'
import type { TbfType } from '../tbf/tbf-type.ts'
import { Clause, shapeOf, type Shape } from './condition-shape.ts'
import { CoverIndex } from './cover-index.ts'
import type { Lint } from './lint-codes.ts'
import { DEFAULT_RULE } from './server-rules.ts'

/** A rule of a head with its structure. */
export interface ShapedRule {
  readonly line: RuleLine
  readonly shape: Shape | undefined
}

/** The rules of one head without the built-in one. */
export const shaped = (head: readonly RuleLine[], type: TbfType): ShapedRule[] =>
  head.filter((r) => r.name !== DEFAULT_RULE).map((line) => ({ line, shape: shapeOf(line.conditions, type) }))

/** Returns for each rule the first earlier one that matches everything that it does, by structure. */
export function shadows(rules: readonly ShapedRule[], isAbout: (rule: string) => boolean): Map<string, string> {
  const out = new Map<string, string>()
  const before = new CoverIndex<string>()
  for (const { shape, line } of rules) {
    if (!shape) continue
    const by = isAbout(line.name) ? before.firstCovering(shape) : undefined
    if (by !== undefined) out.set(line.name, by)
    before.add(line.name, shape)
  }
  return out
}

/** A name that only a `*` matches: the program of an arbitrary job. */
const ANY_NAME = '\u0100'
const ROOT = { jobId: `${ANY_NAME}.0`, uid: 0, gid: 0 }
const USER = { jobId: `${ANY_NAME}.1000`, uid: 1000, gid: 1000 }
const NAMES_USER: readonly string[] = ['jobid', 'uid', 'gid']

/** True if the clauses that distinguish users match root; job ids as formed by `%e.%u`. */
const holdsForRoot = (all: readonly Clause[]): boolean =>
  all.every((c) => !NAMES_USER.includes(c.field) || c.holds(ROOT) === true)
/** True if a rule is only for root: one of its clauses matches root and no other user. */
const isForRoot = (all: readonly Clause[]): boolean =>
  all.some(({ field, items }) => {
    const isRoot = (item: string): boolean => {
      const one = new Clause(field, [item])
      return one.holds(ROOT) === true && one.holds(USER) === false
    }
    return NAMES_USER.includes(field) && items.every(isRoot)
  })

/** Rules that limit root unintentionally, with no earlier rule for all of root's RPCs. */
function rootLints(rules: readonly ShapedRule[], type: TbfType, isAbout: (rule: string) => boolean): Lint[] {
  const byUid = type.fields.includes('uid')
  if (!byUid && !type.fields.includes('jobid')) return []
  const out: Lint[] = []
  for (const { line, shape } of rules) {
    const limiting = shape?.filter(holdsForRoot) ?? []
    const isLimit = line.rate < LUSTRE_DEFAULTS.rate && limiting.some((all) => !isForRoot(all))
    if (isLimit && isAbout(line.name)) {
      const what = byUid ? 'uid 0' : "root's jobs (*.0)"
      const text = `also limits root: no earlier rule matches ${what}`
      out.push({ code: 'ROOT_NOT_EXEMPT', level: 'watch', rule: line.name, text })
    }
    if (limiting.some((all) => all.every((c) => NAMES_USER.includes(c.field)))) break
  }
  return out
}

/** Returns the remarks on one head. `shadowed` comes from `shadows`. */
export function listLints(
  rules: readonly ShapedRule[],
  type: TbfType,
  shadowed: ReadonlyMap<string, string>,
  isAbout: (rule: string) => boolean,
): Lint[] {
  const out: Lint[] = []
  for (const [rule, by] of shadowed) {
    out.push({
      code: 'SHADOWED',
      level: 'watch',
      rule,
      text: `never used: ${by} precedes it and matches everything it matches`,
    })
  }
  return [...out, ...rootLints(rules, type, isAbout)]
}

/** Rules of `reg` whose RPCs are not limited on `hp` (measured part 2, 7). */
export function hpLints(
  reg: readonly ShapedRule[],
  hp: readonly ShapedRule[],
  isAbout: (rule: string) => boolean,
): Lint[] {
  const out: Lint[] = []
  const alike = new Set(hp.map((h) => h.line.conditions))
  const covering = new CoverIndex<string>()
  for (const h of hp) if (h.shape) covering.add(h.line.name, h.shape)
  for (const { line, shape } of reg) {
    if (!isAbout(line.name) || !shape || alike.has(line.conditions)) continue
    if (covering.firstCovering(shape) !== undefined) continue
    const text = 'reg queue only: lock-callback write-back uses hp and is not limited'
    out.push({ code: 'HP_NOT_COVERED', level: 'info', rule: line.name, text })
  }
  return out
}
