/**
 * Reserved rates of stages out of reach: they cannot be reclaimed before the leases have run out, and a stage that
 * still runs then follows its lease. A rate stays reserved until its stage reconnects, until its node reconnects
 * without the stage, or until `forgetNs`. Source: spec/padll 8 [R].
 */
import type { Scope } from '../vocabulary.ts'
import type { StageIdentity } from './messages.ts'

export interface Reservation {
  readonly identity: StageIdentity
  readonly local: string
  /** op/s by scope, until its leases have run out at `untilNs`. */
  readonly rates: ReadonlyMap<Scope, number>
  /** op/s by scope after `untilNs`; empty if it cannot run any more. */
  readonly later: ReadonlyMap<Scope, number>
  readonly lostNs: number
  readonly untilNs: number
  /** Time at which even the later rates are released. */
  readonly forgetNs: number
}

const NONE: ReadonlyMap<Scope, number> = new Map()

/** Remaining part of a reservation; undefined if none. */
function remainingOf(r: Reservation, nowNs: number): Reservation | undefined {
  if (nowNs < r.untilNs) return r
  if (r.later.size === 0 || nowNs >= r.forgetNs) return undefined
  return r.rates === r.later ? r : { ...r, rates: r.later }
}

/** One process has one stage. */
export const identityKey = ({ job, instance, pid, hostname }: StageIdentity): string =>
  JSON.stringify([job, instance, pid, hostname])

export class Reservations {
  readonly #all = new Map<string, Reservation[]>()

  add(reservation: Reservation): void {
    const key = identityKey(reservation.identity)
    this.#all.set(key, [...(this.#all.get(key) ?? []), reservation])
  }

  /** Releases a stage's reservation: it is back, so its rates are known again. */
  release(identity: StageIdentity): void {
    const key = identityKey(identity)
    const [, ...rest] = this.#all.get(key) ?? []
    if (rest.length > 0) this.#all.set(key, rest)
    else this.#all.delete(key)
  }

  /** Shortens the reservations of a node that is back: its stages that still run will be known soon. */
  returned(local: string, untilNs: number): void {
    for (const [key, some] of this.#all) {
      const now = some.map((r) =>
        r.local === local ? { ...r, later: NONE, untilNs: Math.max(untilNs, r.untilNs) } : r,
      )
      this.#all.set(key, now)
    }
  }

  /** Drops or reduces expired reservations; true if any changed. */
  expire(nowNs: number): boolean {
    let isAny = false
    for (const [key, some] of this.#all) {
      const remaining = some.flatMap((r) => remainingOf(r, nowNs) ?? [])
      if (remaining.length === some.length && remaining.every((r, i) => r === some[i])) continue
      isAny = true
      if (remaining.length > 0) this.#all.set(key, remaining)
      else this.#all.delete(key)
    }
    return isAny
  }

  get all(): Reservation[] {
    return [...this.#all.values()].flat()
  }

  /** op/s by scope. */
  sums(): Map<Scope, number> {
    const sums = new Map<Scope, number>()
    for (const some of this.#all.values()) {
      for (const { rates } of some) for (const [scope, rate] of rates) sums.set(scope, (sums.get(scope) ?? 0) + rate)
    }
    return sums
  }
}
