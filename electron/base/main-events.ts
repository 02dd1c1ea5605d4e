/** Selection of events where there are more than can be shown: frequent ones do not displace those of operators. */
import { OPERATOR_KINDS, type Mark } from '#core/api/history.ts'

const operators: ReadonlySet<Mark['kind']> = new Set(OPERATOR_KINDS)

/** True for an event that an operator caused, or a change of rules. */
const isOperatorEvent = ({ kind }: Pick<Mark, 'kind'>): boolean => operators.has(kind)

/** Events of operators that are kept before all others, of `limit` in total. */
export const operatorsFirst = (limit: number): number => Math.ceil(limit / 2)

/**
 * At most `limit` events, newest first: the newest ones of operators up to half of the limit, then the newest of all.
 *
 * @param events  newest first.
 */
export function mainEvents(events: readonly Mark[], limit: number): Mark[] {
  if (events.length <= limit) return [...events]
  const kept = new Set<Mark>()
  for (const event of events) {
    if (kept.size >= operatorsFirst(limit)) break
    if (isOperatorEvent(event)) kept.add(event)
  }
  for (const event of events) {
    if (kept.size >= limit) break
    kept.add(event)
  }
  return events.filter((event) => kept.has(event))
}
