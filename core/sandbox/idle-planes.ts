/**
 * Planes of a scenario that are the same in every variant of a comparison and affect nothing else: they need not run.
 */
import type { Scenario } from '../emulator/scenario.ts'
import type { Variant } from './variant.ts'

export interface WithoutIdle {
  readonly scenario: Scenario
  /** Removed planes: `locks` is the ccPFS, `tokens` the data nodes. */
  readonly omitted: readonly ('locks' | 'tokens')[]
}

/**
 * Removes the ccPFS if no variant changes the lock manager, and the data nodes if none runs them without QoS. Both have
 * their own servers and network in the model, so the rest is served the same, RPC by RPC.
 *
 * A single run keeps everything: it is then the only result of these planes.
 */
export function withoutIdlePlanes(scenario: Scenario, variants: readonly Variant[]): WithoutIdle {
  if (variants.length < 2) return { scenario, omitted: [] }
  const omitted: ('locks' | 'tokens')[] = []
  const { ccpfs, ...rest } = scenario
  let out = scenario
  if (ccpfs && variants.every((v) => v.locks === null)) {
    out = rest
    omitted.push('locks')
  }
  if (scenario.haechi.length > 0 && variants.every((v) => v.haechi === 'scenario')) {
    out = { ...out, haechi: [] }
    omitted.push('tokens')
  }
  return { scenario: out, omitted }
}
