/**
 * Numbers of classes without queued RPCs, longest idle first (the kernel's LRU).
 *
 * Source: spec/lustre 2.4. The links are in typed arrays: the only RPC of a class takes it out and puts it back, and must not
 * touch its neighbors for that.
 */
const NONE = -1

const wider = (from: Int32Array<ArrayBuffer>, length: number): Int32Array<ArrayBuffer> => {
  const to = new Int32Array(length)
  to.set(from)
  return to
}

export class IdleList {
  #older = new Int32Array(64)
  #newer = new Int32Array(64)
  #oldest = NONE
  #newest = NONE
  #size = 0

  /** -1 when the list is empty. */
  get oldest(): number {
    return this.#oldest
  }

  get size(): number {
    return this.#size
  }

  /** Adds a number that is not in the list. */
  add(n: number): void {
    if (n >= this.#older.length) {
      const length = Math.max(n + 1, this.#older.length * 2)
      this.#older = wider(this.#older, length)
      this.#newer = wider(this.#newer, length)
    }
    this.#older[n] = this.#newest
    this.#newer[n] = NONE
    if (this.#newest === NONE) this.#oldest = n
    else this.#newer[this.#newest] = n
    this.#newest = n
    this.#size++
  }

  /** Takes out a number that is in the list. */
  remove(n: number): void {
    const older = this.#older[n] as number
    const newer = this.#newer[n] as number
    if (older === NONE) this.#oldest = newer
    else this.#newer[older] = newer
    if (newer === NONE) this.#newest = older
    else this.#older[newer] = older
    this.#size--
  }
}
