/**
 * Fluid model of equal sharing, with or without tokens: the arithmetic of admission and of the paper's examples. k active clients get
 * min(C_L, C_G / k) each. Source: spec/haechi 9, 13; Example 2.
 */
import { NS_PER_S } from '../base/units.ts'
import type { CapacityProfile } from './settings.ts'

/** Rates in I/O/s, quantities in I/Os; fractions are intended. */
const equalShare = (active: number, { globalIops, localIops }: CapacityProfile): number =>
  Math.min(localIops, globalIops / active)

/** F: time at which clients that all start at 0 with these quantities have finished, ns. */
export function finishingTime(quantities: readonly number[], profile: CapacityProfile): number {
  const sorted = [...quantities].sort((a, b) => a - b)
  let seconds = 0
  let served = 0
  sorted.forEach((quantity, i) => {
    if (quantity <= served) return
    seconds += (quantity - served) / equalShare(sorted.length - i, profile)
    served = quantity
  })
  return Math.round(seconds * NS_PER_S)
}

/** I/Os completed within `periodNs` if every client starts with its demand at 0 and there are no tokens. */
export function burstShares(demands: readonly number[], profile: CapacityProfile, periodNs: number): number[] {
  return tokenShares(demands, demands, 0, profile, periodNs).done
}

/**
 * I/Os completed within `periodNs` under a fixed pool: each client first uses its reservation, then shares the pool.
 *
 * @param reservations, demands  by client.
 * @param pool  global tokens at the start; none are converted.
 */
export function tokenShares(
  reservations: readonly number[],
  demands: readonly number[],
  pool: number,
  profile: CapacityProfile,
  periodNs: number,
): { done: number[]; pool: number } {
  const done = demands.map(() => 0)
  const first = demands.map((demand, i) => Math.min(demand, reservations[i] as number))
  let remainingS = periodNs / NS_PER_S
  let tokens = pool
  // Every step ends a client's reservation or demand, the pool, or the period.
  for (let steps = 2 * demands.length + 1; steps > 0 && remainingS > 0; steps--) {
    const reserved = indices(done, (d, i) => d < (first[i] as number))
    const global = tokens > 0 ? indices(done, (d, i) => d >= (first[i] as number) && d < (demands[i] as number)) : []
    const active = reserved.length + global.length
    if (active === 0) break
    const rate = equalShare(active, profile)
    let step = Math.min(remainingS, global.length > 0 ? tokens / (rate * global.length) : Infinity)
    for (const i of reserved) step = Math.min(step, ((first[i] as number) - (done[i] as number)) / rate)
    for (const i of global) step = Math.min(step, ((demands[i] as number) - (done[i] as number)) / rate)
    remainingS -= step
    tokens -= rate * global.length * step
    if (tokens < 1e-6) tokens = 0
    for (const i of reserved) done[i] = served(done[i] as number, rate * step, first[i] as number)
    for (const i of global) done[i] = served(done[i] as number, rate * step, demands[i] as number)
  }
  return { done, pool: tokens }
}

/** Snaps to the goal, so that a step never ends just short of it by a rounding error. */
const served = (done: number, more: number, goal: number): number => (goal - done - more < 1e-6 ? goal : done + more)

function indices(done: readonly number[], isIn: (done: number, i: number) => boolean): number[] {
  const list: number[] = []
  done.forEach((d, i) => {
    if (isIn(d, i)) list.push(i)
  })
  return list
}
