/**
 * Who decides over the OSTs of a run, and from when on.
 *
 * A variant begins at its `onS`; before that the scenario's own controller decides, where the file says `enforce`. A variant
 * from 0 on is all there is: the baseline, variant 0, is no more than the first of the list, run exactly as it is given.
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
  /** What the controller may do at most. */
  readonly fences: Fences
}

/** The controller of the scenario, as its file says; none where it only observes or advises. */
function ownRegime(scenario: Scenario, fences: Fences): Regime {
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
 * The regimes of a run, the first from 0 on: one, or the scenario's own and then the variant's.
 *
 * @param fences  @default those of a model: what a controller does is seen, not what keeps it from harm
 */
export function regimesOf(scenario: Scenario, variant: Variant, fences: Fences = MODEL_FENCES): readonly Regime[] {
  const own = ownRegime(scenario, fences)
  const changed: Regime = {
    fromNs: sToNs(variant.onS),
    controller: variant.controller,
    maxRate: variant.maxRate ?? own.maxRate,
    periodNs: variant.periodMs === null ? own.periodNs : variant.periodMs * NS_PER_MS,
    options: { ...own.options, ...variant.adaptbf },
    fences,
  }
  if (changed.fromNs <= 0) return [{ ...changed, fromNs: 0 }]
  // The very same controller goes on with its records.
  return isSame(own, changed) ? [own] : [own, changed]
}

const isSame = (a: Regime, b: Regime): boolean =>
  a.controller === b.controller &&
  a.maxRate === b.maxRate &&
  a.periodNs === b.periodNs &&
  JSON.stringify(a.options) === JSON.stringify(b.options)
