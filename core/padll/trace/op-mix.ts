/**
 * Composition of the metadata load: shares of the operations and of the metadata targets, and the bandwidth.
 *
 * Source: spec/padll 10.6. Published are open, close and getattr; rename is the rest to 98 %, the other seven and the
 * targets are chosen here.
 */

/** Shares of the eleven operations that the paper's monitoring counts; they sum to 1. */
export const OP_MIX = {
  getattr: 0.4743,
  close: 0.2153,
  rename: 0.1468,
  open: 0.1436,
  unlink: 0.008,
  setattr: 0.003,
  mkdir: 0.003,
  rmdir: 0.002,
  statfs: 0.002,
  mknod: 0.001,
  sync: 0.001,
} as const
export type MixedOp = keyof typeof OP_MIX
export const MIXED_OPS = Object.keys(OP_MIX) as MixedOp[]

/** Shares of the six metadata targets. */
export const MDT_WEIGHTS = [0.28, 0.22, 0.17, 0.14, 0.11, 0.08] as const

/**
 * Splits operations into whole parts by weight without loss: the largest remainders are rounded up, ties to the first.
 *
 * @param weights  sum to 1.
 */
export function apportioned(operations: number, weights: readonly number[]): number[] {
  const parts = weights.map((weight) => Math.floor(operations * weight))
  const rest = operations - parts.reduce((sum, part) => sum + part, 0)
  const order = weights
    .map((weight, at) => ({ at, remainder: operations * weight - parts[at]! }))
    .toSorted((a, b) => b.remainder - a.remainder || a.at - b.at)
  for (const { at } of order.slice(0, rest)) parts[at]!++
  return parts
}
