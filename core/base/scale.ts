/** Axis scale: a few round leading digits times a power of ten, so that ticks are round and the axis rarely changes. */

/** Leading digits and the number of parts between ticks; close enough together that no chart is half empty. */
const LEADS: readonly (readonly [lead: number, parts: number])[] = [
  [1, 5],
  [1.5, 3],
  [2, 4],
  [2.5, 5],
  [3, 3],
  [4, 4],
  [5, 5],
  [6, 3],
  [8, 4],
  [10, 5],
]
const powerOf = (value: number): number => 10 ** Math.floor(Math.log10(value) + 1e-9)

/** Returns the smallest round axis end that holds `value`; 1 for values <= 0. */
export function niceMax(value: number): number {
  if (!(value > 0) || !Number.isFinite(value)) return 1
  const power = powerOf(value)
  for (const [lead] of LEADS) if (lead * power >= value * 0.999999) return Number((lead * power).toPrecision(12))
  return 10 * power
}

/** Returns the tick distance for a round axis end: three to five ticks. */
export function tickStep(max: number): number {
  const lead = max / powerOf(max)
  const parts = LEADS.find(([l]) => Math.abs(l - lead) < 1e-6)?.[1] ?? 5
  return max / parts
}
