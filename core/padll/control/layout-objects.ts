/** Enforcement objects of a stage by its housekeeping rules, with the scope that each limits. */
import type { HousekeepingRule } from '../rules/housekeeping.ts'
import type { Scope } from '../vocabulary.ts'
import { RATE_FLOOR } from './protocol.ts'

export interface LayoutObject {
  readonly channel: number
  readonly object: number
  readonly scope: Scope
  /** Rate of the rule, op/s; 0 for an object without a limit (`noop`). */
  readonly rate: number
  readonly refillUs: number
}

type Conditions = Pick<HousekeepingRule, 'type' | 'context'>

const scopeOf = ({ type, context }: Conditions): Scope | undefined =>
  type !== 'no_op' ? type : context !== 'no_op' ? context : undefined

/** Objects in order of the rules; the scope of an object is its operation, else its class, else that of its channel. */
export function objectsOf(rules: readonly HousekeepingRule[]): LayoutObject[] {
  const channels = new Map<number, Conditions>()
  for (const r of rules) if (r.kind === 'create_channel') channels.set(r.channel, r)
  return rules.flatMap((r): LayoutObject[] => {
    if (r.kind !== 'create_object') return []
    const channel = channels.get(r.channel)
    const scope = scopeOf(r) ?? (channel && scopeOf(channel)) ?? 'total'
    const { rate, refillUs } = r.bucket ?? { rate: 0, refillUs: 0 }
    return [{ channel: r.channel, object: r.object, scope, rate: r.bucket ? Math.max(rate, RATE_FLOOR) : 0, refillUs }]
  })
}

/** Rules as sent to stages: an object of a limited scope begins at the floor, until its first rate arrives. */
export function withFloors(
  rules: readonly HousekeepingRule[],
  isLimited: (scope: Scope) => boolean,
): readonly HousekeepingRule[] {
  const scopes = new Map(objectsOf(rules).map((o) => [`${o.channel} ${o.object}`, o.scope]))
  return rules.map((r) => {
    if (r.kind !== 'create_object' || !r.bucket) return r
    const scope = scopes.get(`${r.channel} ${r.object}`)
    return scope !== undefined && isLimited(scope) ? { ...r, bucket: { ...r.bucket, rate: RATE_FLOOR } } : r
  })
}
