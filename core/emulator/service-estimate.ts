/**
 * Service time estimate: the adaptive timeout of one CPT, shown by `timeouts` and `req_timeout`.
 *
 * Source: spec/lustre 6.7, measured A21 (at_history 600 s in four parts, at_min 5 s since 2.16 and 0 before, 10 s before the
 * first RPC). Service time is from arrival to reply, whole seconds, at least 1: the wait in the NRS is part of it.
 */
import { NS_PER_S } from '../base/units.ts'
import type { Profile } from '../lustre/profile.ts'

const PARTS = 4
const PART_NS = (600 / PARTS) * NS_PER_S
const AT_FIRST = 10

/** Default of at_min, s. */
export const atMin = ({ release }: Profile): number => (release === '2.12' || release === '2.15' ? 0 : 5)

export class ServiceEstimate {
  readonly #least: number
  #current = AT_FIRST
  #worst = 0
  #worstNs = 0
  /** Longest times of the last four parts of the history, newest first. */
  #parts: number[] | undefined
  #partBeganNs = 0

  /** @param leastSeconds  at_min. */
  constructor(leastSeconds: number) {
    this.#least = leastSeconds
  }

  /** Timeout told to clients, s. */
  get current(): number {
    return this.#current
  }

  /** Largest estimate so far (at least at_min once there is one), s, and when it was reached, virtual ns. */
  get worst(): number {
    return this.#worst
  }

  get worstNs(): number {
    return this.#worstNs
  }

  get parts(): readonly number[] {
    return this.#parts ?? Array<number>(PARTS).fill(0)
  }

  /** Adds one service time. */
  add(now: number, tookNs: number): void {
    const seconds = Math.max(1, Math.floor(tookNs / NS_PER_S))
    if (!this.#parts) {
      this.#parts = [seconds, ...Array<number>(PARTS - 1).fill(0)]
      this.#partBeganNs = now
    } else {
      const passed = Math.min(PARTS, Math.floor((now - this.#partBeganNs) / PART_NS))
      if (passed > 0) {
        this.#parts = [...Array<number>(passed).fill(0), ...this.#parts].slice(0, PARTS)
        this.#partBeganNs = now
      }
      this.#parts[0] = Math.max(this.#parts[0] as number, seconds)
    }
    this.#current = Math.max(this.#least, ...this.#parts)
    if (this.#current > this.#worst) {
      this.#worst = this.#current
      this.#worstNs = now
    }
  }
}
