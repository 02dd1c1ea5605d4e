/**
 * Data I/Os between issue and completion, in order of completion. The node's NIC is FIFO and every client is equally far away, so I/Os
 * complete in order of issue and a ring suffices instead of a heap.
 *
 * Times read for every I/O are in one-element arrays: a returned number would be boxed.
 */
export class Completions {
  #doneAt = new Float64Array(1024)
  #postAt = new Float64Array(1024)
  #client = new Int32Array(1024)
  #head = 0
  #size = 0
  /** [0]: time of the next completion at its client, ns; Infinity if none. */
  readonly nextAt = new Float64Array(1).fill(Infinity)
  /** [0]: posting time of the completion taken last, ns. */
  readonly postedAt = new Float64Array(1)

  /** @param doneAt  not before that of any earlier one. */
  push(client: number, postAt: number, doneAt: number): void {
    if (this.#size === this.#doneAt.length) this.#grow()
    const at = (this.#head + this.#size++) & (this.#doneAt.length - 1)
    this.#doneAt[at] = doneAt
    this.#postAt[at] = postAt
    this.#client[at] = client
    if (this.#size === 1) this.nextAt[0] = doneAt
  }

  /** Takes the next completion, which must exist; returns its client. */
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
