/** Jobs in the form that the algorithms use: no missing values, in the order of Algorithm 1's loop. */
import type { JobDemand } from './algorithm.ts'

export interface Claim {
  readonly id: string
  /** op/s, > 0. */
  readonly demand: number
  /** op/s, at least 1. */
  readonly usage: number
}

/**
 * Fills in missing values: a demand of 1 op/s where no policy names the job, a usage equal to the demand in its first
 * cycle, and a usage of 1 op/s for an idle job, which thus keeps a share of the leftover; the sum of usages is never 0.
 *
 * Source: spec/padll 6, rows 6 to 9.
 */
export function toClaim({ id, demand, usage }: JobDemand): Claim {
  const wanted = demand ?? 1
  return { id, demand: wanted, usage: Math.max(usage ?? wanted, 1) }
}

/** Compares two texts by code point, which for well-formed text is the order of their UTF-8 bytes. */
export function byText(a: string, b: string): number {
  const common = Math.min(a.length, b.length)
  let i = 0
  while (i < common && a.charCodeAt(i) === b.charCodeAt(i)) i++
  if (i === common) return a.length - b.length
  // The first difference may be the second half of a surrogate pair: the pair begins one unit earlier.
  const start = i > 0 && a.codePointAt(i - 1) !== b.codePointAt(i - 1) ? i - 1 : i
  return a.codePointAt(start)! - b.codePointAt(start)!
}

/**
 * Sorts claims by increasing demand, ties by id in the order of UTF-8 bytes.
 *
 * Source: spec/padll 6, row 1 (paper IV-B, `in order of increasing demands`; the public code takes the order of names).
 */
export const byDemand = (claims: readonly Claim[]): Claim[] =>
  claims.toSorted((a, b) => a.demand - b.demand || byText(a.id, b.id))
