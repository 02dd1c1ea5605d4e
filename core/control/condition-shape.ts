/**
 * Structure of a rule's condition, for comparing rules without a request: if one matches everything that another does, and which job ids
 * it names.
 */
import { RULE_DIALECTS, type RuleDialect } from '../lustre/rule-dialect.ts'
import { parseConditions, splitConditions } from '../tbf/conditions.ts'
import { jobIdPattern } from '../tbf/job-id-pattern.ts'
import { isField, type Field, type RequestKey } from '../tbf/request-key.ts'
import type { TbfType } from '../tbf/tbf-type.ts'

/** Commas and `&` within items are characters only of a list type; other types cannot contain them in items. */
const LISTS: RuleDialect = RULE_DIALECTS['2.17']

type Test = (r: KnownRequest) => boolean | undefined

/** `field={items}`. */
export class Clause {
  readonly field: Field
  readonly items: readonly string[]
  #test: Test | undefined

  constructor(field: Field, items: readonly string[]) {
    this.field = field
    this.items = items
  }

  /** Returns true if it matches a request; undefined if the request's field is unknown, or the clause cannot be parsed. */
  holds(request: KnownRequest): boolean | undefined {
    this.#test ??= testOf(this)
    return this.#test(request)
  }
}

/** Known fields of a request; absent ones are unknown. */
export interface KnownRequest {
  readonly jobId?: string | undefined
  readonly nid?: string | undefined
  readonly opcode?: string | undefined
  readonly uid?: number | undefined
  readonly gid?: number | undefined
  readonly projid?: number | undefined
  /** Name of the client's nodemap. */
  readonly nodemap?: string | undefined
}

function testOf({ field, items }: Clause): Test {
  // A server compares nodemap ids, which are unknown here; equal names have equal ids.
  if (field === 'nodemap') return (r) => (r.nodemap === undefined ? undefined : items.includes(r.nodemap))
  const parsed = parseConditions(`${field}={${items.join(' ')}}`, [field], { rules: LISTS })
  if (!parsed.ok) return () => undefined
  const { matches } = parsed.value
  const key = field === 'jobid' ? 'jobId' : field
  // The matcher of one field reads only that field, which is present.
  return (r) => (r[key] === undefined ? undefined : matches(r as unknown as RequestKey))
}

/** Disjunction of lists whose clauses must all match. */
export type Shape = readonly (readonly Clause[])[]

/**
 * Returns the structure of a condition in written form; undefined if it cannot be parsed, also for the `*` of the built-in rule.
 *
 * @param type  the running one: list types treat commas and `&` inside braces as characters.
 */
export function shapeOf(conditions: string, { fields, isList }: TbfType): Shape | undefined {
  const expressions = isList
    ? splitConditions(conditions.slice(conditions.indexOf('{')), fields)
    : splitConditions(conditions)
  if (!expressions) return undefined
  const shape: Clause[][] = []
  for (const { join, field, items } of expressions) {
    if (!isField(field)) return undefined
    if (join === 'and') shape.at(-1)?.push(new Clause(field, items))
    else shape.push([new Clause(field, items)])
  }
  return shape
}

/** A character that no job id contains; represents any text matched by a `*`. */
const ANYTHING = '\u0100'
const netOf = (nid: string): string => nid.slice(nid.lastIndexOf('@') + 1)

/** True if one item matches everything that another item of the same field does; false if unknown. */
function itemCovers(field: Field, item: string, other: string): boolean {
  if (item === other) return true
  if (field === 'jobid') return item.includes('*') && jobIdPattern(item)(other.replaceAll('*', ANYTHING))
  if (field !== 'nid') return false
  if (item.startsWith('*@')) return netOf(item) === netOf(other)
  const isAddress = /^[0-9a-fA-F.:]+@\w+$/.test(other)
  return isAddress && new Clause(field, [item]).holds({ nid: other }) === true
}

/** True if a clause matches everything. */
const isUniversal = ({ field, items }: Clause): boolean => field === 'jobid' && items.some((i) => /^\*+$/.test(i))

const clauseCovers = (a: Clause, b: Clause): boolean =>
  a.field === b.field && b.items.every((other) => a.items.some((item) => itemCovers(a.field, item, other)))

/**
 * True if `a` matches everything that `b` does, by structure alone: each alternative of `b` is within one of `a`.
 *
 * @returns  false also if unknown, for example when only several alternatives of `a` together cover one of `b`.
 */
export const covers = (a: Shape, b: Shape): boolean =>
  b.every((narrow) =>
    a.some((wide) => wide.every((clause) => isUniversal(clause) || narrow.some((n) => clauseCovers(clause, n)))),
  )

/** Returns the job ids of a rule that names each of them exactly; undefined if it may match others. */
export function exactJobIds(shape: Shape): string[] | undefined {
  const out: string[] = []
  for (const all of shape) {
    const exact = all.find((c) => c.field === 'jobid' && c.items.every((i) => !i.includes('*')))
    if (!exact) return undefined
    out.push(...exact.items)
  }
  return [...new Set(out)]
}

/** All clauses of one field. */
export const clausesOf = (shape: Shape, field: Field): Clause[] => shape.flat().filter((c) => c.field === field)

/** Returns true if a condition matches a request; undefined if the known fields do not decide it. */
export function shapeMatches(shape: Shape, request: KnownRequest): boolean | undefined {
  let isUnsure = false
  for (const all of shape) {
    let verdict: boolean | undefined = true
    for (const clause of all) {
      const m = clause.holds(request)
      if (m === false) {
        verdict = false
        break
      }
      if (m === undefined) verdict = undefined
    }
    if (verdict) return true
    if (verdict === undefined) isUnsure = true
  }
  return isUnsure ? undefined : false
}
