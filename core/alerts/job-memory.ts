/** What one job was served in the last minute, bin by bin, and what that was before it fell. */

/** Bins of the past that say whether a job is steady: one minute. */
export const PAST = 12
/** A bin below this share of the past is a fall. */
const FALL = 0.5
/** Bins of a steady job that may lie below that share of its middle. */
const UNEVEN = 1
/** So long what was before is held against the job; then what it has now is its own, ms. */
const HELD_AGAINST_MS = 600_000
/** Bins in a row without any RPC after which a job has stopped. */
const STOPPED = 6

/** What a job was served before it fell, and how its servers stood then. */
export interface Before {
  readonly served: number
  readonly queued: number
  readonly onServers: number
}

export class JobMemory {
  readonly #past = new Float32Array(PAST)
  /** Look at which it was last there. */
  turn = 0
  #known = 0
  #next = 0
  #sum = 0
  #zeros = 0
  #before: (Before & { readonly sinceMs: number }) | undefined

  /** undefined while nothing is held against what it has now. */
  get before(): Before | undefined {
    return this.#before
  }

  /** Bins in a row in which it was served nothing. */
  get zeros(): number {
    return this.#zeros
  }

  /** Takes one bin; true when a steady job has just fallen: then how its servers stood before is to be remembered. */
  take(served: number, atMs: number): boolean {
    this.#zeros = served === 0 ? this.#zeros + 1 : 0
    const b = this.#before
    if (b) {
      const isBack = served >= FALL * b.served
      if (!isBack && this.#zeros < STOPPED && atMs - b.sinceMs < HELD_AGAINST_MS) return false
      this.#before = undefined
      // Its own doing, or the way it is by now: it is met anew.
      if (!isBack) this.#forget()
    } else if (this.#known === PAST && served < (FALL * this.#sum) / PAST && this.#steady() !== undefined) return true
    this.#push(served)
    return false
  }

  /** Holds what it was served before it fell against what it is served from now on. */
  remember(atMs: number, servers: Omit<Before, 'served'>): void {
    const served = this.#steady()
    if (served !== undefined) this.#before = { served, ...servers, sinceMs: atMs }
  }

  #push(served: number): void {
    if (this.#known === PAST) this.#sum -= this.#past[this.#next] as number
    else this.#known++
    this.#past[this.#next] = served
    this.#sum += this.#past[this.#next] as number
    this.#next = (this.#next + 1) % PAST
  }

  #forget(): void {
    this.#known = this.#next = this.#sum = 0
  }

  /** The middle of the past where the job was steady; undefined for one that comes and goes. */
  #steady(): number | undefined {
    const sorted = this.#past.toSorted()
    const middle = sorted[PAST >> 1] as number
    const uneven = sorted.findIndex((v) => v >= FALL * middle)
    return middle > 0 && (sorted[0] as number) > 0 && uneven <= UNEVEN ? middle : undefined
  }
}
