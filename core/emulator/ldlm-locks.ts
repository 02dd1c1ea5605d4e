/** Locks of an emulated target, as the files of its namespace show them. */
import { NS_PER_S } from '../base/units.ts'
import type { NamespaceDialect } from '../lustre/text-dialect.ts'
import { LockPool, RECALC_S } from './ldlm-pool.ts'
import type { LockView } from './parameters/ldlm.ts'

/** Interval at which clients scan their unused locks, s (their pools' recalc_period). */
const CLIENT_RECALC_S = 10
export const CLIENT_RECALC_NS = CLIENT_RECALC_S * NS_PER_S
/** Lock volume factor, percent. */
const LVF = 100

/**
 * True if a client drops a lock unused for `ageNs`: it has reached lru_max_age, or the client's lock volume (age times number
 * of locks) has reached the server's.
 */
export type IsTooOld = (ageNs: number, locksOfClient: number) => boolean

/** Common part of the locks of OSTs and MDTs. */
export abstract class EmulatedLocks implements LockView {
  protected readonly locksPool: LockPool
  readonly #clock: () => number
  #lastLookNs: number
  contentionEvents = 0
  protected readonly contendedLocks: number
  protected waiting = 0
  readonly unused = 0
  readonly hits = 0
  readonly privilegedHits = 0
  readonly privileged = 0
  /** Emulated clients answer every callback. */
  readonly timeouts = 0
  readonly recalcPeriod = RECALC_S

  constructor(clock: () => number, dialect: NamespaceDialect) {
    const now = clock()
    const maxAgeNs = dialect.lruMaxAgeMs * 1e6
    this.#clock = clock
    this.#lastLookNs = now
    this.contendedLocks = dialect.contendedLocks
    const isTooOld: IsTooOld = (ageNs, locks) =>
      ageNs >= maxAgeNs || ((ageNs / NS_PER_S) * locks * LVF) / 100 >= this.locksPool.slv
    this.locksPool = new LockPool(now, (atNs) => {
      if (atNs - this.#lastLookNs < CLIENT_RECALC_NS) return
      this.#lastLookNs = atNs
      this.dropOld(atNs, isTooOld)
    })
  }

  /** Drops locks that are too old. */
  protected abstract dropOld(nowNs: number, isTooOld: IsTooOld): void
  protected abstract get resourcesNow(): number

  protected advance(): number {
    const now = this.#clock()
    this.locksPool.advance(now)
    return now
  }

  get resources(): number {
    this.advance()
    return this.resourcesNow
  }

  get locks(): number {
    this.advance()
    return this.locksPool.granted + this.waiting
  }

  get pool(): LockView['pool'] {
    this.advance()
    const { slv, plan, grantRate, cancelRate, granted, limit } = this.locksPool
    return { slv, clv: 0, lvf: LVF, plan, gr: grantRate, cr: cancelRate, gs: grantRate - cancelRate, granted, limit }
  }

  get recalcTime(): number {
    return this.locksPool.recalcTime(this.advance())
  }

  get poolStats(): LockView['poolStats'] {
    return {
      counters: this.#countersNow(),
      startNs: this.locksPool.stats.startNs,
      clear: (now) => this.locksPool.stats.clear(now),
    }
  }

  #countersNow(): LockView['poolStats']['counters'] {
    this.advance()
    return this.locksPool.stats.counters
  }
}
