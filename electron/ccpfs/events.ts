/** Latest lock events of a server, with running numbers, so that a reader can continue and sees what it missed. */
import * as z from 'zod'
import type { LockEvent } from '#core/seqdlm/lock-events.ts'
import { lockEvent } from '#core/seqdlm/observation.ts'

export interface NumberedEvent {
  readonly number: number
  readonly event: LockEvent
}

/** Answer to a query of events, as a reader gets it. */
export const eventsAnswer: z.ZodType<{ readonly last: number; readonly events: readonly NumberedEvent[] }> = z.object({
  last: z.number().int().nonnegative(),
  events: z.array(z.object({ number: z.number().int().nonnegative(), event: lockEvent })),
})

export class EventLog {
  readonly #events: LockEvent[] = []
  readonly #capacity: number
  /** Number of the next event; the first is 1. */
  #next = 1

  constructor(capacity = 16_384) {
    this.#capacity = capacity
  }

  get last(): number {
    return this.#next - 1
  }

  add(event: LockEvent): void {
    this.#events[this.#next % this.#capacity] = event
    this.#next++
  }

  /** Events after a number, oldest first; the first may be later than requested if some were dropped. */
  after(number: number, most: number): NumberedEvent[] {
    const found: NumberedEvent[] = []
    const oldest = Math.max(1, this.#next - this.#capacity)
    for (let n = Math.max(number + 1, oldest); n < this.#next && found.length < most; n++) {
      found.push({ number: n, event: this.#events[n % this.#capacity] as LockEvent })
    }
    return found
  }
}
