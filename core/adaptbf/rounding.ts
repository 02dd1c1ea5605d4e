/**
 * Rounding of real shares to whole tokens. Every step of a period distributes an integer total by real weights; the fraction lost by
 * flooring stays with the job as its remainder and counts in the next hand-out, so rounding starves no job.
 *
 * Invariant: the grants sum to the total exactly, and the remainders of the members keep their sum.
 */
import { invariant } from '../base/result.ts'

/** Two reals closer than this are equal. Exact rationals and doubles with this tolerance give the same integers. */
export const EPS = 1e-9

/** The floor of a real that may have lost its last bits: 289.9999999999999 is 290. */
export const floorTokens = (value: number): number => Math.floor(value + EPS)

/** Columns of one hand-out; position 0 is the first job in processing order. The first `count` entries are read. */
export interface RoundingColumns {
  /** Real tokens due to each member, >= 0; sums to the total. */
  readonly share: Float64Array
  /** Running remainder of each member, tokens; updated in place. */
  readonly rho: Float64Array
  /** Filled with the whole tokens granted to each member, >= 0. */
  readonly granted: Float64Array
  /** Working memory, at least `count` long; its contents are undefined. */
  readonly scratch: Float64Array
}

/**
 * Distributes `total` whole tokens by real shares and running remainders; returns the number of single-token corrections.
 *
 * Floors share + remainder, then corrects one token at a time: a leftover token goes to the member with the largest remainder, an excess
 * token is taken from the member with the largest remainder among those with tokens. Ties: the first in processing order.
 *
 * Source: AdapTBF III-C4, equations (21)-(25). Deviations: equation (24) as printed drops the old remainder, so a share of 0.4 a period
 * would never become a token; here the remainder accumulates. A grant is never below 0.
 *
 * Remainders within EPS of each other are equal. Rounding errors are far smaller and distinct fractions far larger, so it does not matter
 * how a chain of near-equal remainders longer than EPS is split; the processing order decides.
 *
 * @param total  whole tokens to hand out, >= 0; 0 grants nothing and leaves the remainders.
 * @param count  members, at least 1 if `total` > 0.
 * @throws InvariantError when there are tokens but no member, or a share is not finite.
 * @complexity   O(count) on average, O(count log count) for an excess; allocates only for an excess.
 */
export function distribute(total: number, count: number, columns: RoundingColumns): number {
  const { share, rho, granted } = columns
  if (total === 0) {
    granted.fill(0, 0, count)
    return 0
  }
  invariant(count > 0, 'tokens are handed out to at least one member')
  let remaining = total
  for (let i = 0; i < count; i++) {
    const due = share[i]! + rho[i]!
    const tokens = Math.max(0, Math.floor(due + EPS))
    granted[i] = tokens
    rho[i] = due - tokens
    remaining -= tokens
  }
  invariant(Number.isFinite(remaining), 'shares and remainders are finite')
  if (remaining > 0) addLeftover(remaining, count, columns)
  else if (remaining < 0) removeExcess(-remaining, count, columns)
  return Math.abs(remaining)
}

/**
 * Adds tokens to the largest remainders. A member that gets one falls by 1, so the members within 1 of the largest get one each before
 * any gets a second: whole rounds of them, then the first of a last round.
 */
function addLeftover(tokens: number, count: number, { rho, granted, scratch }: RoundingColumns): void {
  const grant = (i: number): void => {
    granted[i]!++
    rho[i]!--
  }
  for (let remaining = tokens; remaining > 0;) {
    let largest = -Infinity
    for (let i = 0; i < count; i++) largest = Math.max(largest, rho[i]!)
    const bound = largest - 1 + EPS
    let size = 0
    for (let i = 0; i < count; i++) if (rho[i]! > bound) scratch[size++] = rho[i]!
    if (remaining >= size) {
      for (let i = 0; i < count; i++) if (rho[i]! > bound) grant(i)
      remaining -= size
      continue
    }
    const last = nthLargest(scratch, size, remaining)
    for (let i = 0; i < count; i++) {
      if (rho[i]! <= last + EPS) continue
      grant(i)
      remaining--
    }
    for (let i = 0; remaining > 0; i++) {
      if (Math.abs(rho[i]! - last) > EPS) continue
      grant(i)
      remaining--
    }
  }
}

/** Removes tokens from the largest remainders. A member that gives one rises by 1, so it stays first until it has none left. */
function removeExcess(tokens: number, count: number, { rho, granted }: RoundingColumns): void {
  const able: number[] = []
  for (let i = 0; i < count; i++) if (granted[i]! > 0) able.push(i)
  able.sort((i, j) => (Math.abs(rho[i]! - rho[j]!) <= EPS ? i - j : rho[j]! - rho[i]!))
  let remaining = tokens
  for (const i of able) {
    const taken = Math.min(remaining, granted[i]!)
    granted[i]! -= taken
    rho[i]! += taken
    remaining -= taken
  }
}

/** Returns the n-th largest of the first `size` values (n from 1), which it reorders: quickselect, O(size) on average. */
function nthLargest(values: Float64Array, size: number, n: number): number {
  const wanted = n - 1
  let low = 0
  let high = size - 1
  while (low < high) {
    const pivot = middleOf(values[low]!, values[(low + high) >> 1]!, values[high]!)
    let i = low
    let j = high
    while (i <= j) {
      while (values[i]! > pivot) i++
      while (values[j]! < pivot) j--
      if (i > j) break
      const swapped = values[i]!
      values[i++] = values[j]!
      values[j--] = swapped
    }
    if (wanted <= j) high = j
    else if (wanted >= i) low = i
    else break
  }
  return values[wanted]!
}

const middleOf = (a: number, b: number, c: number): number => Math.max(Math.min(a, b), Math.min(Math.max(a, b), c))
