/** Parts of a scenario that are the same in every variant of a comparison and touch nothing else: they need not be run. */
import type { Scenario } from '../emulator/scenario.ts'
import type { Variant } from './variant.ts'

export interface WithoutIdle {
  readonly scenario: Scenario
  /** What was left out: `locks` the ccPFS, `tokens` the data nodes. */
  readonly left: readonly ('locks' | 'tokens')[]
}

/**
 * The scenario without its ccPFS when no variant changes the lock manager, and without its data nodes when none runs them without
 * QoS. Both have servers and a network of their own in the model, so the rest is served the same, RPC by RPC.
 *
 * A single run is left whole: what it says of these planes is then all there is.
 */
export function withoutIdlePlanes(scenario: Scenario, variants: readonly Variant[]): WithoutIdle {
  if (variants.length < 2) return { scenario, left: [] }
  const left: ('locks' | 'tokens')[] = []
  const { ccpfs, ...rest } = scenario
  let out = scenario
  if (ccpfs && variants.every((v) => v.locks === null)) {
    out = rest
    left.push('locks')
  }
  if (scenario.haechi.length > 0 && variants.every((v) => v.haechi === 'scenario')) {
    out = { ...out, haechi: [] }
    left.push('tokens')
  }
  return { scenario: out, left }
}
