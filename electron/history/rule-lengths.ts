/**
 * Rules by how long they stood: what stands at an instant is found among those that began no longer before it than their like stand. A
 * controller ends hundreds a second, and few stand long.
 */
const LENGTHS_MS = [1_000, 10_000, 100_000, 1_000_000]

/** Class of a rule's length; the last one: longer, or without an end. The index and the questions have it in the same words. */
export const RULE_LENGTH = `CASE WHEN to_ms IS NULL THEN ${LENGTHS_MS.length} ${LENGTHS_MS.map(
  (ms, k) => `WHEN to_ms - from_ms <= ${ms} THEN ${k}`,
).join(' ')} ELSE ${LENGTHS_MS.length} END`

/** Rules that stood at any instant of [:from, :to]. */
export function stoodWithin(sources: string): string {
  const classes = [...LENGTHS_MS.map((ms, k) => [k, `from_ms >= :from - ${ms} AND `]), [LENGTHS_MS.length, '']]
  const any = classes.map(([k, since]) => `(${sources} AND ${RULE_LENGTH} = ${k} AND ${since}from_ms <= :to)`)
  return `(${any.join(' OR ')}) AND (to_ms IS NULL OR to_ms >= :from)`
}
