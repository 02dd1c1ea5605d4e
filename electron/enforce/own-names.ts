/**
 * Which rules on a server are ours.
 *
 * By name: a controller's form, the prefix `sl_` that operators' rules have on servers with the helper, and the rules that a plan
 * uses on its way. By record: a rule of any other name that was started from this data folder, at that very place. Whatever is
 * neither is somebody else's, and is neither changed nor removed.
 */
import { isOurs as isController } from '#core/control/desired-rule.ts'
import { isHelper } from '#core/control/edit-plan.ts'
import type { EnforcementStore } from './store.ts'
import type { OwnPlace } from './store-rules.ts'

/** Of operators' rules, where the server takes ours only. */
export const OPERATOR_PREFIX = 'sl_'

/** Whether the name alone says so; the helper on a server takes these and no other. */
export const isOwnName = (name: string): boolean =>
  isController(name) || isHelper(name) || /^sl_[A-Za-z0-9_]{1,12}$/.test(name)

export type RuleSpot = Omit<OwnPlace, 'cluster'>

/** Tells the rules of ours on a cluster, by name or by what the store has of them. */
export function ownership(cluster: string, store: EnforcementStore | undefined): (spot: RuleSpot) => boolean {
  return ({ host, service, queue, name }) =>
    isOwnName(name) || store?.rules.find({ cluster, host, service, queue, name }) !== undefined
}
