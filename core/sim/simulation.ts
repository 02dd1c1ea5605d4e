/**
 * The discrete-event kernel: virtual time in integer ns, one queue of events, no clock of its own.
 *
 * It only moves when told to (`runUntil`), so the same model runs at once for an experiment and paced for a console, and
 * the pace never reaches the model.
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

  /** Instant of the next event; Infinity when none is scheduled. */
  get nextAt(): number {
    return this.#events.nextAt
  }

  /**
   * Schedules an action.
   *
   * @param at  integer ns, not before now.
   * @param of  what it is called with.
   * @throws InvariantError when the instant lies in the past or is not an integer.
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
   * Executes every event up to and including `until`, then stands at `until` (at its whole ns; at the last event when it
   * is Infinity).
   *
   * @param budget  most events to execute in this call; the run then stands at the last event executed.
   * @returns whether `until` was reached.
   */
  runUntil(until: number, budget = Infinity): boolean {
    const isThere = this.#execute(until, this.#executed + budget)
    if (isThere && until < Infinity) this.#now = Math.max(this.#now, Math.floor(until))
    return isThere
  }

  // The loop alone: with what comes after it in one function, the engine throws the compiled loop away at the end of every call.
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
