/** Sums over series with gaps: what is NaN is not counted, and nothing is put in its place. */

export function mean(values: readonly number[]): number {
  let [sum, n] = [0, 0]
  for (const v of values) {
    if (Number.isNaN(v)) continue
    sum += v
    n++
  }
  return n === 0 ? NaN : sum / n
}

/** 0 where nothing is known. */
export const meanOr0 = (values: readonly number[]): number => {
  const m = mean(values)
  return Number.isNaN(m) ? 0 : m
}

/** The value that a part `p` of the known ones stays under; NaN without any. */
export function quantile(values: readonly number[], p: number): number {
  const known = values.filter((v) => !Number.isNaN(v)).sort((a, b) => a - b)
  return known.length === 0 ? NaN : (known[Math.min(known.length - 1, Math.floor(p * known.length))] as number)
}

/** Means of `parts` pieces of about equal length. */
export function inParts(values: readonly number[], parts: number): number[] {
  const n = Math.min(parts, values.length)
  return Array.from({ length: n }, (_, i) =>
    mean(values.slice(Math.floor((i * values.length) / n), Math.floor(((i + 1) * values.length) / n))),
  )
}

/** Value by value; a gap where all are gaps. */
export function sum(series: readonly (readonly number[])[]): number[] {
  const length = Math.max(0, ...series.map((s) => s.length))
  return Array.from({ length }, (_, i) => {
    let [total, n] = [0, 0]
    for (const s of series) {
      const v = s[i] ?? NaN
      if (Number.isNaN(v)) continue
      total += v
      n++
    }
    return n === 0 ? NaN : total
  })
}
