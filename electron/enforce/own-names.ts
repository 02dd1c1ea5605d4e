/**
 * Which rules on a server are ours.
 *
 * By name: those of controllers, of operators' rules on servers with the helper, and of the rules that a plan uses on its way. By record: a rule of any other name that was started from this data folder, at that very place. Whatever is
 * neither is somebody else's, and is neither changed nor removed.
 */
import { isControllerRule, isHelperRule, isOperatorRule } from '#core/controllers/registry.ts'
import type { EnforcementStore } from './store.ts'
import type { OwnPlace } from './store-rules.ts'

/** Whether the name alone says so; the helper on a server takes these and no other. */
export const isOwnName = (name: string): boolean => isControllerRule(name) || isHelperRule(name) || isOperatorRule(name)

export type RuleSpot = Omit<OwnPlace, 'cluster'>

/** Tells the rules of ours on a cluster, by name or by what the store has of them. */
export function ownership(cluster: string, store: EnforcementStore | undefined): (spot: RuleSpot) => boolean {
  return ({ host, service, queue, name }) =>
    isOwnName(name) || store?.rules.find({ cluster, host, service, queue, name }) !== undefined
}
