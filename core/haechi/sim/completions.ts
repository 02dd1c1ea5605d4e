/**
 * Data I/Os between issue and completion, in order of completion. The node's NIC is FIFO and every client is equally far away, so
 * what is issued later completes later: a ring is enough where any other model needs a heap.
 */
export class Completions {
  #doneAt = new Float64Array(1024)
  #postAt = new Float64Array(1024)
  #client = new Int32Array(1024)
  #head = 0
  #size = 0

  /** I/Os under way. */
  get size(): number {
    return this.#size
  }

  /** Instant at which the next one completes at its client, ns; Infinity when there is none. */
  get at(): number {
    return this.#size === 0 ? Infinity : (this.#doneAt[this.#head] as number)
  }

  /** Client and instant of posting of the next one. */
  get client(): number {
    return this.#client[this.#head] as number
  }
  get postAt(): number {
    return this.#postAt[this.#head] as number
  }

  /** @param doneAt  not before that of any other. */
  push(client: number, postAt: number, doneAt: number): void {
    if (this.#size === this.#doneAt.length) this.#grow()
    const at = (this.#head + this.#size++) & (this.#doneAt.length - 1)
    this.#doneAt[at] = doneAt
    this.#postAt[at] = postAt
    this.#client[at] = client
  }

  /** Drops the next one. */
  shift(): void {
    this.#head = (this.#head + 1) & (this.#doneAt.length - 1)
    this.#size--
  }

  #grow(): void {
    const size = this.#doneAt.length
    const turned = <A extends Float64Array | Int32Array>(from: A, to: A): A => {
      to.set(from.subarray(this.#head), 0)
      to.set(from.subarray(0, this.#head), size - this.#head)
      return to
    }
    this.#doneAt = turned(this.#doneAt, new Float64Array(2 * size))
    this.#postAt = turned(this.#postAt, new Float64Array(2 * size))
    this.#client = turned(this.#client, new Int32Array(2 * size))
    this.#head = 0
  }
}
