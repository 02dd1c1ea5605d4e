/**
 * Write limit of a controller: at most so many rules of a server are started or changed per second, by a token bucket that holds one
 * second's changes. What is put off is a change of a later period, and comes first then.
 *
 * The sum of live rates never exceeds the larger of the sum in force and the sum wanted (plan.ts): a rate is raised, or a rule started,
 * only as far as rates that are lowered in the same period make room. Removals are never put off.
 */
import { isControllerRule } from '../controllers/registry.ts'
import { NS_PER_S } from '../base/units.ts'
import type { RuleLine } from '../lustre/nrs-tbf-rule.ts'
import type { DesiredRule } from './desired-rule.ts'

/** Wanted rules of one period, as far as they may be written in it. */
export interface LimitedRules {
  /** Wanted rules; those put off keep their rate in force, or are missing if they are not in force. */
  readonly rules: readonly DesiredRule[]
  /** Starts and changes that were put off. */
  readonly putOff: number
}

interface Change {
  readonly name: string
  /** Change of the rate, RPC/s; the whole rate for a start. */
  readonly delta: number
  /** Periods for which it has been put off. */
  readonly age: number
}

interface Bucket {
  tokens: number
  atNs: number
  /** Periods for which changes have been put off, by rule. */
  ages: ReadonlyMap<string, number>
}

export class WriteLimit {
  readonly #buckets = new Map<string, Bucket>()

  /**
   * Limits the changes of one server in the period that ended at `nowNs`, the largest first.
   *
   * @param present  rules in force, as read.
   * @param desired  wanted rules.
   * @param perSec   changes per second; at least one is made in a second.
   * @complexity     O(n²) for n changes above the limit, else O(n).
   */
  take(
    server: string,
    present: readonly RuleLine[],
    desired: readonly DesiredRule[],
    perSec: number,
    nowNs: number,
  ): LimitedRules {
    if (perSec === Infinity) return { rules: desired, putOff: 0 }
    const most = Math.max(1, perSec)
    const bucket = this.#buckets.get(server) ?? { tokens: most, atNs: nowNs, ages: new Map<string, number>() }
    this.#buckets.set(server, bucket)
    const filled = bucket.tokens + (Math.max(0, nowNs - bucket.atNs) / NS_PER_S) * most
    bucket.tokens = Math.min(most, filled)
    bucket.atNs = nowNs
    const inForce = new Map(
      present
        .filter((r) => r.queue === 'reg' && r.cpt === 0 && isControllerRule(r.name))
        .map((r): [string, number] => [r.name, r.rate]),
    )
    const changes: Change[] = []
    for (const { name, rate } of desired) {
      const have = inForce.get(name)
      if (have !== rate) changes.push({ name, delta: rate - (have ?? 0), age: bucket.ages.get(name) ?? 0 })
    }
    if (changes.length <= bucket.tokens) {
      bucket.tokens -= changes.length
      bucket.ages = new Map()
      return { rules: desired, putOff: 0 }
    }
    const taken = chosen(changes, Math.floor(bucket.tokens), headroom(desired, inForce))
    bucket.tokens -= taken.size
    const isLate = new Set(changes.filter((c) => !taken.has(c.name)).map((c) => c.name))
    // A rate that happens to be right for a period does not lose its turn.
    const waiting = desired.filter((r) => isLate.has(r.name) || (bucket.ages.has(r.name) && !taken.has(r.name)))
    bucket.ages = new Map(waiting.map((r) => [r.name, (bucket.ages.get(r.name) ?? 0) + 1]))
    const rules = desired.flatMap((want): DesiredRule[] => {
      if (!isLate.has(want.name)) return [want]
      const rate = inForce.get(want.name)
      return rate === undefined ? [] : [{ ...want, rate }]
    })
    return { rules, putOff: isLate.size }
  }
}

/** Room for rates that rise before any is lowered, RPC/s; rules that are not wanted any more have been removed by then. */
function headroom(desired: readonly DesiredRule[], inForce: ReadonlyMap<string, number>): number {
  let wanted = 0
  let live = 0
  for (const { name, rate } of desired) {
    wanted += rate
    live += inForce.get(name) ?? 0
  }
  return Math.max(0, wanted - live)
}

/**
 * Names of the changes of one period: those put off longest first, then the largest. A rise for which there is no room yet holds those
 * after it, so that it gets the room that lowered rates make.
 */
function chosen(changes: readonly Change[], most: number, room: number): ReadonlySet<string> {
  const order = changes.toSorted((a, b) => b.age - a.age || Math.abs(b.delta) - Math.abs(a.delta))
  const taken = new Set<string>()
  let left = room
  for (let isMoving = true; isMoving;) {
    isMoving = false
    let isHeld = false
    for (const { name, delta } of order) {
      if (taken.size >= most) return taken
      if (taken.has(name) || (delta > 0 && isHeld)) continue
      if (delta > left) isHeld = true
      else {
        taken.add(name)
        left -= delta
        isMoving = true
      }
    }
  }
  return taken
}
