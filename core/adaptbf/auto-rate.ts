/** `autoT`: adapts the largest token rate of a target to the utilisation of its device instead of requiring a calibration. */

/** Evidence of one period of one target for adapting its rate. */
export interface RateEvidence {
  /** Fraction of the period in which the device was busy, 0..1. */
  readonly deviceBusy: number
  /** RPCs that the target served in the period, all jobs. */
  readonly served: number
  /** Token budget of the period, M. */
  readonly budget: number
  /** True if RPCs were waiting for tokens at its end. */
  readonly hasBacklog: boolean
  /** Length of the period, s. */
  readonly dtSeconds: number
}

/**
 * Returns the largest token rate for the next period, RPC/s.
 *
 * If the device was busy all the time and the budget was not served, the device is slower than T: T moves a fifth of the way to the
 * served rate. If the device had idle time while the budget was used up and RPCs waited, T rises by half a percent. Otherwise T stays;
 * judging by the backlog without the device's busy time would reduce T under bursts.
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
