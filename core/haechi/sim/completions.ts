/**
 * Data I/Os between issue and completion, in order of completion. The node's NIC is FIFO and every client is equally far away, so
 * what is issued later completes later: a ring is enough where any other model needs a heap.
 *
 * Instants that are asked for at every I/O lie in arrays of one: a number that a call returns would be boxed.
 */
export class Completions {
  #doneAt = new Float64Array(1024)
  #postAt = new Float64Array(1024)
  #client = new Int32Array(1024)
  #head = 0
  #size = 0
  /** [0]: instant at which the next one completes at its client, ns; Infinity when there is none. */
  readonly nextAt = new Float64Array(1).fill(Infinity)
  /** [0]: when the one that was taken last was posted, ns. */
  readonly postedAt = new Float64Array(1)

  /** @param doneAt  not before that of any other. */
  push(client: number, postAt: number, doneAt: number): void {
    if (this.#size === this.#doneAt.length) this.#grow()
    const at = (this.#head + this.#size++) & (this.#doneAt.length - 1)
    this.#doneAt[at] = doneAt
    this.#postAt[at] = postAt
    this.#client[at] = client
    if (this.#size === 1) this.nextAt[0] = doneAt
  }

  /** Takes the next one, which is there; its client. */
  take(): number {
    const head = this.#head
    this.postedAt[0] = this.#postAt[head] as number
    this.#head = (head + 1) & (this.#doneAt.length - 1)
    this.nextAt[0] = --this.#size === 0 ? Infinity : (this.#doneAt[this.#head] as number)
    return this.#client[head] as number
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
