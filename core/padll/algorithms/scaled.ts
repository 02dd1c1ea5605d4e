/** Rates cut down alike to a limit of their sum. */
import type { Rates } from './algorithm.ts'

/** Whether jobs with fixed rates may together exceed the system limit: `allow` is what the public code does. */
export type Oversubscription = 'scale' | 'allow'

/**
 * The rates themselves while they sum to at most `maxRate`, else each times maxRate / sum.
 *
 * Source: spec/padll 6, row 10.
 */
export function scaled(rates: Rates, maxRate: number): Rates {
  let sum = 0
  for (const rate of rates.values()) sum += rate
  if (sum <= maxRate) return rates
  // Quotient first: demands near the end of the doubles' range would sum to Infinity and overflow the other way round.
  const most = Math.max(...rates.values())
  let parts = 0
  for (const rate of rates.values()) parts += rate / most
  return new Map([...rates].map(([id, rate]) => [id, (rate / most / parts) * maxRate]))
}
