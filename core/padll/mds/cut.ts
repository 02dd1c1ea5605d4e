/** Cuts one rate over the places where it is spent. */

/** A place: one opcode of one service of one server. */
export interface Place {
  /** What was spent there lately, op/s. */
  readonly used: number
  /** Whether it ran at its limit: then it may want more than it used. */
  readonly isAtLimit: boolean
  /** Most that it may be given, op/s; Infinity for no bound. */
  readonly cap: number
  /** Least part of the rate that stays reserved for it, 0..1. */
  readonly leastPart: number
}

/**
 * Shares of one rate by observed use, as `share = rate · use / sum(use)` (spec/padll 5, split `usage`), none above its cap.
 *
 * Two bounds keep a place from starving: one that did nothing keeps its least part, and one that ran at its limit counts with
 * at least a quarter of an equal share, because what it would have used is not known. Source: spec/padll 5 [R]; the bounds
 * are ours: the sheet's `max(1, use)` alone would start a place at 1 op/s and let it double only each cycle.
 *
 * @param rate  op/s, >= 0.
 * @returns     op/s, one a place; the sum is the rate, or the sum of the caps where that is less.
 */
export function cutByUse(rate: number, places: readonly Place[]): number[] {
  const fair = rate / Math.max(1, places.length)
  const weights = places.map((p) => Math.max(p.used, p.isAtLimit ? fair / 4 : 0, p.leastPart * rate, 1e-9))
  const shares = places.map(() => 0)
  let open = places.map((_, i) => i)
  let left = rate
  // Whoever reaches its cap leaves what is over to the others.
  while (open.length > 0 && left > 0) {
    const sum = open.reduce((n, i) => n + weights[i]!, 0)
    const full = open.filter((i) => (left * weights[i]!) / sum >= places[i]!.cap)
    if (full.length === 0) {
      for (const i of open) shares[i] = (left * weights[i]!) / sum
      break
    }
    for (const i of full) {
      shares[i] = places[i]!.cap
      left -= places[i]!.cap
    }
    open = open.filter((i) => !full.includes(i))
  }
  return shares
}

/** What a rate is written for: `classes` of them have it each. */
export interface RatedPlace {
  /** op/s, from `cutByUse`. */
  readonly share: number
  /** CPTs; clients where a class is one job on one client; and several opcodes of one rule. >= 1. */
  readonly classes: number
  /** Most op/s of all its classes together; Infinity for no bound. */
  readonly cap: number
}

/**
 * Whole rates of rules from shares: a rule's rate holds for each of its classes, so `rate * classes <= share`. What the
 * rounding leaves goes to the places that lost most by it. No rule is below the least rate: where least rates are more than a
 * share, the largest rates give it back.
 *
 * @param most   largest rate that the server takes, RPC/s.
 * @param least  least rate of a rule, RPC/s, whole, >= 1.
 * @returns      RPC/s per class, whole, >= least; `sum(rate * classes) <= sum(share)` unless the least rates alone are more.
 */
export function wholeRates(places: readonly RatedPlace[], most: number, least = 1): number[] {
  const rates = places.map((p) => Math.min(most, Math.max(least, Math.floor(p.share / p.classes + 1e-9))))
  const sum = places.reduce((n, p) => n + p.share, 0) + 1e-6
  let left = sum - places.reduce((n, p, i) => n + rates[i]! * p.classes, 0)
  while (left < 0) {
    const i = largest(places, (p, k) => (rates[k]! > least ? rates[k]! * p.classes : -1))
    if (i === undefined) return rates
    const { classes } = places[i]!
    const step = Math.min(rates[i]! - least, Math.max(1, Math.ceil(-left / classes / places.length)))
    rates[i] = rates[i]! - step
    left += step * classes
  }
  for (let n = 0; n < places.length; n++) {
    const canGrow = (p: RatedPlace, k: number): boolean =>
      rates[k]! < most && p.classes <= left && (rates[k]! + 1) * p.classes <= p.cap
    const i = largest(places, (p, k) => (canGrow(p, k) ? Math.max(0, p.share - rates[k]! * p.classes) : -1))
    if (i === undefined) break
    rates[i] = rates[i]! + 1
    left -= places[i]!.classes
  }
  return rates
}

/** Index of the place with the largest value that is not negative; the first of equals. */
function largest(places: readonly RatedPlace[], value: (place: RatedPlace, i: number) => number): number | undefined {
  let at: number | undefined
  let best = -1
  places.forEach((p, i) => {
    const v = value(p, i)
    if (v > best) [best, at] = [v, i]
  })
  return at
}
