/**
 * What metadata load consists of: shares of the operations, of the metadata targets, and the bandwidth beside it.
 *
 * Source: spec/padll 10.6. The published statistics say open, close and getattr; rename is what 98 % leave, the other seven
 * and the targets are free.
 */

/** Shares of the eleven operations that the monitoring of the paper counts; they sum to 1. */
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
 * A whole number of operations cut into whole parts by weight, none lost: the largest remainders are rounded up, ties to the
 * first.
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
