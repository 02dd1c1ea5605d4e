/** Options of the AdapTBF controller of one target and their validation. */
import { type Failure, type Result, fail, ok } from '../base/result.ts'
import { COEFFICIENTS, DEMAND_MEASURES, type Coefficient, type DemandMeasure } from '../controllers/settings.ts'

/** Options of the controller of one target. */
export interface AdapTbfOptions {
  /** Largest token rate of the target, T, RPC/s, > 0. Best at 0.95 to 1.0 of the target's capacity. */
  readonly maxRatePerSec: number
  /** Default: `saturation`. */
  readonly demand?: DemandMeasure | undefined
  /** Extension `min`: utilization weight in equation (13). Default: `max`, as in the paper. */
  readonly coefficient?: Coefficient | undefined
  /** Extension `autoT`: T adapts to the device, for observations with `deviceBusy`. Default: off. */
  readonly autoT?: boolean | undefined
  /** Extension `overdraft`: share of the tokens expected to stay unused that is allocated twice, 0 (default) to 1. */
  readonly overdraft?: number | undefined
  /**
   * false: pairs of lenders and borrowers are not tracked, and decisions omit the records of idle jobs; for simulations that are not
   * inspected. Allocations are the same. Default: tracked.
   */
  readonly pairLedger?: boolean | undefined
}

/** Validates the options; returns them or the first error. */
export function checkOptions(options: AdapTbfOptions): Result<AdapTbfOptions, Failure> {
  const { maxRatePerSec, demand, coefficient, overdraft = 0 } = options
  if (!(Number.isFinite(maxRatePerSec) && maxRatePerSec > 0)) {
    return refuse('BAD_RATE', 'The maximum token rate of a target must be above 0 RPC/s', maxRatePerSec)
  }
  if (demand !== undefined && !DEMAND_MEASURES.includes(demand)) {
    return refuse('BAD_DEMAND_MEASURE', `The demand measure must be one of ${DEMAND_MEASURES.join(', ')}`, demand)
  }
  if (coefficient !== undefined && !COEFFICIENTS.includes(coefficient)) {
    return refuse('BAD_COEFFICIENT', `The coefficient must be one of ${COEFFICIENTS.join(', ')}`, coefficient)
  }
  if (!(overdraft >= 0 && overdraft <= 1)) return refuse('BAD_OVERDRAFT', 'The overdraft must be 0 to 1', overdraft)
  return ok(options)
}

const refuse = (code: string, what: string, got: unknown): Result<never> =>
  fail({ code, what, why: `got ${String(got)}` })
