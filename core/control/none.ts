/** The baseline without control. */
import type { Controller, Decision, Observation } from './controller.ts'

/**
 * Returns no rules, so every job runs unthrottled.
 *
 * Source: AdapTBF IV-C, "No BW". Deviations: none.
 */
export class NoneController implements Controller {
  readonly name = 'none'

  step({ target, atNs }: Observation): Decision {
    return { target, atNs, budget: 0, allocations: [], records: new Map() }
  }
}
