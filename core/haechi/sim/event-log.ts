/** The newest events of a run, oldest first, with the total number of events, so that a reader can detect gaps. */
export class EventLog<T> {
  readonly #most: number
  #items: T[] = []
  #total = 0

  constructor(most: number) {
    this.#most = most
  }

  get total(): number {
    return this.#total
  }

  push(item: T): void {
    this.#total++
    this.#items.push(item)
    // Dropping the older half at once keeps a push O(1) on average.
    if (this.#items.length >= 2 * this.#most) this.#items = this.#items.slice(-this.#most)
  }

  /** Events from number `from` on, as far as they are kept. */
  since(from: number): { readonly next: number; readonly items: readonly T[] } {
    const items = this.items
    const missing = Math.max(0, from - (this.#total - items.length))
    return { next: this.#total, items: items.slice(missing) }
  }

  get items(): readonly T[] {
    return this.#items.slice(-this.#most)
  }
}
