/**
 * Memory layout of POOL: one signed 64-bit word, the low 8 bits of the epoch above 56 bits of a biased token count.
 *
 * One FAA thus returns the tokens and the epoch it was executed in (A10), atomically. The count may go negative under concurrent FAAs;
 * the bias keeps a borrow out of the epoch for 3.6e13 FAAs of 1000 tokens.
 */
const COUNT_BITS = 56n
const BIAS = 1n << 55n
const COUNT_MASK = (1n << COUNT_BITS) - 1n

export interface Pool {
  /** Global tokens; negative when claimed past the last one. */
  readonly tokens: number
  /** Low 8 bits of the epoch of this count. */
  readonly epoch: number
}

export const packPool = (tokens: number, epoch: number): bigint =>
  BigInt.asIntN(64, (BigInt(epoch & 255) << COUNT_BITS) | (BigInt(tokens) + BIAS))

/** Returns the epoch nearest to `current` with these low 8 bits. */
export function epochNear(low: number, current: number): number {
  const ahead = (low - current) & 255
  return current + (ahead < 128 ? ahead : ahead - 256)
}

export function unpackPool(word: bigint): Pool {
  const bits = BigInt.asUintN(64, word)
  return { tokens: Number((bits & COUNT_MASK) - BIAS), epoch: Number(bits >> COUNT_BITS) }
}
