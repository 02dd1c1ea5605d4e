/**
 * Request scheduler of the experiments: a queue for each job, ruled or not, released by token deadlines.
 *
 * Source: AdapTBF II-A and III-D. Among ruled queues the earliest deadline goes first, on ties the higher priority.
 * RPCs of jobs without a rule go in the order of their arrival, when no ruled queue is due (`idle`), or through a
 * bucket of 10 000/s each (`default-rule`).
 */
import { DEFAULT_RULE_RATE, type Fallback } from '../../adaptbf/fallback.ts'
import { type BucketModel, RealBucket } from './real-bucket.ts'

/** Options of the scheduler. */
export interface SchedulerSetup {
  /** Maximum tokens of a queue. */
  readonly depth: number
  readonly bucket: BucketModel
  readonly fallback: Fallback
  /**
   * Extension `spill`: an idle device takes the RPC with the nearest deadline, for a debt of at most 3 tokens a queue.
   */
  readonly spill: boolean
}

/** Maximum tokens that a queue owes its bucket under `spill`; further RPCs are free. */
const SPILL_DEBT = 3

interface JobQueue<R> {
  readonly bucket: RealBucket
  readonly waiting: R[]
  /** Order of arrival of each waiting RPC, for the fallback. */
  readonly order: number[]
  isRuled: boolean
  /** Position by priority; breaks ties between deadlines. */
  rank: number
}

/** Queues of one OST; jobs are numbers. */
export class TbfQueues<R> {
  readonly #setup: SchedulerSetup
  readonly #queues: readonly JobQueue<R>[]
  #arrivals = 0

  constructor(jobs: number, setup: SchedulerSetup) {
    this.#setup = setup
    this.#queues = Array.from({ length: jobs }, (_, rank) => ({
      bucket: new RealBucket(setup.depth, setup.bucket),
      waiting: [],
      order: [],
      isRuled: false,
      rank,
    }))
    if (setup.fallback === 'default-rule') for (const { bucket } of this.#queues) bucket.start(0, DEFAULT_RULE_RATE)
  }

  /** Number of waiting RPCs of a job. */
  queued(job: number): number {
    return this.#queues[job]!.waiting.length
  }

  /** Sets a rule for a job, or changes its rate. */
  rule(now: number, job: number, ratePerSec: number, rank: number): void {
    const queue = this.#queues[job]!
    if (queue.isRuled) queue.bucket.change(now, ratePerSec)
    else queue.bucket.start(now, ratePerSec)
    queue.isRuled = true
    queue.rank = rank
  }

  /** Removes a job's rule; its waiting RPCs become unruled. */
  unrule(now: number, job: number): void {
    const queue = this.#queues[job]!
    queue.isRuled = false
    if (this.#setup.fallback === 'default-rule') queue.bucket.start(now, DEFAULT_RULE_RATE)
  }

  enqueue(now: number, job: number, request: R): void {
    const queue = this.#queues[job]!
    queue.bucket.arrive(now)
    queue.waiting.push(request)
    queue.order.push(this.#arrivals++)
  }

  /**
   * Returns the next RPC that may go; undefined if none is due.
   *
   * @param isDeviceIdle  for `spill`.
   */
  dequeue(now: number, isDeviceIdle: boolean): R | undefined {
    const ruled = this.#earliest()
    if (ruled && ruled.bucket.dueAt <= now) return take(now, ruled)
    const unruled = this.#setup.fallback === 'idle' ? this.#oldest() : undefined
    if (unruled) return shift(unruled)
    return this.#setup.spill && isDeviceIdle && ruled ? take(now, ruled, SPILL_DEBT) : undefined
  }

  /** Earliest time at which `dequeue` can succeed by itself, ns; Infinity if nothing waits for a token. */
  get wakeAt(): number {
    return this.#earliest()?.bucket.dueAt ?? Infinity
  }

  #earliest(): JobQueue<R> | undefined {
    let first: JobQueue<R> | undefined
    let deadline = Infinity
    const hasDefaultRule = this.#setup.fallback === 'default-rule'
    for (const queue of this.#queues) {
      if (queue.waiting.length === 0 || !(queue.isRuled || hasDefaultRule)) continue
      const { dueAt } = queue.bucket
      if (first && (dueAt > deadline || (dueAt === deadline && queue.rank > first.rank))) continue
      first = queue
      deadline = dueAt
    }
    return first
  }

  #oldest(): JobQueue<R> | undefined {
    let first: JobQueue<R> | undefined
    for (const queue of this.#queues) {
      if (queue.isRuled || queue.waiting.length === 0) continue
      if (!first || queue.order[0]! < first.order[0]!) first = queue
    }
    return first
  }
}

function take<R>(now: number, queue: JobQueue<R>, debt?: number): R {
  queue.bucket.take(now, debt)
  return shift(queue)
}

// Clients keep at most 8 RPCs in flight, so a shift is cheaper than avoiding it.
function shift<R>({ waiting, order }: JobQueue<R>): R {
  order.shift()
  return waiting.shift()!
}
