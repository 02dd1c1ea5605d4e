/** Operator settings of AdapTBF on a cluster: the options of its controllers, limited to what the source supports. */
import { type Failure, type Result, fail, ok } from '../base/result.ts'
import { checkOptions } from './controller-options.ts'
import { DEADBAND_MAX_PERCENT, type Coefficient, type DemandMeasure } from '../controllers/settings.ts'

/** AdapTBF settings, the same on all targets of a cluster. */
export interface LoopOptions {
  readonly demand: DemandMeasure
  /** Deadband: a rate that differs from the one in force by at most this percentage is not sent, %, 0..50 (`ruleChanges`). */
  readonly deadbandPercent: number
  /** Extension `min`: utilization weight in equation (13); `max` as in the paper. */
  readonly coefficient: Coefficient
  /** Extension `overdraft`: share of the tokens expected to stay unused that is allocated twice, 0..1. */
  readonly overdraft: number
  /** Extension `autoT`: T adapts to the device. */
  readonly autoT: boolean
  /** Extension `spill`: implemented in a server's scheduler; refused here. */
  readonly spill: boolean
}

/** The paper's algorithm, with a demand measure that `job_stats` supports. */
export const DEFAULT_LOOP_OPTIONS: LoopOptions = {
  demand: 'saturation',
  deadbandPercent: 0,
  coefficient: 'max',
  overdraft: 0,
  autoT: false,
  spill: false,
}

/** Extension of AdapTBF by Sluice, off by default. It has a name, so that results can state what produced them. */
interface Extension {
  readonly name: ExtensionName
  /** allocator and controller: on any cluster; server: only inside the scheduler, that is, on the emulated OST. */
  readonly where: 'allocator' | 'controller' | 'server'
  readonly changes: string
}

export const EXTENSION_NAMES = ['spill', 'autoT', 'overdraft', 'min'] as const
type ExtensionName = (typeof EXTENSION_NAMES)[number]

/** All extensions, with their difference from the paper's algorithm. */
export const EXTENSIONS: readonly Extension[] = [
  {
    name: 'spill',
    where: 'server',
    changes:
      'An idle device takes the RPC with the earliest deadline although no token is due; the queue then owes at most 3 ' +
      'tokens. The paper leaves the device idle (IV-E3). Rates, allocations and records are unchanged.',
  },
  {
    name: 'autoT',
    where: 'controller',
    changes:
      'The largest token rate T adapts to the capacity of the device, based on its busy time. In the paper T is a measured ' +
      'constant.',
  },
  {
    name: 'overdraft',
    where: 'controller',
    changes:
      'A share of the tokens expected to stay unused is allocated twice, to jobs with RPCs waiting, by node count and ' +
      'outside the records. Rates may then sum to more than T.',
  },
  {
    name: 'min',
    where: 'allocator',
    changes:
      'Equation (13) uses min(1, u) instead of max(1, u), so the coefficient is at most 1 and an idle lender is repaid ' +
      'less. Lenders keep larger records.',
  },
]

/** Data that a source provides beyond `job_stats`. */
export interface SourceKnowledge {
  /** RPCs that arrived, were dispatched and are waiting, by job. */
  readonly backlog: boolean
  /** Busy time of the device of a target. */
  readonly deviceBusy: boolean
}

/** Demand measures that a source supports. */
export const measuresOf = ({ backlog }: SourceKnowledge): readonly DemandMeasure[] =>
  backlog ? ['served', 'dispatched', 'arrivals', 'backlog', 'saturation'] : ['served', 'saturation']

/**
 * Validates the options against a source; returns them or the first failure.
 *
 * Failures: BAD_DEMAND_MEASURE, BAD_COEFFICIENT, BAD_OVERDRAFT, BAD_DEADBAND: out of range, named in `what`; DEMAND_NOT_MEASURED,
 * NO_DEVICE_TIME: not provided by this source; ONLY_IN_SERVER: cannot be enabled from a console.
 */
export function checkLoopOptions(options: LoopOptions, known: SourceKnowledge): Result<LoopOptions> {
  const { demand, deadbandPercent, autoT, spill } = options
  const checked = checkOptions({ ...options, maxRatePerSec: 1 })
  if (!checked.ok) return fail({ ...checked.error, unaffected: UNAFFECTED })
  if (!(deadbandPercent >= 0 && deadbandPercent <= DEADBAND_MAX_PERCENT)) {
    const what = `The deadband must be 0 to ${DEADBAND_MAX_PERCENT} % of the rate in force`
    return refuse({ code: 'BAD_DEADBAND', what, why: `got ${deadbandPercent}` })
  }
  const measures = measuresOf(known)
  if (!measures.includes(demand)) {
    return refuse({
      code: 'DEMAND_NOT_MEASURED',
      what: `Demand cannot be measured as ${demand} here`,
      why: 'job_stats counts served RPCs; Lustre exports no queue length by job',
      next: `Choose ${measures.join(' or ')}.`,
    })
  }
  if (autoT && !known.deviceBusy) {
    const why = 'this source does not report the busy time of devices'
    const next = 'Measure the rate of a target and set T to it.'
    return refuse({ code: 'NO_DEVICE_TIME', what: 'T cannot adapt to the device (autoT)', why, next })
  }
  if (spill) {
    return refuse({
      code: 'ONLY_IN_SERVER',
      what: 'spill cannot be enabled from a console',
      why: EXTENSIONS.find((e) => e.name === 'spill')?.changes ?? '',
      next: 'It requires scheduler support on the server, which no Lustre release has. The paper runs show its effect.',
    })
  }
  return ok(options)
}

const UNAFFECTED = 'The settings stay as they are.'
const refuse = (failure: Failure): Result<never> => fail({ ...failure, unaffected: UNAFFECTED })
