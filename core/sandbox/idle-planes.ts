/**
 * Planes of a scenario that are the same in every variant of a comparison and affect nothing else: they need not run.
 */
import type { Scenario } from '../emulator/scenario.ts'
import type { Variant } from './variant.ts'
import { changesLocks, changesTokens } from './varied-scenario.ts'

export interface WithoutIdle {
  readonly scenario: Scenario
  /** Removed planes: `locks` is the ccPFS, `tokens` the data nodes. */
  readonly omitted: readonly ('locks' | 'tokens')[]
}

/**
 * Removes the ccPFS if no variant changes its locks, and the data nodes if none changes their tokens. Both have
 * their own servers and network in the model, so the rest is served the same, RPC by RPC.
 *
 * A single run keeps everything: it is then the only result of these planes.
 */
export function withoutIdlePlanes(scenario: Scenario, variants: readonly Variant[]): WithoutIdle {
  if (variants.length < 2) return { scenario, omitted: [] }
  const omitted: ('locks' | 'tokens')[] = []
  const { ccpfs, ...rest } = scenario
  let out = scenario
  if (ccpfs && !variants.some(changesLocks)) {
    out = rest
    omitted.push('locks')
  }
  if (scenario.haechi.length > 0 && !variants.some(changesTokens)) {
    out = { ...out, haechi: [] }
    omitted.push('tokens')
  }
  return { scenario: out, omitted }
}
