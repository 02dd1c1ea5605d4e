/**
 * Index of rules by duration: rules in force at an instant are found among those that began no longer before it than the duration
 * of their class. A controller ends hundreds a second, and few last long.
 */
const LENGTHS_MS = [1_000, 10_000, 100_000, 1_000_000]

/** Duration class of a rule; the last one: longer, or without an end. The index and the queries must use identical expressions. */
export const RULE_DURATION = `CASE WHEN to_ms IS NULL THEN ${LENGTHS_MS.length} ${LENGTHS_MS.map(
  (ms, k) => `WHEN to_ms - from_ms <= ${ms} THEN ${k}`,
).join(' ')} ELSE ${LENGTHS_MS.length} END`

/** Rules in force at any instant of [:from, :to]. */
export function inForceWithin(sources: string): string {
  const classes = [...LENGTHS_MS.map((ms, k) => [k, `from_ms >= :from - ${ms} AND `]), [LENGTHS_MS.length, '']]
  const any = classes.map(([k, since]) => `(${sources} AND ${RULE_DURATION} = ${k} AND ${since}from_ms <= :to)`)
  return `(${any.join(' OR ')}) AND (to_ms IS NULL OR to_ms >= :from)`
}
