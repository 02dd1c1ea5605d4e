/**
 * PSFA with learnt headroom (advance `padll.psfa-adaptive`): rates follow the load that is expected in the next cycle,
 * and the rest of the limit is headroom in proportion to each job's volatility. Not in the paper; see
 * docs/advances/psfa-adaptive.md.
 */
import type { Forecast, Rates } from './algorithm.ts'
import { byText, type Claim } from './claim.ts'

/** Weight of the newest change in the learnt volatility. */
const NEWEST = 0.1

/** Learns a job's or stage's arrivals from cycle to cycle. */
export class ArrivalHistory {
  #last: number | null = null
  #volatility: number | null = null

  /**
   * Adds a cycle and returns the forecast of the next: the same arrivals again, and the exponentially weighted mean of
   * their absolute changes. Before there is a change the volatility is the arrivals themselves.
   *
   * @param arrivals  op/s. @param waiting  operations that wait, as the rate that serves them in one cycle, op/s.
   */
  add(arrivals: number, waiting: number): Forecast {
    if (this.#last !== null) {
      const change = Math.abs(arrivals - this.#last)
      this.#volatility = this.#volatility === null ? change : this.#volatility + NEWEST * (change - this.#volatility)
    }
    this.#last = arrivals
    return { arrivals, volatility: this.#volatility ?? arrivals, waiting }
  }
}

/** Returns the sum of the stages' forecasts; null if there is none. */
export function sumOfForecasts(forecasts: readonly (Forecast | null)[]): Forecast | null {
  const known = forecasts.filter((one) => one !== null)
  if (known.length === 0) return null
  const sum = (of: keyof Forecast): number => known.reduce((all, one) => all + one[of], 0)
  return { arrivals: sum('arrivals'), volatility: sum('volatility'), waiting: sum('waiting') }
}

/** Weight of a stage in the split of its job's rate, op/s: what it is expected to serve, with its volatility. */
export const weightOf = ({ arrivals, volatility, waiting }: Forecast): number => arrivals + volatility + waiting

/** A claim with its forecast. In its first cycle a job is expected to use its demand. */
export interface ForecastClaim extends Claim {
  readonly forecast: Forecast
}

/** Claim with what it is expected to serve, op/s. */
interface Need extends ForecastClaim {
  readonly need: number
}

/**
 * Rates that sum to `maxRate`:
 *
 *     need = arrivals + waiting
 *     if the needs fit into Max_R
 *       rate = need + volatility / sum of volatilities * (Max_R - sum of needs)
 *     else
 *       rate = min(need, demand), max-min fair                       demands are reservations, as in PSFA
 *       rate += the rest, so that the largest (need - rate) / arrivals becomes smallest
 *
 * The first branch gives every job the same probability of needing more than its rate, if changes differ in scale only:
 * of all splits of the rest this one leaves the fewest operations waiting. (need - rate) / arrivals is the time that a
 * job lags behind its arrivals after the cycle.
 *
 * @complexity  O(n log n).
 */
export function psfaAdaptive(maxRate: number, claims: readonly ForecastClaim[]): Rates {
  // The order of the input must not matter, nor in the last digits of sums.
  const needs = claims
    .map((claim): Need => ({ ...claim, need: Math.max(1, claim.forecast.arrivals + claim.forecast.waiting) }))
    .sort((a, b) => a.need - b.need || byText(a.id, b.id))
  const all = needs.reduce((sum, { need }) => sum + need, 0)
  return all <= maxRate ? withHeadroom(needs, maxRate, all) : rationed(needs, maxRate)
}

const volatilityOf = ({ forecast }: Need): number => Math.max(1, forecast.volatility)

function withHeadroom(needs: readonly Need[], maxRate: number, all: number): Rates {
  const volatility = needs.reduce((sum, need) => sum + volatilityOf(need), 0)
  return new Map(
    needs.map((need) => [need.id, need.need + (volatilityOf(need) / volatility) * (maxRate - all)] as const),
  )
}

function rationed(needs: readonly Need[], maxRate: number): Rates {
  const reserved = needs
    .map((of) => ({ of, wanted: Math.min(of.need, of.demand) }))
    .sort((a, b) => a.wanted - b.wanted || byText(a.of.id, b.of.id))
  const rates = new Map<string, number>()
  let unspent = maxRate
  let jobsLeft = reserved.length
  for (const { of, wanted } of reserved) {
    const rate = Math.min(wanted, unspent / jobsLeft--)
    rates.set(of.id, rate)
    unspent = Math.max(0, unspent - rate)
  }
  if (unspent > 0) shareByLag(needs, rates, unspent)
  return rates
}

/** Gives `unspent`, less than what is missing, to the jobs with the largest lags, down to a common one. */
function shareByLag(needs: readonly Need[], rates: Map<string, number>, unspent: number): void {
  const behind = needs
    .map(({ id, need, forecast }) => {
      const missing = need - rates.get(id)!
      const arrivals = Math.max(1, forecast.arrivals)
      return { id, missing, arrivals, lag: missing / arrivals }
    })
    .filter(({ missing }) => missing > 0)
    .sort((a, b) => b.lag - a.lag || byText(a.id, b.id))
  let missing = 0
  let arrivals = 0
  let level = 0
  for (const [i, job] of behind.entries()) {
    missing += job.missing
    arrivals += job.arrivals
    level = Math.max(0, (missing - unspent) / arrivals)
    if (level >= (behind[i + 1]?.lag ?? 0)) break
  }
  for (const job of behind) {
    const more = job.missing - level * job.arrivals
    if (more > 0) rates.set(job.id, rates.get(job.id)! + more)
  }
}
