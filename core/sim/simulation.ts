/**
 * Discrete-event kernel: virtual time in integer ns and one event queue, without a clock.
 *
 * It advances only in `runUntil`, so the same model runs at full speed for an experiment and paced for a console, and the pace
 * does not affect the model.
 */
import { invariant } from '../base/result.ts'
import { EventQueue, type Action, type ActionOn } from './event-queue.ts'

export class Simulation {
  #now = 0
  #events = new EventQueue()
  #executed = 0

  /** Virtual time, integer ns since the start of the run. */
  get now(): number {
    return this.#now
  }

  /** Events executed so far. */
  get executed(): number {
    return this.#executed
  }

  /** Time of the next event; Infinity when none is scheduled. */
  get nextAt(): number {
    return this.#events.nextAt
  }

  /**
   * Schedules an action.
   *
   * @param at  integer ns, not before now.
   * @param of  argument of the action.
   * @throws InvariantError when the time is in the past or not an integer.
   */
  at(at: number, action: Action): void
  at<T>(at: number, action: ActionOn<T>, of: T): void
  at(at: number, action: ActionOn<unknown>, of?: unknown): void {
    invariant(
      at >= this.#now && Number.isSafeInteger(at),
      'events are scheduled at integer instants, never in the past',
    )
    this.#events.push(at, action, of)
  }

  /** Schedules an action `delay` ns from now; fractions of a ns are rounded up so that no event fires early. */
  after(delay: number, action: Action): void
  after<T>(delay: number, action: ActionOn<T>, of: T): void
  after(delay: number, action: ActionOn<unknown>, of?: unknown): void {
    this.at(this.#now + Math.ceil(delay), action, of)
  }

  /**
   * Executes every event up to and including `until`, then sets the time to `until` (rounded down to whole ns; to the last
   * event if it is Infinity).
   *
   * @param budget  maximum number of events in this call; the time is then that of the last event executed.
   * @returns true if `until` was reached.
   */
  runUntil(until: number, budget = Infinity): boolean {
    const isReached = this.#execute(until, this.#executed + budget)
    if (isReached && until < Infinity) this.#now = Math.max(this.#now, Math.floor(until))
    return isReached
  }

  // Separate function for the loop: inlined with the code after it, the engine would discard the compiled loop after every
  // call.
  #execute(until: number, last: number): boolean {
    const events = this.#events
    while (events.size > 0 && events.nextAt <= until) {
      if (this.#executed >= last) return false
      this.#now = events.nextAt
      this.#executed++
      const action = events.pop()
      action(events.subject)
    }
    return true
  }
}
