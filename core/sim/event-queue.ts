/**
 * Future event list: a binary heap ordered by (time, order of scheduling).
 *
 * The second key makes ties stable: of two events at the same time the one scheduled first runs first, so a run depends on its
 * inputs alone. Keys are in typed arrays, and an action stays in its slot while the slot number moves: sifting touches no
 * object, so it costs no write barriers and no garbage collector tracing.
 */
import { invariant } from '../base/result.ts'

export type Action = () => void
/** Action with an argument: one function serves all events of a kind, instead of a closure per event. */
export type ActionOn<T> = (of: T) => void

export class EventQueue {
  #at = new Float64Array(1024)
  #order = new Float64Array(1024)
  #slot = new Int32Array(1024)
  /** Actions by slot. */
  readonly #actions: (ActionOn<never> | undefined)[] = []
  readonly #subjects: unknown[] = []
  /** Unused slots: the first `#actions.length - #size` entries. */
  #free = new Int32Array(1024)
  #size = 0
  #scheduled = 0
  #subject: unknown = undefined

  get size(): number {
    return this.#size
  }

  /** Time of the earliest event, ns; Infinity if empty. */
  get nextAt(): number {
    return this.#size === 0 ? Infinity : (this.#at[0] as number)
  }

  /**
   * Adds an event.
   *
   * @param at  integer ns.
   * @param of  argument of the action.
   * @complexity O(log n).
   */
  push(at: number, action: Action): void
  push<T>(at: number, action: ActionOn<T>, of: T): void
  push(at: number, action: ActionOn<never>, of?: unknown): void {
    if (this.#size === this.#at.length) this.#grow()
    const keys = this.#at
    const orders = this.#order
    const slots = this.#slot
    const order = this.#scheduled++
    const slot = this.#put(action, of)
    let i = this.#size++
    while (i > 0) {
      const parent = (i - 1) >> 1
      const parentAt = keys[parent] as number
      // A later-scheduled event never overtakes an equal instant, so the order key is compared only on the way down.
      if (parentAt <= at) break
      keys[i] = parentAt
      orders[i] = orders[parent] as number
      slots[i] = slots[parent] as number
      i = parent
    }
    keys[i] = at
    orders[i] = order
    slots[i] = slot
  }

  /** Argument of the action that was popped last. */
  get subject(): unknown {
    return this.#subject
  }

  /**
   * Removes and returns the earliest action, to be called with `subject`.
   *
   * @throws InvariantError when the queue is empty.
   * @complexity O(log n).
   */
  pop(): ActionOn<unknown> & Action {
    invariant(this.#size > 0, 'an event is popped only from a queue that has one')
    const keys = this.#at
    const orders = this.#order
    const slots = this.#slot
    const first = this.#take(slots[0] as number)
    const last = --this.#size
    if (last === 0) return first
    const at = keys[last] as number
    const order = orders[last] as number
    const slot = slots[last] as number
    let i = 0
    for (let child = 1; child < last; child = 2 * i + 1) {
      let childAt = keys[child] as number
      const next = child + 1
      if (next < last) {
        const nextAt = keys[next] as number
        if (nextAt < childAt || (nextAt === childAt && (orders[next] as number) < (orders[child] as number))) {
          child = next
          childAt = nextAt
        }
      }
      if (childAt > at || (childAt === at && (orders[child] as number) > order)) break
      keys[i] = childAt
      orders[i] = orders[child] as number
      slots[i] = slots[child] as number
      i = child
    }
    keys[i] = at
    orders[i] = order
    slots[i] = slot
    return first
  }

  /** Stores an action in a free slot, before it is counted. */
  #put(action: ActionOn<never>, of: unknown): number {
    const spare = this.#actions.length - this.#size
    const slot = spare > 0 ? (this.#free[spare - 1] as number) : this.#actions.length
    this.#actions[slot] = action
    this.#subjects[slot] = of
    return slot
  }

  /** Takes an action out of its slot, while it is still counted. */
  #take(slot: number): ActionOn<unknown> & Action {
    const action = this.#actions[slot] as ActionOn<unknown> & Action
    this.#subject = this.#subjects[slot]
    this.#actions[slot] = undefined
    this.#subjects[slot] = undefined
    this.#free[this.#actions.length - this.#size] = slot
    return action
  }

  #grow(): void {
    const at = new Float64Array(this.#at.length * 2)
    at.set(this.#at)
    this.#at = at
    const order = new Float64Array(at.length)
    order.set(this.#order)
    this.#order = order
    const slot = new Int32Array(at.length)
    slot.set(this.#slot)
    this.#slot = slot
    const free = new Int32Array(at.length)
    free.set(this.#free)
    this.#free = free
  }
}
