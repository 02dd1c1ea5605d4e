/**
 * What a counter did between two readings of it.
 *
 * Smallest and largest have no difference: the smallest of all time says nothing about the smallest since, so neither is
 * given. They only ever move apart, which tells that a counter is not the one it was.
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

/** Half of 64 bits: a number that falls from above it has wrapped around, not been cleared. */
const HALF = 2 ** 63

/** now - before in the 64 bits that the server counts in, however large both are. */
export function amountSince(now: Counter, before: Counter | undefined, amount: Amount): number {
  if (before === undefined) return now[amount]
  if (!now.exact && !before.exact) return now[amount] - before[amount]
  const digits = (c: Counter): bigint => BigInt(c.exact?.get(amount) ?? c[amount])
  return Number(BigInt.asUintN(64, digits(now) - digits(before)))
}

/** Whether a counter may be the one it was before: none of what only grows has shrunk. */
export function mayContinue(now: Counter, before: Counter): boolean {
  return now.samples >= before.samples && (now.sum >= before.sum || before.sum >= HALF)
}

/** Whether the smallest and largest tell that the counter began anew, which its samples may hide. */
export function isAnother(now: Counter, before: Counter): boolean {
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
 * The difference of two readings of a counter that went on.
 *
 * @param before  undefined where the counter had not been there: then all it shows is new.
 */
export const counterDelta = (now: Counter, before: Counter | undefined): CounterDelta => ({
  samples: amountSince(now, before, 'samples'),
  unit: now.unit,
  sum: amountSince(now, before, 'sum'),
  sumsq: amountSince(now, before, 'sumsq'),
  hist: histSince(now, before),
})
