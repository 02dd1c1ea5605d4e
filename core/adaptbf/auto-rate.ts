/** `autoT`: the largest token rate of a target found from how busy its device is, instead of measured beforehand. */

/** One period of one target, as far as its rate is concerned. */
export interface RateEvidence {
  /** Part of the period in which the device was busy, 0..1. */
  readonly deviceBusy: number
  /** RPCs that the target served in the period, all jobs. */
  readonly served: number
  /** Token budget of the period, M. */
  readonly budget: number
  /** Whether RPCs waited for tokens at its end. */
  readonly hasBacklog: boolean
  /** Length of the period, s. */
  readonly dtSeconds: number
}

/**
 * The largest token rate for the next period, RPC/s.
 *
 * A device that was busy all the time and still did not serve the budget is slower than T: T moves a fifth of the way to
 * what was served. A device with time to spare, while the budget was used up and RPCs waited, can do more: T rises by half a
 * percent. Anything else leaves T alone; to judge by the backlog without the device's time would drive T down under
 * bursts.
 *
 * Source: spec/adaptbf 9; not in the paper.
 */
export function nextMaxRate(maxRatePerSec: number, evidence: RateEvidence): number {
  const { deviceBusy, served, budget, hasBacklog, dtSeconds } = evidence
  if (deviceBusy > 0.985 && served < 0.99 * budget) {
    return maxRatePerSec + 0.2 * (served / dtSeconds - maxRatePerSec)
  }
  const hasRoom = deviceBusy < 0.97 && served > 0.97 * budget && hasBacklog
  return hasRoom ? maxRatePerSec * 1.005 : maxRatePerSec
}
