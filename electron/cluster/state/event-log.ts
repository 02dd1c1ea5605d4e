/**
 * Event log, newest last: rules, controller decisions, jobs, nodes, the operator's choices. Bounded; frequent events do
 * not displace those of operators.
 */
import type { Mark } from '#core/api/frames.ts'
import { mainEvents } from '../../base/main-events.ts'

const EVENTS_MAX = 2_000

export class EventLog {
  #marks: Mark[] = []
  readonly #listeners: ((m: Mark) => void)[] = []

  /** Calls `listener` for every new event. */
  onEvent(listener: (m: Mark) => void): void {
    this.#listeners.push(listener)
  }

  /** Adds an event; a note may have a time in the past. */
  add(mark: Mark): void {
    let at = this.#marks.length
    while (at > 0 && (this.#marks[at - 1] as Mark).atMs > mark.atMs) at--
    this.#marks.splice(at, 0, mark)
    if (this.#marks.length > EVENTS_MAX) {
      this.#marks = mainEvents(this.#marks.toReversed(), EVENTS_MAX / 2).toReversed()
    }
    for (const l of this.#listeners) l(mark)
  }

  /** Events in (fromMs, toMs], newest first, at most `limit`: those of operators before others. */
  between(fromMs: number, toMs: number, limit: number): Mark[] {
    const out: Mark[] = []
    for (let i = this.#marks.length - 1; i >= 0; i--) {
      const m = this.#marks[i] as Mark
      if (m.atMs <= fromMs) break
      if (m.atMs <= toMs) out.push(m)
    }
    return mainEvents(out, limit)
  }
}
