/**
 * floor(total * part / whole), exact for all whole numbers within a period: tokens times nanoseconds exceed 2^53 above 9 M I/O/s.
 *
 * @param whole  > 0.
 */
export function proportion(total: number, part: number, whole: number): number {
  const product = total * part
  if (product > Number.MAX_SAFE_INTEGER) return Number((BigInt(total) * BigInt(part)) / BigInt(whole))
  const quotient = Math.floor(product / whole)
  // A quotient just below a whole number may be rounded up to it.
  return quotient * whole > product ? quotient - 1 : quotient
}
