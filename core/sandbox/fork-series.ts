/** Sums and means over series with gaps: NaN is skipped, not replaced. */

export function mean(values: readonly number[]): number {
  let sum = 0
  let n = 0
  for (const v of values) {
    if (Number.isNaN(v)) continue
    sum += v
    n++
  }
  return n === 0 ? NaN : sum / n
}

/** Mean; 0 without known values. */
export const meanOr0 = (values: readonly number[]): number => {
  const m = mean(values)
  return Number.isNaN(m) ? 0 : m
}

/** Returns the quantile `p` of the known values; NaN without any. */
export function quantile(values: readonly number[], p: number): number {
  const known = values.filter((v) => !Number.isNaN(v)).sort((a, b) => a - b)
  return known.length === 0 ? NaN : (known[Math.min(known.length - 1, Math.floor(p * known.length))] as number)
}

/** Means of `parts` ranges of about equal length. */
export function inParts(values: readonly number[], parts: number): number[] {
  const n = Math.min(parts, values.length)
  return Array.from({ length: n }, (_, i) =>
    mean(values.slice(Math.floor((i * values.length) / n), Math.floor(((i + 1) * values.length) / n))),
  )
}

/** Sums value by value; a gap if all are gaps. */
export function sum(series: readonly (readonly number[])[]): number[] {
  const length = Math.max(0, ...series.map((s) => s.length))
  return Array.from({ length }, (_, i) => {
    let total = 0
    let n = 0
    for (const s of series) {
      const v = s[i] ?? NaN
      if (Number.isNaN(v)) continue
      total += v
      n++
    }
    return n === 0 ? NaN : total
  })
}
