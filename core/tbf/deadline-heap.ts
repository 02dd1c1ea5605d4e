/**
 * Classes with queued RPCs, by number, ordered by deadline, then check time, then number; only the first one is ever read,
 * moved or removed.
 *
 * Source: spec/lustre 2.3 ("smaller DL first, then smaller C"). Four children a node and keys in typed arrays: sifting touches
 * no class. Deviation: a class that is reset while it waits keeps its original check time as the second key; its deadline, the
 * first one, is the same anyway.
 */
const floats = (from: Float64Array<ArrayBuffer>, length: number): Float64Array<ArrayBuffer> => {
  const to = new Float64Array(length)
  to.set(from)
  return to
}

export class DeadlineHeap {
  // By slot: the children of slot i are 4i + 1 .. 4i + 4.
  #deadlines = new Float64Array(64)
  #numbers = new Int32Array(64)
  /** Check times by number, because only equal deadlines need them. */
  #checkTimes = new Float64Array(64)
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Number of the first class; -1 if empty. */
  get root(): number {
    return this.#size === 0 ? -1 : (this.#numbers[0] as number)
  }

  /** DL of the root, ns. */
  get rootDeadline(): number {
    return this.#deadlines[0] as number
  }

  /** Inserts a class that is not in the heap. */
  insert(n: number, deadline: number, checkTime: number): void {
    if (this.#size === this.#numbers.length) {
      this.#deadlines = floats(this.#deadlines, this.#size * 2)
      const numbers = new Int32Array(this.#size * 2)
      numbers.set(this.#numbers)
      this.#numbers = numbers
    }
    if (n >= this.#checkTimes.length) {
      this.#checkTimes = floats(this.#checkTimes, Math.max(n + 1, this.#checkTimes.length * 2))
    }
    this.#checkTimes[n] = checkTime
    let at = this.#size++
    while (at > 0) {
      const parent = (at - 1) >> 2
      if (!this.#precedes(n, deadline, parent)) break
      this.#deadlines[at] = this.#deadlines[parent] as number
      this.#numbers[at] = this.#numbers[parent] as number
      at = parent
    }
    this.#deadlines[at] = deadline
    this.#numbers[at] = n
  }

  /** Changes the root's deadline and check time. */
  moveRoot(deadline: number, checkTime: number): void {
    const n = this.#numbers[0] as number
    this.#checkTimes[n] = checkTime
    this.#sink(n, deadline)
  }

  removeRoot(): void {
    const last = --this.#size
    if (last > 0) this.#sink(this.#numbers[last] as number, this.#deadlines[last] as number)
  }

  /** Sinks a class from the root's slot to its position. */
  #sink(n: number, deadline: number): void {
    const deadlines = this.#deadlines
    const numbers = this.#numbers
    const size = this.#size
    let at = 0
    for (;;) {
      const first = 4 * at + 1
      if (first >= size) break
      const end = Math.min(first + 4, size)
      let least = first
      for (let child = first + 1; child < end; child++) {
        const d = (deadlines[child] as number) - (deadlines[least] as number)
        if (d < 0 || (d === 0 && this.#isElder(numbers[child] as number, numbers[least] as number))) least = child
      }
      if (this.#precedes(n, deadline, least)) break
      deadlines[at] = deadlines[least] as number
      numbers[at] = numbers[least] as number
      at = least
    }
    deadlines[at] = deadline
    numbers[at] = n
  }

  #precedes(n: number, deadline: number, slot: number): boolean {
    const other = this.#deadlines[slot] as number
    return deadline === other ? this.#isElder(n, this.#numbers[slot] as number) : deadline < other
  }

  #isElder(n: number, other: number): boolean {
    const c = (this.#checkTimes[n] as number) - (this.#checkTimes[other] as number)
    return c === 0 ? n < other : c < 0
  }
}
