/**
 * Steps of locks in order of time, as columns in a ring: they make counts and queues exact, as far back as they reach.
 */

/** Effects of a step on the counts; `canceling` has none and is not logged. */
export const ASKED = 0
export const WAITING = 1
export const GRANTED = 2
export const ABSORBED = 3
export const REVOKED = 4
export const DOWNGRADED = 5
export const RELEASED = 6
export const WITHDRAWN = 7
/** Its life is no longer followed. */
export const LOST = 8

/** Receives a step: its code, the numbers of a mode and of another one times 4, flags, and a time in ns. */
export type Follow<T> = (to: T, at: number, code: number, modes: number, flags: number, value: number) => void

const FIRST_CAPACITY = 1024

export class StepLog {
  readonly #most: number
  #capacity = FIRST_CAPACITY
  #at = new Float64Array(FIRST_CAPACITY)
  #value = new Float64Array(FIRST_CAPACITY)
  #place = new Uint32Array(FIRST_CAPACITY)
  /** Code, modes and flags: four, four and eight bits. */
  #what = new Uint16Array(FIRST_CAPACITY)
  /** Numbers of the oldest step that is kept, and of the next one. */
  #first = 0
  #next = 0
  #droppedAt = -Infinity

  /** @param most  steps kept: a power of two, >= 1,024. */
  constructor(most: number) {
    this.#most = most
  }

  get next(): number {
    return this.#next
  }

  /** Time of the newest dropped step, ns; -Infinity for none. */
  get droppedAt(): number {
    return this.#droppedAt
  }

  /** True if every step after `at` is kept. */
  reaches(at: number): boolean {
    return this.#droppedAt <= at
  }

  push(at: number, place: number, code: number, modes: number, flags: number, value: number): void {
    if (this.#next - this.#first === this.#capacity) this.#makeRoom()
    const i = this.#next++ & (this.#capacity - 1)
    this.#at[i] = at
    this.#place[i] = place
    this.#what[i] = code | (modes << 4) | (flags << 8)
    this.#value[i] = value
  }

  /** Number of the first step after `at`; `next` if there is none. */
  after(at: number): number {
    let low = this.#first
    let high = this.#next
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      if (this.at(middle) <= at) low = middle + 1
      else high = middle
    }
    return low
  }

  at(step: number): number {
    return this.#at[step & (this.#capacity - 1)] as number
  }

  placeOf(step: number): number {
    return this.#place[step & (this.#capacity - 1)] as number
  }

  tell<T>(step: number, to: T, follow: Follow<T>): void {
    const i = step & (this.#capacity - 1)
    const what = this.#what[i]!
    follow(to, this.#at[i]!, what & 15, (what >> 4) & 15, what >> 8, this.#value[i]!)
  }

  #makeRoom(): void {
    if (this.#capacity === this.#most) {
      this.#droppedAt = this.at(this.#first++)
      return
    }
    // Nothing was dropped yet, so number and place in the ring are equal.
    const capacity = this.#capacity * 2
    this.#at = grown(this.#at, new Float64Array(capacity))
    this.#value = grown(this.#value, new Float64Array(capacity))
    this.#place = grown(this.#place, new Uint32Array(capacity))
    this.#what = grown(this.#what, new Uint16Array(capacity))
    this.#capacity = capacity
  }
}

function grown<T extends Float64Array | Uint32Array | Uint16Array>(from: T, to: T): T {
  to.set(from)
  return to
}
