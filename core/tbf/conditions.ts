/**
 * The condition of a TBF rule: expressions `field={items}` joined by `&` (and) and `,` (or; binds weaker).
 *
 * Source: spec/lustre 1.2, measured A6. There is no NOT and no quoting; commas and `&` split also inside braces, except
 * under the list types of releases up to 2.17.0.
 */
import { ok, type Result } from '../base/result.ts'
import { RULE_DIALECTS, type RuleDialect } from '../lustre/rule-dialect.ts'
import { READ_ITEMS, type Match } from './condition-items.ts'
import { cut, piece, split, splitOnce, trimmed, type Piece } from './kernel-text.ts'
import type { Nodemaps } from './nodemaps.ts'
import { isField, type Field } from './request-key.ts'
import { fault, nearest, shown, type RuleFault } from './rule-fault.ts'

export { classKey, isField, UNKNOWN_ID, type Field, type RequestKey } from './request-key.ts'

/** One `field={items}` and the operator before it. */
export interface ExpressionText {
  readonly join: '' | 'and' | 'or'
  readonly field: string
  readonly items: readonly string[]
}

/** A parsed condition. */
export interface Conditions {
  /** Text echoed by servers: the text as typed, or `{items}` alone under a list type. */
  readonly text: string
  readonly matches: Match
  /** Job ids that it matches, if it has no other conditions and no `*`. */
  readonly jobIds?: readonly string[]
  /** Conditions that servers accept and mishandle (`isMishandled`), and accepted ones that are probably not intended. */
  readonly cautions: readonly RuleFault[]
}

/** Context for parsing conditions, besides the type. */
export interface ConditionsGrammar {
  readonly rules?: RuleDialect
  readonly nodemaps?: Nodemaps | undefined
}

interface Expression {
  readonly join: ExpressionText['join']
  readonly field: Piece
  readonly items: readonly Piece[]
}

/** True if a type has its own grammar, `field={list}` (releases up to 2.17.0). */
export const isListType = (fields: readonly Field[], rules: RuleDialect): boolean =>
  fields.length === 1 && rules.listTypes.includes(fields[0] as Field)

/** Items separated by blanks. Releases up to 2.15 refuse a trailing blank, and trim tabs off each item. */
function splitItems(list: Piece, rules: RuleDialect): Result<readonly Piece[], RuleFault> {
  const items = split(list, ' ').filter((p) => p.text !== '')
  const present = rules.trimsBlanks ? items : items.map(trimmed).filter((p) => p.text !== '')
  if (present.length === 0) return fault(list.at, list.text.length, 'the list is empty')
  const last = present[present.length - 1] as Piece
  const end = last.at + last.text.length
  if (!rules.trimsBlanks && list.text.includes(' ', end - list.at)) {
    return fault(end, list.at + list.text.length - end, 'this release allows no blank after the last item')
  }
  return ok(present)
}

/** One `field={items}`. `within` is the whole text, for a hint where a comma cut it. */
function splitExpression(
  p: Piece,
  join: Expression['join'],
  rules: RuleDialect,
  within: string,
): Result<Expression, RuleFault> {
  const sides = splitOnce(p, '=')
  const bare = trimmed(p)
  if (bare.text === '') return fault(p.at, p.text.length, 'an expression is missing here')
  if (!sides) return fault(bare.at, bare.text.length, `${shown(bare.text)} is not of the form field={items}`)
  const field = trimmed(sides[0])
  if (field.text === '') return fault(sides[0].at, 0, 'a field is missing before =')
  const right = trimmed(sides[1])
  if (!rules.trimsBlanks && right.at !== sides[1].at)
    return fault(sides[1].at, 1, 'this release allows no blank after =')
  if (!right.text.startsWith('{'))
    return fault(right.at, right.text.length, `expected {items} after ${shown(field.text)}=`)
  if (right.text.length < 2 || !right.text.endsWith('}')) {
    const next = within[p.at + p.text.length]
    const hint = next === undefined ? 'the list has no }' : `"${next}" ends the expression, also inside braces`
    return fault(right.at + right.text.length, next === undefined ? 0 : 1, hint)
  }
  const items = splitItems(cut(right, 1, right.text.length - 1), rules)
  return items.ok ? ok({ join, field, items: items.value }) : items
}

