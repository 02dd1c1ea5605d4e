/** Filter of the rule list: `job:4690 rate<500 owner:operator -is:idle`. Hides rows without changing ranks. */
import type { RulesFrame } from '#core/api/frames.ts'
import { isControllerRule } from '#core/controllers/registry.ts'
import { splitConditions } from '#core/tbf/conditions.ts'
import { readFilter, type FilterFields } from '../../row-filter.ts'
import type { StagedChange } from '../../rules/staged-changes.ts'
import type { MergedRule } from './rule-rows.ts'

type Row = RulesFrame['rows'][number]
type Lint = RulesFrame['lints'][number]

/** Values that `rank=` may take, for the list below the field. */
const RANKS_MOST = 500
/** Time without a class after which a rule is marked in the list, too. */
const IDLE_MS = 60_000
/** A rule is at its limit from this share of its tokens on. */
const FULL = 0.95

/** Fields of a rule that filter terms can use. */
export interface RuleFilterRow {
  readonly rule: MergedRule
  /** Displayed row: built only if a term needs measured values. */
  readonly row: () => Row
  readonly staged: Row['staged']
  readonly atMs: number
  readonly hasLint: boolean
}

const OWNER_TERMS: Readonly<Record<Row['owner'], readonly string[]>> = {
  sluice: ['sluice', 'controller'],
  operator: ['operator', 'hand'],
  lustre: ['lustre', 'server'],
  other: ['other', 'elsewhere'],
}
const itemsOf =
  (field: string) =>
  ({ rule }: RuleFilterRow): readonly string[] =>
    (splitConditions(rule.conditions) ?? []).flatMap((e) => (e.field === field ? e.items : []))

export const RULE_FIELDS: FilterFields<RuleFilterRow> = {
  word: ({ rule }) => [rule.name, rule.conditions],
  text: {
    name: ({ rule }) => [rule.name],
    match: ({ rule }) => [rule.conditions],
    job: itemsOf('jobid'),
    nid: itemsOf('nid'),
    op: itemsOf('opcode'),
    uid: itemsOf('uid'),
    gid: itemsOf('gid'),
    owner: (of) => OWNER_TERMS[knownOwner(of.rule.name) ?? of.row().owner],
    reason: ({ row }) => [row().reason],
    server: ({ rule }) => rule.lines.map((l) => l.host),
  },
  number: {
    rate: (of) => (of.staged === '' ? leastRate(of.rule) : (of.row().rateStaged ?? of.row().rateMin)),
    ceiling: ({ rule }) => rule.lines.reduce((sum, l) => sum + l.line.rate, 0),
    ref: ({ rule }) => rule.lines.reduce((n, l) => n + l.line.ref, 0),
    used: ({ row }) => percent(row().used),
    servers: ({ rule }) => new Set(rule.lines.map((l) => l.host)).size,
    /** Seconds until its timer removes it; a rule without one never matches. */
    expires: ({ row, atMs }) => secondsTo(row().expiresMs, atMs),
  },
  state: {
    staged: ({ staged }) => staged !== '',
    bound: ({ rule }) => rule.lines.some((l) => l.line.ref > 0),
    idle: ({ rule, row, atMs }) => !rule.lines.some((l) => l.line.ref > 0) && isIdle(row(), atMs),
    full: ({ row }) => (row().used ?? 0) > FULL,
    expiring: ({ row }) => row().expiresMs !== null,
    drifting: ({ rule, row }) => knownOwner(rule.name) === undefined && isDrifting(row()),
    remarked: ({ hasLint }) => hasLint,
  },
}

/**
 * Owner of a rule if its name shows it: a controller has one rule per job, and building a row for each would be slow.
 */
const knownOwner = (name: string): 'lustre' | 'sluice' | undefined =>
  name === 'default' ? 'lustre' : isControllerRule(name) ? 'sluice' : undefined
