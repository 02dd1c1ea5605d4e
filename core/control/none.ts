/** The baseline without control. */
import type { Controller, Decision, Observation } from './controller.ts'

/**
 * Wants no rule at all, so every job runs unthrottled.
 *
 * Source: AdapTBF IV-C, "No BW". Deviations: none.
 */
export class NoneController implements Controller {
  readonly name = 'none'

  step({ target, atNs }: Observation): Decision {
    return { target, atNs, budget: 0, allocations: [], records: new Map() }
  }
}
