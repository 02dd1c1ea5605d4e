/**
 * Lock pool of an emulated server's namespace: granted locks, grant and cancel rates, and the lock volume by which clients drop
 * unused locks.
 *
 * Source: spec/lustre 5.2; the values before and after the first lock are those that running servers printed (GP 0.9 (L + 1)
 * and SLV 108000 (L + 1) before; GP = G + 1 % of L - G and SLV at most 36000 L afterwards). A pool is recalculated once a
 * second of virtual time from its first lock on, lazily on access. Writes to `pool.limit`, `pool.recalc_period` and
 * `pool.lock_volume_factor` are stored and have no effect here. Reclaim by the server when memory runs short
 * (lock_reclaim_threshold_mb) is not emulated: a pool can exceed its limit while its clients are slow to follow.
 */
import { NS_PER_S } from '../base/units.ts'
import { CounterTable } from './live-counter.ts'

/** Default memory of a server, MiB, and the locks that a pool allows for each MiB. */
const MEMORY_MIB = 65_536
const LOCKS_PER_MIB = 50
/** Upper bound of a lock's age in the SLV, s, and the grant step, percent. */
const MAX_AGE_S = 36_000
const GRANT_STEP = 1
const SLV_SHIFT = 1024

const LOCK_LIMIT = MEMORY_MIB * LOCKS_PER_MIB - 1
/** Interval of pool recalculation, s. */
export const RECALC_S = 1
const RECALC_NS = RECALC_S * NS_PER_S

export class LockPool {
  readonly limit = LOCK_LIMIT
  granted = 0
  /** Locks since the last recalculation. */
  grantRate = 0
  cancelRate = 0
  plan = Math.trunc(0.9 * (LOCK_LIMIT + 1))
  slv = 3 * MAX_AGE_S * (LOCK_LIMIT + 1)
  /** `pool.stats`. */
  readonly stats: CounterTable
  #recalculatedNs: number
  /** False until the first lock; until then the pool is not recalculated. */
  #isUsed = false
  readonly #onSecond: (nowNs: number) => void

  /** @param onSecond  called before each recalculation; clients may release locks in it. */
  constructor(now: number, onSecond: (nowNs: number) => void) {
    this.stats = new CounterTable(now)
    this.#recalculatedNs = now
    this.#onSecond = onSecond
  }

  /** Whole seconds since the last recalculation. */
  recalcTime(now: number): number {
    return Math.floor((now - this.#recalculatedNs) / NS_PER_S)
  }

  grant(): void {
    this.#isUsed = true
    this.granted++
    this.grantRate++
    this.stats.counter('grant').add(1)
  }

  cancel(locks = 1): void {
    this.granted -= locks
    this.cancelRate += locks
    const counter = this.stats.counter('cancel')
    for (let i = 0; i < locks; i++) counter.add(1)
  }

  /** Runs the recalculations due until a time. */
  advance(now: number): void {
    if (now - this.#recalculatedNs < RECALC_NS) return
    if (!this.#isUsed) {
      this.#recalculatedNs = now - ((now - this.#recalculatedNs) % RECALC_NS)
      return
    }
    while (now - this.#recalculatedNs >= RECALC_NS) {
      this.#recalculatedNs += RECALC_NS
      this.#onSecond(this.#recalculatedNs)
      this.#recalculate()
    }
  }

  #recalculate(): void {
    const { limit, granted } = this
    const free = Math.max(limit - (granted - this.plan), 1)
    const factor = Math.floor((free * SLV_SHIFT) / limit)
    const slv = this.slv * factor
    this.slv = Math.min(MAX_AGE_S * limit, Math.max(1, Math[granted < limit ? 'ceil' : 'floor'](slv / SLV_SHIFT)))
    this.plan = granted + Math.floor(((limit - granted) * GRANT_STEP) / 100)
    this.stats.counter('granted').add(granted)
    this.stats.counter('grant_rate').add(this.grantRate)
    this.stats.counter('cancel_rate').add(this.cancelRate)
    this.stats.counter('grant_plan').add(this.plan)
    this.stats.counter('slv').add(this.slv)
    this.stats.counter('recalc_freed').add(0)
    this.stats.counter('recalc_timing').add(RECALC_S)
    this.grantRate = 0
    this.cancelRate = 0
  }
}
