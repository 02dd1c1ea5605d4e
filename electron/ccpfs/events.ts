/**
 * Latest lock events of a server, with running numbers, so that a reader can continue and sees what it missed; and their schema for
 * readers, which yields the events of core/seqdlm/lock-events.ts (EOF is null in JSON).
 */
import * as z from 'zod'
import type { LockEvent } from '#core/seqdlm/lock-events.ts'
import { EOF } from '#core/seqdlm/ranges.ts'

const whole = z.number().int().nonnegative()
const end = whole.nullable().transform((e) => e ?? EOF)
const piece = z.object({ start: whole, end })
const range = z.object({ start: whole, end, pieces: z.array(piece).nullable() })
const mode = z.enum(['PR', 'NBW', 'BW', 'PW'])
const state = z.enum(['GRANTED', 'CANCELING'])
// The internal client of a server has the id -1.
const ofResource = { resource: whole, at: whole, client: z.number().int() }
const ofLock = { ...ofResource, lockId: whole }

const lockEvent = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('asked'), ...ofResource, reqId: whole, mode, range }),
  z.object({ kind: z.literal('waiting'), ...ofResource, reqId: whole, behindClient: z.number().int() }),
  z.object({ kind: z.literal('withdrawn'), ...ofResource, reqId: whole }),
  z.object({
    kind: z.literal('granted'),
    ...ofLock,
    reqId: whole,
    asked: mode,
    mode,
    range,
    required: range,
    state,
    sn: whole,
    minSn: whole,
    absorbed: z.array(whole),
    waitedNs: whole,
    rule: z.enum(['free', 'early-grant', 'normal-grant']),
  }),
  z.object({ kind: z.enum(['revoked', 'canceling', 'released', 'evicted']), ...ofLock }),
  z.object({ kind: z.literal('downgraded'), ...ofLock, mode }),
])

export interface NumberedEvent {
  readonly number: number
  readonly event: LockEvent
}

/** Answer to a query of events, as a reader gets it. */
export const eventsAnswer: z.ZodType<{ readonly last: number; readonly events: readonly NumberedEvent[] }> = z.object({
  last: whole,
  events: z.array(z.object({ number: whole, event: lockEvent })),
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
