/** Rates scaled down in proportion to a limit of their sum. */
import type { Rates } from './algorithm.ts'

/** Jobs with fixed rates that sum to more than the system limit: scaled down, or allowed as in the public code. */
export type Oversubscription = 'scale' | 'allow'

/**
 * Returns the rates while they sum to at most `maxRate`, else each times maxRate / sum.
 *
 * Source: spec/padll 6, row 10.
 */
export function scaled(rates: Rates, maxRate: number): Rates {
  let sum = 0
  for (const rate of rates.values()) sum += rate
  if (sum <= maxRate) return rates
  // Divides first: demands near the end of the doubles' range would otherwise sum to Infinity and overflow.
  const most = Math.max(...rates.values())
  let parts = 0
  for (const rate of rates.values()) parts += rate / most
  return new Map([...rates].map(([id, rate]) => [id, (rate / most / parts) * maxRate]))
}
