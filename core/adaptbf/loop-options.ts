/**
 * AdapTBF as an operator sets it up on a cluster: the options of its controllers, and what of the paper and the extensions a
 * source can carry.
 */
import { type Failure, type Result, fail, ok } from '../base/result.ts'
import { checkOptions } from './controller-options.ts'
import { DEADBAND_MAX_PERCENT, type Coefficient, type DemandMeasure } from '../controllers/settings.ts'
import { EXTENSIONS } from './extensions.ts'

/** The settings of AdapTBF, the same on all targets of a cluster. */
export interface LoopOptions {
  readonly demand: DemandMeasure
  /** A rate that differs by no more than this part of the one in force is not sent, %, 0..50 (`ruleChanges`). */
  readonly deadbandPercent: number
  /** Extension `min`: how equation (13) weighs utilisation; `max` is the paper's. */
  readonly coefficient: Coefficient
  /** Extension `overdraft`: part of the tokens expected unused that is given twice, 0..1. */
  readonly overdraft: number
  /** Extension `autoT`: T follows the device. */
  readonly autoT: boolean
  /** Extension `spill`: lives in the scheduler of a server and is refused here. */
  readonly spill: boolean
}

/** The paper's algorithm, with demand as `job_stats` can show it. */
export const DEFAULT_LOOP_OPTIONS: LoopOptions = {
  demand: 'saturation',
  deadbandPercent: 0,
  coefficient: 'max',
  overdraft: 0,
  autoT: false,
  spill: false,
}

/** What a source can tell beyond `job_stats`. */
export interface SourceKnowledge {
  /** RPCs that arrived, were dispatched and wait, by job. */
  readonly backlog: boolean
  /** How busy the device of a target was. */
  readonly deviceBusy: boolean
}

/** Demand measures that a source gives the figures for. */
export const measuresOf = ({ backlog }: SourceKnowledge): readonly DemandMeasure[] =>
  backlog ? ['served', 'dispatched', 'arrivals', 'backlog', 'saturation'] : ['served', 'saturation']

/**
 * The options, or the first that this source cannot be controlled with.
 *
 * Failures: BAD_DEMAND_MEASURE, BAD_COEFFICIENT, BAD_OVERDRAFT, BAD_DEADBAND: out of range, which `what` names;
 * DEMAND_NOT_MEASURED, NO_DEVICE_TIME: this source does not tell; ONLY_IN_SERVER: no console can switch it.
 */
export function checkLoopOptions(options: LoopOptions, known: SourceKnowledge): Result<LoopOptions> {
  const { demand, deadbandPercent, autoT, spill } = options
  const checked = checkOptions({ ...options, maxRatePerSec: 1 })
  if (!checked.ok) return fail({ ...checked.error, unaffected: UNAFFECTED })
  if (!(deadbandPercent >= 0 && deadbandPercent <= DEADBAND_MAX_PERCENT)) {
    const what = `The deadband is 0 to ${DEADBAND_MAX_PERCENT} % of the rate in force`
    return refuse({ code: 'BAD_DEADBAND', what, why: `got ${deadbandPercent}` })
  }
  const measures = measuresOf(known)
  if (!measures.includes(demand)) {
    return refuse({
      code: 'DEMAND_NOT_MEASURED',
      what: `Demand cannot be measured as ${demand} here`,
      why: 'job_stats counts what was served; no parameter of Lustre tells a queue by job',
      next: `Choose ${measures.join(' or ')}.`,
    })
  }
  if (autoT && !known.deviceBusy) {
    const why = 'this source does not tell how busy a device is'
    const next = 'Measure the rate of a target and set T to it.'
    return refuse({ code: 'NO_DEVICE_TIME', what: 'T cannot follow the device (autoT)', why, next })
  }
  if (spill) {
    return refuse({
      code: 'ONLY_IN_SERVER',
      what: 'spill cannot be switched on from here',
      why: EXTENSIONS.find((e) => e.name === 'spill')?.changes ?? '',
      next: 'It acts inside the scheduler of a server, and no release of Lustre has it. The papers show what it would do.',
    })
  }
  return ok(options)
}

const UNAFFECTED = 'The settings stay as they are.'
const refuse = (failure: Failure): Result<never> => fail({ ...failure, unaffected: UNAFFECTED })