function splitPieces(text: string, isList: boolean, rules: RuleDialect): Result<Expression[], RuleFault> {
  const out: Expression[] = []
  for (const [i, conjunction] of (isList ? [piece(text)] : split(piece(text), ',')).entries()) {
    for (const [k, p] of (isList ? [conjunction] : split(conjunction, '&')).entries()) {
      const expression = splitExpression(p, k > 0 ? 'and' : i > 0 ? 'or' : '', rules, text)
      if (!expression.ok) return expression
      out.push(expression.value)
    }
  }
  return ok(out)
}

/**
 * Splits conditions for display; undefined if they are malformed (also for the built-in `*`).
 *
 * @param type  the running TBF type, for rules that a release up to 2.17.0 prints as `{items}`.
 */
export function splitConditions(text: string, type: readonly Field[] = []): ExpressionText[] | undefined {
  const rules = RULE_DIALECTS.dev
  const isList = text.startsWith('{') && type.length === 1
  const read = splitPieces(isList ? `${type[0]}=${text}` : text, isList, rules)
  if (!read.ok) return undefined
  return read.value.map((e) => ({ join: e.join, field: e.field.text, items: e.items.map((i) => i.text) }))
}

/** Condition as typed, from one printed as `{items}` under a type of one field. */
export const fullConditions = (printed: string, type: readonly Field[]): string =>
  printed.startsWith('{') && type.length === 1 ? `${type[0]}=${printed}` : printed

function readExpression(
  e: Expression,
  enabled: readonly Field[],
  grammar: ConditionsGrammar & { readonly rules: RuleDialect },
  cautions: RuleFault[],
): Result<Match, RuleFault> {
  const name = e.field.text
  if (!isField(name) || !grammar.rules.fields.includes(name)) {
    return fault(e.field.at, name.length, `unknown field ${shown(name)}${nearest(name, grammar.rules.fields)}`)
  }
  if (!enabled.includes(name)) {
    return fault(e.field.at, name.length, `field ${name} is not part of the running type ${enabled.join('+')}`)
  }
  return READ_ITEMS[name](e.items, { ...grammar, caution: (f) => void cautions.push(f) })
}

/**
 * Parses a rule's conditions under a TBF type.
 *
 * @param enabled  fields of the running TBF type; any other field is EINVAL, as on a server.
 * @param grammar  the release (the development line when absent) and the server's nodemaps.
 * @returns        faults with offsets in `text`; errno is EINVAL for all of them.
 */
export function parseConditions(
  text: string,
  enabled: readonly Field[],
  grammar: ConditionsGrammar = {},
): Result<Conditions, RuleFault> {
  const rules = grammar.rules ?? RULE_DIALECTS.dev
  const isList = isListType(enabled, rules)
  const split = splitPieces(text, isList, rules)
  if (!split.ok) return split
  const cautions: RuleFault[] = []
  const disjunction: Match[][] = []
  for (const e of split.value) {
    const match = readExpression(e, enabled, { ...grammar, rules }, cautions)
    if (!match.ok) return match
    if (e.join === 'and') disjunction.at(-1)?.push(match.value)
    else disjunction.push([match.value])
  }
  const [only, ...more] = split.value
  const jobIds = more.length === 0 && only?.field.text === 'jobid' ? only.items.map((i) => i.text) : []
  return ok({
    text: isList ? text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1) : text,
    matches:
      disjunction.length === 1 && disjunction[0]?.length === 1 ? (disjunction[0][0] as Match) : anyOf(disjunction),
    ...(jobIds.length > 0 && !jobIds.some((id) => id.includes('*')) ? { jobIds } : {}),
    cautions,
  })
}

const anyOf =
  (disjunction: readonly (readonly Match[])[]): Match =>
  (r) =>
    disjunction.some((all) => all.every((m) => m(r)))
