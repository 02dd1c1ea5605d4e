/** The last things that happened to a controller, numbered, so that a reader can tell which are new. */
import type { PadllStatus } from '../status.ts'

type Event = PadllStatus['events'][number]

const EVENTS_MAX = 200
const TEXT_MAX = 512

export class EventLog {
  #events: Event[] = []
  #seq = 0

  add(atMs: number, kind: Event['kind'], text: string, where: string): void {
    this.#events.push({ seq: ++this.#seq, atMs, kind, text: text.slice(0, TEXT_MAX), where: where.slice(0, TEXT_MAX) })
    // Cut now and then, not at each event.
    if (this.#events.length >= 2 * EVENTS_MAX) this.#events = this.#events.slice(-EVENTS_MAX)
  }

  /** Oldest first. */
  get last(): Event[] {
    return this.#events.slice(-EVENTS_MAX)
  }
}
