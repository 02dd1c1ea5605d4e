/** Interface of a scheduling policy, and the RPCs that it schedules. */
import type { RequestKey } from './request-key.ts'
import { Ring } from '../base/ring.ts'

/** RPC with the fields that policies other than TBF use. */
export interface ScheduledRequest extends RequestKey {
  /** Object that it reads or writes, for `orr`. */
  readonly object?: string
  /** Target that it is for, for `trr`. */
  readonly target?: string
}

export interface Scheduler<R extends ScheduledRequest> {
  /** RPCs waiting. */
  readonly queued: number
  /** Earliest time at which `dequeue` can succeed: 0 = now, Infinity when nothing is queued. */
  readonly wakeAt: number
  /** True if the policy schedules this RPC; others go to the fallback. Absent: it schedules all. */
  accepts?(request: R): boolean
  enqueue(now: number, request: R): void
  /** @param force  the policy is stopping: it releases an RPC if it has one. */
  dequeue(now: number, force?: boolean): R | undefined
}

/** First in, first out. */
export class FifoQueue<R extends ScheduledRequest> implements Scheduler<R> {
  readonly #ring = new Ring<R>()

  get queued(): number {
    return this.#ring.size
  }

  get wakeAt(): number {
    return this.#ring.size > 0 ? 0 : Infinity
  }

  enqueue(_now: number, request: R): void {
    this.#ring.push(request)
  }

  dequeue(): R | undefined {
    return this.#ring.shift()
  }
}
