/**
 * Log of lock steps in order of time, as columns in a ring buffer. Counts and queues are exact as far back as the log
 * reaches.
 */

/** Effects of a step on the counts; `canceling` has none and is not logged. */
export const REQUESTED = 0
export const WAITING = 1
export const GRANTED = 2
export const ABSORBED = 3
export const REVOKED = 4
export const DOWNGRADED = 5
export const RELEASED = 6
export const WITHDRAWN = 7
/** The trace stopped following the lock, because its memory is bounded. */
export const LOST = 8

/**
 * Receives a step.
 *
 * @param at     time of the step, ns.
 * @param modes  number of the lock's mode, plus 4 times that of a second mode.
 * @param value  a time of the step, ns; its meaning depends on the code.
 */
export type Follow<T> = (to: T, at: number, code: number, modes: number, flags: number, value: number) => void

const FIRST_CAPACITY = 1024

export class StepLog {
  readonly #most: number
  #capacity = FIRST_CAPACITY
  #at = new Float64Array(FIRST_CAPACITY)
  #value = new Float64Array(FIRST_CAPACITY)
  /** Number of the resource, as given by the caller. */
  #place = new Uint32Array(FIRST_CAPACITY)
  /** Code, modes and flags: four, four and eight bits. */
  #packed = new Uint16Array(FIRST_CAPACITY)
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
    if (this.#next - this.#first === this.#capacity) this.#grow()
    const i = this.#next++ & (this.#capacity - 1)
    this.#at[i] = at
    this.#place[i] = place
    this.#packed[i] = code | (modes << 4) | (flags << 8)
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

  /** Time of a step, ns. */
  at(step: number): number {
    return this.#at[step & (this.#capacity - 1)] as number
  }

  placeOf(step: number): number {
    return this.#place[step & (this.#capacity - 1)] as number
  }

  visit<T>(step: number, to: T, follow: Follow<T>): void {
    const i = step & (this.#capacity - 1)
    const packed = this.#packed[i]!
    follow(to, this.#at[i]!, packed & 15, (packed >> 4) & 15, packed >> 8, this.#value[i]!)
  }

  #grow(): void {
    if (this.#capacity === this.#most) {
      this.#droppedAt = this.at(this.#first++)
      return
    }
    // Nothing was dropped yet, so number and place in the ring are equal.
    const capacity = this.#capacity * 2
    this.#at = grown(this.#at, new Float64Array(capacity))
    this.#value = grown(this.#value, new Float64Array(capacity))
    this.#place = grown(this.#place, new Uint32Array(capacity))
    this.#packed = grown(this.#packed, new Uint16Array(capacity))
    this.#capacity = capacity
  }
}

function grown<T extends Float64Array | Uint32Array | Uint16Array>(from: T, to: T): T {
  to.set(from)
  return to
}
