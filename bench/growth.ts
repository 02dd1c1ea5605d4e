/** Growth of a cost with a size: the exponent of the best fit, by least squares on logarithmic axes. */

/**
 * Base of the power law. `size`: cost = a * n^p, 1 is linear. `log`: cost = a * log2(n)^p, 1 is logarithmic; for the cost of
 * one operation among n.
 */
export type Axis = 'size' | 'log'

/** p of the fit; `costs` in the order of `sizes`, in any one unit. */
export function fitted(sizes: readonly number[], costs: readonly number[], axis: Axis): number {
  const xs = sizes.map((n) => Math.log(axis === 'log' ? Math.log2(n) : n))
  const ys = costs.map((cost) => Math.log(cost))
  const mean = (of: readonly number[]): number => of.reduce((sum, v) => sum + v, 0) / of.length
  const x0 = mean(xs)
  const y0 = mean(ys)
  const across = xs.reduce((sum, x, i) => sum + (x - x0) * ((ys[i] as number) - y0), 0)
  return across / xs.reduce((sum, x) => sum + (x - x0) ** 2, 0)
}
