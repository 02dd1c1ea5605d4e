/**
 * The structure of a rule's condition, for what can be said of two rules without any request: whether one matches all that
 * another does, and which job ids a rule names.
 */
import { RULE_DIALECTS, type RuleDialect } from '../lustre/rule-dialect.ts'
import { parseConditions, splitConditions } from '../tbf/conditions.ts'
import { jobIdPattern } from '../tbf/job-id-pattern.ts'
import { isField, type Field, type RequestKey } from '../tbf/request-key.ts'
import type { TbfType } from '../tbf/tbf-type.ts'

/** Commas and `&` that stand in items are characters of a list type; nowhere else can they stand in items at all. */
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

  /** Whether it holds for a request; undefined when the request's field is not known, or the clause cannot be read. */
  holds(request: KnownRequest): boolean | undefined {
    this.#test ??= testOf(this)
    return this.#test(request)
  }
}

/** What is known of a request; absent fields are not. */
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
  // A server compares nodemap ids, which are not known here; names that are equal have equal ids.
  if (field === 'nodemap') return (r) => (r.nodemap === undefined ? undefined : items.includes(r.nodemap))
  const parsed = parseConditions(`${field}={${items.join(' ')}}`, [field], { rules: LISTS })
  if (!parsed.ok) return () => undefined
  const { matches } = parsed.value
  const key = field === 'jobid' ? 'jobId' : field
  // The match of one field looks at that field alone, and that one is there.
  return (r) => (r[key] === undefined ? undefined : matches(r as unknown as RequestKey))
}

/** Any of the lists in which all clauses hold. */
export type Shape = readonly (readonly Clause[])[]

/**
 * The structure of a condition in the form in which it is written; undefined when it cannot be read, also for the `*` of the
 * built-in rule.
 *
 * @param type  the running one: list types take commas and `&` inside braces as characters.
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

/** A character that no job id has: it stands for what a `*` may be. */
const ANYTHING = '\u0100'
const netOf = (nid: string): string => nid.slice(nid.lastIndexOf('@') + 1)

/** Whether one item matches everything that another item of the same field does; false where that cannot be told. */
function itemCovers(field: Field, item: string, other: string): boolean {
  if (item === other) return true
  if (field === 'jobid') return item.includes('*') && jobIdPattern(item)(other.replaceAll('*', ANYTHING))
  if (field !== 'nid') return false
  if (item.startsWith('*@')) return netOf(item) === netOf(other)
  const isAddress = /^[0-9a-fA-F.:]+@\w+$/.test(other)
  return isAddress && new Clause(field, [item]).holds({ nid: other }) === true
}

/** Whether a clause holds for everything. */
const isUniversal = ({ field, items }: Clause): boolean => field === 'jobid' && items.some((i) => /^\*+$/.test(i))

const clauseCovers = (a: Clause, b: Clause): boolean =>
  a.field === b.field && b.items.every((other) => a.items.some((item) => itemCovers(a.field, item, other)))

/**
 * Whether `a` matches everything that `b` does, judged by structure alone: each alternative of `b` is within one of `a`.
 *
 * @returns  false also where it cannot be told, for example when only several alternatives of `a` together cover one of `b`.
 */
export const covers = (a: Shape, b: Shape): boolean =>
  b.every((narrow) =>
    a.some((wide) => wide.every((clause) => isUniversal(clause) || narrow.some((n) => clauseCovers(clause, n)))),
  )

/** The job ids that a rule is about, when it names each of them exactly; undefined when it may match others. */
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

/** Whether a condition holds for a request; undefined when what is known does not tell. */
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
