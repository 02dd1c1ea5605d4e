/** Things on their way from one place to another that arrive in the order in which they left. Nothing is made for each. */
import type { Simulation } from '../../sim/simulation.ts'

export class Fifo<T> {
  #items: T[] = []
  #head = 0

  get length(): number {
    return this.#items.length - this.#head
  }

  /** The oldest, which is there. */
  get first(): T {
    return this.#items[this.#head] as T
  }

  push(item: T): void {
    this.#items.push(item)
  }

  /** Takes the oldest, which is there. */
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

  /** Sends something that arrives at an instant (ns), or with what was sent before if that is later. */
  send(at: number, item: T): void {
    this.#last = Math.max(this.#last, Math.ceil(at))
    this.#items.push(item)
    this.#sim.at(this.#last, this.#arrive)
  }
}

/** A station that serves one after the other and whose work is known on arrival. */
export class Line {
  #freeAt = 0

  /** Takes `workNs` of work in at `now`; the instant at which it is done. */
  take(now: number, workNs: number): number {
    this.#freeAt = Math.max(this.#freeAt, now) + workNs
    return Math.ceil(this.#freeAt)
  }
}
