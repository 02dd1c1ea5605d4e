/** Set of series keys. Keys of jobs are small consecutive numbers, so that a byte array is faster than a Set. */

const DENSE = 2 ** 22

export class KeySet {
  #dense = new Uint8Array(1024)
  #most = -1
  readonly #otherKeys = new Set<number>()
  #size = 0

  get size(): number {
    return this.#size
  }

  add(keys: Uint32Array): void {
    const n = keys.length
    for (let i = 0; i < n; i++) {
      const key = keys[i] as number
      if (key >= DENSE) this.#addFar(key)
      else {
        if (key >= this.#dense.length) this.#grow(key)
        if (this.#dense[key] === 0) {
          this.#dense[key] = 1
          this.#size++
          if (key > this.#most) this.#most = key
        }
      }
    }
  }

  has(key: number): boolean {
    return key < DENSE ? this.#dense[key] === 1 : this.#otherKeys.has(key)
  }

  /** Ascending. */
  keys(): Uint32Array {
    const out = new Uint32Array(this.#size)
    let n = 0
    for (let key = 0; key <= this.#most; key++) if (this.#dense[key] === 1) out[n++] = key
    for (const key of this.#otherKeys) out[n++] = key
    return out.sort()
  }

  #addFar(key: number): void {
    const before = this.#otherKeys.size
    this.#otherKeys.add(key)
    this.#size += this.#otherKeys.size - before
  }

  #grow(key: number): void {
    const longer = new Uint8Array(Math.min(DENSE, Math.max(key + 1, this.#dense.length * 2)))
    longer.set(this.#dense)
    this.#dense = longer
  }
}
