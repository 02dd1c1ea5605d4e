/**
 * The round-robin policies: `crrn` over clients, `orr` over objects, `trr` over targets.
 *
 * Source: spec/lustre 3.3. A round serves at most a quantum of RPCs. Deviation: RPCs of a round leave in the order of their
 * arrival; servers order those of an object by offset.
 */
import { Ring } from '../base/ring.ts'
import type { ScheduledRequest, Scheduler } from './scheduler.ts'

/** RPCs that `orr` and `trr` schedule; all others go to the fallback. */
export const SUPPORTED = {
  reads: ['ost_read'],
  writes: ['ost_write'],
  reads_and_writes: ['ost_read', 'ost_write'],
} as const
export type Supported = keyof typeof SUPPORTED

export interface RoundRobinSettings {
  quantum: number
  /** Ignored by `crrn`. */
  supported: Supported
  offsetType: 'physical' | 'logical'
}

export class RoundRobin<R extends ScheduledRequest> implements Scheduler<R> {
  readonly #by: 'nid' | 'object' | 'target'
  readonly #settings: Readonly<RoundRobinSettings>
  /** Keys with waiting RPCs; the current one is first. */
  readonly #queues = new Map<string, Ring<R>>()
  #taken = 0
  #queued = 0

  /** @param settings  read at every dequeue, so that they can be changed at run time. */
  constructor(by: 'nid' | 'object' | 'target', settings: Readonly<RoundRobinSettings>) {
    this.#by = by
    this.#settings = settings
  }

  get queued(): number {
    return this.#queued
  }

  get wakeAt(): number {
    return this.#queued > 0 ? 0 : Infinity
  }

  accepts(request: R): boolean {
    if (this.#by === 'nid') return true
    const opcodes: readonly string[] = SUPPORTED[this.#settings.supported]
    return request[this.#by] !== undefined && opcodes.includes(request.opcode ?? '')
  }

  enqueue(_now: number, request: R): void {
    const key = request[this.#by] ?? ''
    let queue = this.#queues.get(key)
    if (!queue) this.#queues.set(key, (queue = new Ring()))
    queue.push(request)
    this.#queued++
  }

  dequeue(): R | undefined {
    for (const [key, queue] of this.#queues) {
      const request = queue.shift()
      this.#queued--
      this.#taken++
      if (queue.size === 0) {
        this.#queues.delete(key)
        this.#taken = 0
      } else if (this.#taken >= this.#settings.quantum) {
        this.#queues.delete(key)
        this.#queues.set(key, queue)
        this.#taken = 0
      }
      return request
    }
    return undefined
  }
}
