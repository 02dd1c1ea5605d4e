/**
 * The future-event list: a binary heap ordered by (instant, order of scheduling).
 *
 * The second key makes ties stable: of two events at one instant the one scheduled first runs first, so a run depends on
 * its inputs alone. Keys live in a typed array beside the actions, which keeps sifting free of property loads.
 */
import { invariant } from '../base/result.ts'

export type Action = () => void

export class EventQueue {
  #at = new Float64Array(1024)
  #order = new Float64Array(1024)
  #actions: (Action | undefined)[] = []
  #size = 0
  #scheduled = 0

  get size(): number {
    return this.#size
  }

  /** Instant of the earliest event in ns; Infinity when there is none. */
  get nextAt(): number {
    return this.#size === 0 ? Infinity : (this.#at[0] as number)
  }

  /**
   * Adds an event.
   *
   * @param at  integer ns.
   * @complexity O(log n).
   */
  push(at: number, action: Action): void {
    if (this.#size === this.#at.length) this.#grow()
    const order = this.#scheduled++
    let i = this.#size++
    while (i > 0) {
      const parent = (i - 1) >> 1
      const parentAt = this.#at[parent] as number
      // A later-scheduled event never overtakes an equal instant, so the order key is compared only on the way down.
      if (parentAt <= at) break
      this.#move(parent, i)
      i = parent
    }
    this.#set(i, at, order, action)
  }

  /**
   * Removes and returns the earliest action.
   *
   * @throws InvariantError when the queue is empty.
   * @complexity O(log n).
   */
  pop(): Action {
    invariant(this.#size > 0, 'an event is popped only from a queue that has one')
    const first = this.#actions[0] as Action
    const last = --this.#size
    const at = this.#at[last] as number
    const order = this.#order[last] as number
    const action = this.#actions[last] as Action
    this.#actions[last] = undefined
    if (last === 0) return first
    let i = 0
    for (;;) {
      let child = 2 * i + 1
      if (child >= last) break
      if (child + 1 < last && this.#before(child + 1, child)) child++
      const childAt = this.#at[child] as number
      if (childAt > at || (childAt === at && (this.#order[child] as number) > order)) break
      this.#move(child, i)
      i = child
    }
    this.#set(i, at, order, action)
    return first
  }

  #before(a: number, b: number): boolean {
    const d = (this.#at[a] as number) - (this.#at[b] as number)
    return d < 0 || (d === 0 && (this.#order[a] as number) < (this.#order[b] as number))
  }

  #move(from: number, to: number): void {
    this.#at[to] = this.#at[from] as number
    this.#order[to] = this.#order[from] as number
    this.#actions[to] = this.#actions[from]
  }

  #set(i: number, at: number, order: number, action: Action): void {
    this.#at[i] = at
    this.#order[i] = order
    this.#actions[i] = action
  }

  #grow(): void {
    const at = new Float64Array(this.#at.length * 2)
    at.set(this.#at)
    this.#at = at
    const order = new Float64Array(at.length)
    order.set(this.#order)
    this.#order = order
  }
}
