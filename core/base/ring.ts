/** FIFO queue in a ring buffer that grows by doubling; no allocation per item once it is large enough. */
const LEAST = 4
/** A larger ring is released when it runs empty. */
const RETAINED = 256

export class Ring<T> {
  #slots: (T | undefined)[] = []
  #first = 0
  #size = 0

  get size(): number {
    return this.#size
  }

  push(item: T): void {
    if (this.#size === this.#slots.length) this.#grow()
    this.#slots[(this.#first + this.#size) & (this.#slots.length - 1)] = item
    this.#size++
  }

  /** Removes and returns the oldest item; undefined if empty. */
  shift(): T | undefined {
    if (this.#size === 0) return undefined
    const item = this.#slots[this.#first]
    this.#slots[this.#first] = undefined
    this.#first = (this.#first + 1) & (this.#slots.length - 1)
    if (--this.#size === 0 && this.#slots.length > RETAINED) {
      this.#slots = []
      this.#first = 0
    }
    return item
  }

  #grow(): void {
    const n = this.#slots.length
    const slots = new Array<T | undefined>(Math.max(LEAST, n * 2))
    for (let i = 0; i < slots.length; i++) slots[i] = i < n ? this.#slots[(this.#first + i) & (n - 1)] : undefined
    this.#slots = slots
    this.#first = 0
  }
}
