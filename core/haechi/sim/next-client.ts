/** Selects the client that acts next: a winner tree over one time per client. Ties go to the lower index. */
export class NextClient {
  #leaves = 1
  /** keys[leaf], Infinity for a client without a pending action. */
  #keys = new Float64Array(1).fill(Infinity)
  /** winners[1] is the overall winner; winners[k] the better of its two children. */
  #winners = new Int32Array(2)
  #size = 0
  /** [0]: the earliest time; Infinity if none. An array, because a returned number would be boxed. */
  readonly least = new Float64Array(1).fill(Infinity)

  /** Adds a client; returns its index. */
  add(): number {
    const index = this.#size++
    if (this.#size > this.#leaves) this.#grow()
    return index
  }

  /** The client with the earliest time. */
  get first(): number {
    return this.#winners[1] as number
  }

  /** Time of one client. */
  of(index: number): number {
    return this.#keys[index] as number
  }

  /** @complexity O(log n). */
  set(index: number, at: number): void {
    const keys = this.#keys
    const winners = this.#winners
    keys[index] = at
    const leaves = this.#leaves
    let node = (index + leaves) >> 1
    // The lowest level compares two clients, the others two winners.
    let a = index & ~1
    let b = a + 1
    for (;;) {
      const winner = b < leaves && (keys[b] as number) < (keys[a] as number) ? b : a
      winners[node] = winner
      if (node <= 1) {
        this.least[0] = keys[winner] as number
        return
      }
      const left = node & ~1
      a = winners[left] as number
      b = winners[left + 1] as number
      node >>= 1
    }
  }

  #grow(): void {
    const old = this.#keys
    this.#leaves = Math.max(2, this.#leaves * 2)
    this.#keys = new Float64Array(this.#leaves).fill(Infinity)
    this.#winners = new Int32Array(this.#leaves)
    this.#keys.set(old)
    for (let i = 0; i < this.#leaves; i += 2) this.set(i, this.#keys[i] as number)
  }
}