const leastRate = ({ lines }: MergedRule): number => lines.reduce((least, l) => Math.min(least, l.line.rate), Infinity)
const percent = (share: number | null): number | null => (share === null ? null : share * 100)
const secondsTo = (thenMs: number | null, atMs: number): number | null =>
  thenMs === null ? null : Math.max(0, thenMs - atMs) / 1000
const isIdle = ({ ref, owner, refZeroMs }: Row, atMs: number): boolean =>
  ref === 0 && owner !== 'lustre' && refZeroMs !== null && atMs - refZeroMs > IDLE_MS
/** A controller decides per server; any other rule is expected to be equal on all of them. */
const isDrifting = ({ staged, owner, missing, servers, serversTotal }: Row): boolean =>
  staged !== 'add' && owner !== 'sluice' && owner !== 'lustre' && (missing.length > 0 || servers < serversTotal)

/** Position of a staged change in the list. */
type Placed = Pick<StagedChange, 'form'> & { readonly edit: { readonly name: string } }

/** Rules in their staged order, which the list shows and ranks refer to. */
export function inStagedPlaces(rules: readonly MergedRule[], staged: readonly Placed[]): readonly MergedRule[] {
  let placed = rules
  for (const { form, edit } of staged) {
    if (form.verb === 'stop' || form.rank === '' || form.rank === edit.name) continue
    const rule = placed.find((r) => r.name === edit.name && !isControllerRule(r.name))
    const rest = placed.filter((r) => r !== rule)
    const at = rest.findIndex((r) => r.name === form.rank)
    if (rule && at >= 0) placed = [...rest.slice(0, at), rule, ...rest.slice(at)]
  }
  return placed
}

export interface RulesSlice {
  readonly filter?: string | undefined
  readonly offset: number
  readonly limit: number
}

/** Parts of a frame that depend on the filter. */
type Shown = Pick<RulesFrame, 'known' | 'offset' | 'rows' | 'filtered' | 'filterError'>

/**
 * Slice of the rules that pass, each with its position among all.
 *
 * @param rules  all rules of the servers, and those only staged.
 */
export function filteredRules(
  rules: readonly MergedRule[],
  slice: RulesSlice,
  of: {
    readonly rowOf: (rule: MergedRule) => Row
    readonly stagedOf: (rule: MergedRule) => Row['staged']
    /** Same in display order. */
    readonly inOrder: (rules: readonly MergedRule[]) => readonly MergedRule[]
    readonly lints: readonly Lint[]
    readonly atMs: number | null
  },
): Shown {
  const { test, error } = readFilter(slice.filter, RULE_FIELDS)
  if (!test) {
    const offset = Math.min(slice.offset, Math.max(0, rules.length - 1))
    const rows = rules.slice(offset, offset + slice.limit).map(of.rowOf)
    return { known: rules.length, offset, rows, ...error }
  }
  const remarked = new Set(of.lints.filter((l) => l.level === 'watch' || l.level === 'bad').map((l) => l.rule))
  const all = of.inOrder(rules).map((rule, at) => {
    let made: Row | undefined
    const row = (): Row => (made ??= { ...of.rowOf(rule), rank: at + 1 })
    return { rule, row, staged: of.stagedOf(rule), atMs: of.atMs ?? 0, hasLint: remarked.has(rule.name) }
  })
  const passing = all.filter(test)
  const offset = Math.min(slice.offset, Math.max(0, passing.length - 1))
  const countStaged = (list: typeof all): number => list.filter(({ staged }) => staged !== '').length
  return {
    known: rules.length,
    offset,
    rows: passing.slice(offset, offset + slice.limit).map(({ row }) => row()),
    filtered: {
      filter: slice.filter ?? '',
      passing: passing.length,
      of: rules.length,
      staged: countStaged(all) - countStaged(passing),
      ranks: all
        .filter(({ rule, staged }) => !isControllerRule(rule.name) && staged !== 'add' && staged !== 'del')
        .slice(0, RANKS_MOST)
        .map(({ rule }) => rule.name),
    },
  }
}
