/** FIFO pipes: items arrive in the order sent. Allocates nothing per item. */
import type { Simulation } from '../../sim/simulation.ts'

export class Fifo<T> {
  #items: T[] = []
  #head = 0

  get length(): number {
    return this.#items.length - this.#head
  }

  /** Oldest item, which must exist. */
  get first(): T {
    return this.#items[this.#head] as T
  }

  push(item: T): void {
    this.#items.push(item)
  }

  /** Removes and returns the oldest item, which must exist. */
  shift(): T {
    const item = this.#items[this.#head++] as T
    if (this.#head === this.#items.length) {
      this.#items.length = 0
      this.#head = 0
    } else if (this.#head > 256 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return item
  }
}

export class Pipe<T> {
  readonly #sim: Simulation
  readonly #deliver: (item: T) => void
  readonly #items = new Fifo<T>()
  #last = 0
  readonly #arrive = (): void => this.#deliver(this.#items.shift())

  constructor(sim: Simulation, deliver: (item: T) => void) {
    this.#sim = sim
    this.#deliver = deliver
  }

  /** Sends an item that arrives at a time (ns), or with the previous one if that is later. */
  send(at: number, item: T): void {
    this.#last = Math.max(this.#last, Math.ceil(at))
    this.#items.push(item)
    this.#sim.at(this.#last, this.#arrive)
  }
}

/** FIFO server whose work is known on arrival. */
export class Line {
  #freeAt = 0

  /** Adds `workNs` of work at `now`; returns its completion time. */
  take(now: number, workNs: number): number {
    this.#freeAt = Math.max(this.#freeAt, now) + workNs
    return Math.ceil(this.#freeAt)
  }
}
