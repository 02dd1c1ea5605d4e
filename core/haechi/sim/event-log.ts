/** The newest events of a run, oldest first; how many were ever told, so that a reader knows what it missed. */
export class EventLog<T> {
  readonly #most: number
  #items: T[] = []
  #told = 0

  constructor(most: number) {
    this.#most = most
  }

  get told(): number {
    return this.#told
  }

  push(item: T): void {
    this.#told++
    this.#items.push(item)
    // Dropping the older half at once keeps a push O(1) on average.
    if (this.#items.length >= 2 * this.#most) this.#items = this.#items.slice(-this.#most)
  }

  /** Events from the `from`-th ever told on, as far as they are kept. */
  since(from: number): { readonly next: number; readonly items: readonly T[] } {
    const kept = this.items
    const missing = Math.max(0, from - (this.#told - kept.length))
    return { next: this.#told, items: kept.slice(missing) }
  }

  get items(): readonly T[] {
    return this.#items.slice(-this.#most)
  }
}
