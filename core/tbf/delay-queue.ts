/**
 * The policy `delay`: holds a share of the RPCs for a random time.
 *
 * Source: spec/lustre 3.3. All other RPCs go to the fallback.
 */
import type { RandomStream } from '../base/random.ts'
import { sToNs } from '../base/units.ts'
import { DeadlineHeap } from './deadline-heap.ts'
import type { ScheduledRequest, Scheduler } from './scheduler.ts'

export interface DelaySettings {
  /** Bounds of the delay, seconds. */
  min: number
  max: number
  /** Share of the RPCs that are held, percent. */
  pct: number
}

export class DelayQueue<R extends ScheduledRequest> implements Scheduler<R> {
  readonly #settings: Readonly<DelaySettings>
  readonly #random: RandomStream
  readonly #heap = new DeadlineHeap()
  /** RPCs by their number in the heap; numbers are reused. */
  readonly #held: (R | undefined)[] = []
  readonly #free: number[] = []

  /** @param settings  read for every arriving RPC, so that they can be changed while it runs. */
  constructor(settings: Readonly<DelaySettings>, random: RandomStream) {
    this.#settings = settings
    this.#random = random
  }

  get queued(): number {
    return this.#heap.size
  }

  get wakeAt(): number {
    return this.#heap.size === 0 ? Infinity : this.#heap.rootDeadline
  }

  accepts(): boolean {
    return this.#random.below(100) < this.#settings.pct
  }

  enqueue(now: number, request: R): void {
    const { min, max } = this.#settings
    const n = this.#free.pop() ?? this.#held.length
    this.#held[n] = request
    this.#heap.insert(n, now + sToNs(min + this.#random.below(max - min + 1)), now)
  }

  dequeue(now: number, force = false): R | undefined {
    if (this.#heap.size === 0 || (!force && this.#heap.rootDeadline > now)) return undefined
    const n = this.#heap.root
    const request = this.#held[n]
    this.#heap.removeRoot()
    this.#held[n] = undefined
    this.#free.push(n)
    return request
  }
}
