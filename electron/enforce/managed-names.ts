/**
 * Rules on a server that are managed by Sluice.
 *
 * By name: those of controllers, of operators' rules on servers with the helper, and temporary rules of a plan. By
 * record: a rule of any other name that was started from this data folder, on that very server and queue. Any other
 * rule belongs to someone else and is neither changed nor removed.
 */
import { isControllerRule, isHelperRule, isOperatorRule } from '#core/controllers/registry.ts'
import type { EnforcementStore } from './store.ts'
import type { ManagedRulePlace } from './store-rules.ts'

/** True if the name alone identifies a rule of Sluice; the helper on a server accepts only these. */
export const isManagedName = (name: string): boolean =>
  isControllerRule(name) || isHelperRule(name) || isOperatorRule(name)

export type RuleSpot = Omit<ManagedRulePlace, 'cluster'>

/** Returns a predicate for rules of Sluice on a cluster, by name or by the records of the store. */
export function ownership(cluster: string, store: EnforcementStore | undefined): (spot: RuleSpot) => boolean {
  return ({ host, service, queue, name }) =>
    isManagedName(name) || store?.rules.find({ cluster, host, service, queue, name }) !== undefined
}
