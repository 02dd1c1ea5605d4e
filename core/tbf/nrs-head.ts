/**
 * The request scheduler of one queue of one CPT: fifo as the fallback, TBF as the primary policy when it is started, and
 * the TBF head that a policy change left behind, drained in force mode.
 *
 * Source: spec/lustre 1.1 (state machine).
 */
import type { RequestKey } from './conditions.ts'
import type { TbfHead } from './tbf-head.ts'

export class NrsHead<R extends RequestKey> {
  #fifo: R[] = []
  #fifoAt = 0
  #tbf: TbfHead<R> | undefined
  #draining: TbfHead<R> | undefined

  get tbf(): TbfHead<R> | undefined {
    return this.#tbf
  }

  get fifoQueued(): number {
    return this.#fifo.length - this.#fifoAt
  }

  get draining(): TbfHead<R> | undefined {
    return this.#draining
  }

  get wakeAt(): number {
    if (this.fifoQueued > 0 || this.#draining) return 0
    return this.#tbf?.wakeAt ?? Infinity
  }

  /** Makes `head` the primary policy (undefined = fifo alone); what the old one holds is released at once. */
  select(head: TbfHead<R> | undefined): void {
    if (this.#tbf && this.#tbf.queued > 0) this.#draining = this.#tbf
    this.#tbf = head
  }

  enqueue(now: number, request: R): void {
    if (this.#tbf) this.#tbf.enqueue(now, request)
    else this.#fifo.push(request)
  }

  dequeue(now: number): R | undefined {
    if (this.#draining) {
      const request = this.#draining.dequeue(now, true)
      if (this.#draining.queued === 0) this.#draining = undefined
      if (request) return request
    }
    const request = this.#fifo[this.#fifoAt]
    if (request) {
      this.#fifoAt++
      if (this.#fifoAt === this.#fifo.length || this.#fifoAt > 1024) {
        this.#fifo = this.#fifo.slice(this.#fifoAt)
        this.#fifoAt = 0
      }
      return request
    }
    return this.#tbf?.dequeue(now)
  }
}
