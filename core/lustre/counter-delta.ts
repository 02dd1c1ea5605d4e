/**
 * Difference of a counter between two readings.
 *
 * Minimum and maximum have no difference: the all-time minimum says nothing about the interval, so neither is returned. They only ever
 * move apart, which helps to detect that a counter was reset.
 */
import type { Counter } from './counter-line.ts'

export interface CounterDelta {
  readonly samples: number
  readonly unit: string
  readonly sum: number
  readonly sumsq: number
  /** Samples per size bin; only bins with any. */
  readonly hist: ReadonlyMap<number, number> | undefined
}

type Amount = 'samples' | 'sum' | 'sumsq'

/** Half of 64 bits: a number that falls from above it has wrapped, not been cleared. */
const HALF = 2 ** 63

/** Returns now - before modulo 2^64, as the server counts, for numbers of any size. */
export function amountSince(now: Counter, before: Counter | undefined, amount: Amount): number {
  if (before === undefined) return now[amount]
  if (!now.exact && !before.exact) return now[amount] - before[amount]
  const digits = (c: Counter): bigint => BigInt(c.exact?.get(amount) ?? c[amount])
  return Number(BigInt.asUintN(64, digits(now) - digits(before)))
}

/** True if a counter may be a continuation of the previous reading: no monotonic value has decreased. */
export function mayContinue(now: Counter, before: Counter): boolean {
  return now.samples >= before.samples && (now.sum >= before.sum || before.sum >= HALF)
}

/** True if minimum and maximum show that the counter was reset, which its samples may hide. */
export function wasReset(now: Counter, before: Counter): boolean {
  return before.samples > 0 && (now.max < before.max || now.min > before.min)
}

function histSince(now: Counter, before: Counter | undefined): Map<number, number> | undefined {
  if (!now.hist) return undefined
  const bins = new Map<number, number>()
  for (const [bin, n] of now.hist) {
    const since = n - (before?.hist?.get(bin) ?? 0)
    if (since > 0) bins.set(bin, since)
  }
  return bins
}

/**
 * Returns the difference of two readings of a counter that was not reset.
 *
 * @param before  undefined if the counter did not exist before: then its whole value is new.
 */
export const counterDelta = (now: Counter, before: Counter | undefined): CounterDelta => ({
  samples: amountSince(now, before, 'samples'),
  unit: now.unit,
  sum: amountSince(now, before, 'sum'),
  sumsq: amountSince(now, before, 'sumsq'),
  hist: histSince(now, before),
})
