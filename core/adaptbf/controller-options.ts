/** How one target is controlled, and what of it is refused. */
import { type Failure, type Result, fail, ok } from '../base/result.ts'
import { COEFFICIENTS, DEMAND_MEASURES, type Coefficient, type DemandMeasure } from '../controllers/settings.ts'

/** How one target is controlled. */
export interface AdapTbfOptions {
  /** Largest token rate of the target, T, RPC/s, > 0. Best at 0.95 to 1.0 of what the target can serve. */
  readonly maxRatePerSec: number
  /** Default: `saturation`. */
  readonly demand?: DemandMeasure | undefined
  /** Extension `min`: how equation (13) weighs utilisation. Default: `max`, the paper's. */
  readonly coefficient?: Coefficient | undefined
  /** Extension `autoT`: T follows the device, for observations that carry `deviceBusy`. Default: off. */
  readonly autoT?: boolean | undefined
  /** Extension `overdraft`: part of the tokens expected unused that is given twice, 0 (default) to 1. */
  readonly overdraft?: number | undefined
  /**
   * false: who owes whom is not kept, and decisions say nothing of the records of idle jobs; for models that nobody looks
   * into. Allocations are the same. Default: kept.
   */
  readonly books?: boolean | undefined
}

/** The options, or the first thing wrong with them. */
export function checkOptions(options: AdapTbfOptions): Result<AdapTbfOptions, Failure> {
  const { maxRatePerSec, demand, coefficient, overdraft = 0 } = options
  if (!(Number.isFinite(maxRatePerSec) && maxRatePerSec > 0)) {
    return refuse('BAD_RATE', 'The largest token rate of a target is above 0 RPC/s', maxRatePerSec)
  }
  if (demand !== undefined && !DEMAND_MEASURES.includes(demand)) {
    return refuse('BAD_DEMAND_MEASURE', `The demand measure is one of ${DEMAND_MEASURES.join(', ')}`, demand)
  }
  if (coefficient !== undefined && !COEFFICIENTS.includes(coefficient)) {
    return refuse('BAD_COEFFICIENT', `The coefficient is one of ${COEFFICIENTS.join(', ')}`, coefficient)
  }
  if (!(overdraft >= 0 && overdraft <= 1)) return refuse('BAD_OVERDRAFT', 'The overdraft is a part, 0 to 1', overdraft)
  return ok(options)
}

const refuse = (code: string, what: string, got: unknown): Result<never> =>
  fail({ code, what, why: `got ${String(got)}` })
