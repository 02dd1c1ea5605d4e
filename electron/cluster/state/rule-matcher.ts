/**
 * Rule that applies to a job, judged by what is known of it: mostly only its job id. A rule with other conditions (nid,
 * uid, opcode) may match; it is never guessed.
 */
import { Binder, ShapeCache, type Binding } from '#core/control/binding.ts'
import type { KnownRequest } from '#core/control/condition-shape.ts'
import { DEFAULT_RULE } from '#core/control/server-rules.ts'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import { fullConditions } from '#core/tbf/conditions.ts'
import { isField, type Field } from '#core/tbf/request-key.ts'
import type { TbfType } from '#core/tbf/tbf-type.ts'

/** Compiled conditions, shared by all servers and kept from sample to sample. */
export class RuleMatcher {
  readonly shapes = new ShapeCache()
}

/** Fields of a policy as shown, `tbf jobid+opcode`; none for generic TBF and if unknown. */
const fieldsOf = (policy: string): readonly Field[] =>
  policy.startsWith('tbf ') ? policy.slice(4).split('+').filter(isField) : []

/**
 * Lines with their field, also those that releases up to 2.17.0 print as `{id}` under a type of one field; the built-in
 * rule, there `{*}`, has `*`.
 *
 * @param policy  policy of the queue, as shown: `tbf jobid`.
 */
export function writtenLines(rules: readonly RuleLine[], policy: string): RuleLine[] {
  const fields = fieldsOf(policy)
  return rules.map((r) => {
    if (!r.conditions.startsWith('{')) return r
    return { ...r, conditions: r.name === DEFAULT_RULE ? '*' : fullConditions(r.conditions, fields) }
  })
}

/**
 * Returns a finder of a request's rule among the regular rules of one server, CPT 0: O(1) if every rule names jobs
 * exactly, as Sluice's do, else by iterating over those that do not.
 *
 * @returns  the first rule that certainly matches, and those before it that may.
 */
export function bindingFinder(
  rules: readonly RuleLine[],
  matcher: RuleMatcher,
  policy = '',
): (request: KnownRequest) => Binding<RuleLine> {
  const head = rules.filter((r) => r.queue === 'reg' && r.cpt === 0)
  const type: TbfType = { fields: fieldsOf(policy), isList: head.some((r) => r.conditions.startsWith('{')) }
  const binder = new Binder(writtenLines(head, policy), type, matcher.shapes)
  return (request) => binder.bind(request)
}

/**
 * Same for a job of which only the id is known: the first rule that certainly matches; undefined if only `default`
 * does.
 */
export function ruleFinder(
  rules: readonly RuleLine[],
  matcher: RuleMatcher,
  policy = '',
): (jobId: string) => RuleLine | undefined {
  const find = bindingFinder(rules, matcher, policy)
  return (jobId) => find({ jobId }).sure
}
