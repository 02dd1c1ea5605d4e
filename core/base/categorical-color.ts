/** Categorical colors: seven hues, each in two shades. Index 0: gray, for `other` and for jobs without a color. */

/** Hues: indices 1 to 7 are their first shades. */
export const HUES = 7
/** Indices 8 to 14 are the second shades of the same hues. */
export const COLORS = 2 * HUES
/** Share of the hue in a second shade; the rest is the text color, whose contrast with the background is higher. */
const HUE_SHARE = 0.55

function partsOf(color: string): readonly number[] | undefined {
  if (!/^#[0-9a-f]{6}$/i.test(color)) return undefined
  return [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16))
}

/**
 * Second shade of a hue: `color-mix(in srgb, hue 55%, text)`.
 *
 * @param hue   `#rrggbb`, as `text`.
 * @returns     the hue itself if one of the two is not in this format.
 */
export function secondShade(hue: string, text: string): string {
  const own = partsOf(hue)
  const other = partsOf(text)
  if (!own || !other) return hue
  const mixed = own.map((v, i) => Math.round(v * HUE_SHARE + (other[i] as number) * (1 - HUE_SHARE)))
  return `#${mixed.map((v) => v.toString(16).padStart(2, '0')).join('')}`
}
