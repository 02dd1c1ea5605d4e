/**
 * The argument of the policy `tbf`: the fields of a class key and of rule conditions.
 *
 * Source: spec/lustre 1.1, measured A5, A6.
 */
import { ok, type Result } from '../base/result.ts'
import { RULE_DIALECTS, type RuleDialect } from '../lustre/rule-dialect.ts'
import { isListType } from './conditions.ts'
import { isField, type Field } from './request-key.ts'
import { fault, nearest, shown, type RuleFault } from './rule-fault.ts'

/** The kernel keeps a policy's argument in 16 bytes with the NUL. */
export const ARGUMENT_MAX = 15
/** TBF's own limit where the argument is passed on unchecked (releases up to 2.15). */
const TYPE_MAX = 19

export interface TbfType {
  /** Fields in the order of spec/lustre, without duplicates. */
  readonly fields: readonly Field[]
  /** True if rules are one `field={list}`, printed as `{list}` (releases up to 2.17.0). */
  readonly isList: boolean
}

/** The type that classifies by these fields. */
export function typeOf(fields: readonly Field[], rules: RuleDialect = RULE_DIALECTS.dev): TbfType {
  const all = rules.fields.filter((f) => fields.includes(f))
  return { fields: all, isList: isListType(all, rules) }
}

export const isSameType = (a: TbfType, b: TbfType): boolean =>
  a.isList === b.isList && a.fields.length === b.fields.length && a.fields.every((f, i) => f === b.fields[i])

/**
 * Parses the argument: field names joined by `+`; an empty name ends the list.
 *
 * @param arg  undefined = none, generic TBF: every field of the release.
 */
export function parseTbfType(
  arg: string | undefined,
  rules: RuleDialect = RULE_DIALECTS.dev,
): Result<TbfType, RuleFault> {
  if (arg === undefined || (arg === 'generic' && rules.knowsGenericWord)) return ok(typeOf(rules.fields, rules))
  const limit = rules.limitsArgument === 'always' ? ARGUMENT_MAX : TYPE_MAX
  if (arg.length > limit) return fault(0, arg.length, `a type has at most ${limit} characters, this has ${arg.length}`)
  const unknown = (at: number, word: string): Result<TbfType, RuleFault> =>
    fault(at, word.length, `unknown type ${shown(word)}${nearest(word, rules.fields)}`, rules.unknownTypeErrno)
  const isKnown = (word: string): word is Field => isField(word) && rules.fields.includes(word)
  if (!rules.hasCombinations) return isKnown(arg) ? ok(typeOf([arg], rules)) : unknown(0, arg)
  const fields: Field[] = []
  let at = 0
  for (const word of arg.split('+')) {
    if (word === '' && fields.length > 0) break
    if (word === 'generic' && rules.knowsGenericWord) fields.push(...rules.fields)
    else if (isKnown(word)) fields.push(word)
    else return unknown(at, word)
    at += word.length + 1
  }
  return ok(typeOf(fields, rules))
}
