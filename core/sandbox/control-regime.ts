/**
 * Regimes: the controllers of a run's OSTs over time.
 *
 * A variant starts at its `onS`; before that the scenario's own controller decides, if the file has `enforce`. A
 * variant from 0 on is the only regime: the baseline, variant 0, is simply the first of the list, run exactly as given.
 */
import { loopOptionsOf, type Scenario } from '../emulator/scenario.ts'
import type { LoopOptions } from '../adaptbf/loop-options.ts'
import { NS_PER_MS, sToNs } from '../base/units.ts'
import { MODEL_FENCES, type Fences } from '../control/fences.ts'
import type { ControllerName } from '../controllers/registry.ts'
import type { Variant } from './variant.ts'

/** One way to control the OSTs. */
export interface Regime {
  readonly fromNs: number
  readonly controller: ControllerName
  /** Tokens (RPC) per second of one OST. */
  readonly maxRate: number
  readonly periodNs: number
  readonly options: LoopOptions
  /** Limits of the controller. */
  readonly fences: Fences
}

/** Controller of the scenario by its file; none if it only observes or advises. */
function scenarioRegime(scenario: Scenario, fences: Fences): Regime {
  const { controller, mode, max_rate, period_ms } = scenario.control
  return {
    fromNs: 0,
    controller: mode === 'enforce' ? controller : 'none',
    maxRate: max_rate,
    periodNs: period_ms * NS_PER_MS,
    options: loopOptionsOf(scenario),
    fences,
  }
}

/**
 * Returns the regimes of a run, the first from 0 on: one, or the scenario's own and then the variant's.
 *
 * @param fences  @default those of a model, which show the controller's effect rather than that of safety limits
 */
export function regimesOf(scenario: Scenario, variant: Variant, fences: Fences = MODEL_FENCES): readonly Regime[] {
  const base = scenarioRegime(scenario, fences)
  const changed: Regime = {
    fromNs: sToNs(variant.onS),
    controller: variant.controller,
    maxRate: variant.maxRate ?? base.maxRate,
    periodNs: variant.periodMs === null ? base.periodNs : variant.periodMs * NS_PER_MS,
    options: { ...base.options, ...variant.adaptbf },
    fences,
  }
  if (changed.fromNs <= 0) return [{ ...changed, fromNs: 0 }]
  // An identical controller continues with its records.
  return isSame(base, changed) ? [base] : [base, changed]
}

const isSame = (a: Regime, b: Regime): boolean =>
  a.controller === b.controller &&
  a.maxRate === b.maxRate &&
  a.periodNs === b.periodNs &&
  JSON.stringify(a.options) === JSON.stringify(b.options)
