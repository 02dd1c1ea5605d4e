/**
 * Data path of one client with lookahead: an I/O's completion time is known when its NIC issues it, because the node's NIC is FIFO and
 * every client is equally far away. One event per I/O is enough. Exact only while order of issue is order of arrival (spec/haechi 14).
 *
 * At equal times, completions come first, then messages and timers, then NICs and arrivals by client index. The current time is read from
 * a shared array, so that no number has to be boxed.
 */
import type { BareEngine } from '../bare-engine.ts'
import type { ClientReport } from '../messages.ts'
import type { EnginePort, QosEngine } from '../qos-engine.ts'
import type { RecordAccess } from '../workloads/records.ts'
import type { RequestSource } from '../workloads/request-source.ts'
import type { Completions } from './completions.ts'
import type { FifoStation } from './fabric.ts'
import { ServiceTimes } from './fabric.ts'
import { LatencyHistogram } from './latency-histogram.ts'
import type { NextClient } from './next-client.ts'

export interface PathHost {
  /** [0]: the current time, ns. */
  readonly time: Float64Array
  readonly station: FifoStation
  readonly completions: Completions
  readonly next: NextClient
  readonly delayNs: number
  readonly faaShare: number
  /** C_L. */
  readonly localIops: number
  readonly window: number
  /** Executes a client's FAA at `execNs`. */
  faa(path: ClientPath, take: number, execNs: number): void
  report(path: ClientPath, report: ClientReport): void
}

/** Posted at the current time. */
const NOW = -1

export class ClientPath implements EnginePort {
  readonly index: number
  engine!: QosEngine | BareEngine
  source: RequestSource
  records: RecordAccess | null = null
  readonly latency = new LatencyHistogram()
  isAlive = true
  /** Data I/Os issued, and completions received. */
  issuedTotal = 0
  completedTotal = 0
  readonly #host: PathHost
  readonly #time: Float64Array
  readonly #station: FifoStation
  readonly #completions: Completions
  readonly #next: NextClient
  readonly #nic: ServiceTimes
  readonly #delayNs: number
  /** Times of I/Os posted but not issued. */
  readonly #postAt: Float64Array
  readonly #mask: number
  #head = 0
  #pending = 0
  /** [0]: earliest time of the NIC's next issue. */
  readonly #nicFree = new Float64Array(1)
  /** Tokens taken by a FAA behind the posted I/Os; 0 for none. */
  #faaTake = 0

  constructor(index: number, source: RequestSource, host: PathHost) {
    this.index = index
    this.source = source
    this.#host = host
    this.#time = host.time
    this.#station = host.station
    this.#completions = host.completions
    this.#next = host.next
    this.#nic = new ServiceTimes(host.localIops)
    this.#delayNs = host.delayNs
    const size = 2 ** Math.ceil(Math.log2(host.window + 1))
    this.#mask = size - 1
    this.#postAt = new Float64Array(size)
  }

  /** I/Os posted but not completed. */
  get outstanding(): number {
    return this.engine.inflight
  }

  postIo(n: number): void {
    const now = this.#time[0] as number
    for (let i = 0; i < n; i++) {
      if (this.#pending === 0 && (this.#nicFree[0] as number) <= now) this.#issue(NOW)
      else this.#postAt[(this.#head + this.#pending++) & this.#mask] = now
    }
  }

  faa(take: number): void {
    if (this.#pending === 0 && (this.#nicFree[0] as number) <= (this.#time[0] as number)) this.#issueFaa(take)
    else this.#faaTake = take
  }

  writeReport(report: ClientReport): void {
    this.#host.report(this, report)
  }

  /** Stops all activity; I/Os already at the node are served without effect. */
  crash(): void {
    this.isAlive = false
    this.settled()
  }

  /** Records the completion taken last as this client's, now. */
  complete(): void {
    if (!this.isAlive) return
    const now = this.#time[0] as number
    this.latency.record(now - (this.#completions.postedAt[0] as number))
    this.completedTotal++
    if (this.source.nextAt < now) this.sync(now)
    this.engine.onCompletion(1)
    this.settled()
  }

  /** Adds arrivals before `now`. They had no effect until now, or each would have been an event. */
  sync(now: number): void {
    while (this.source.nextAt < now) this.#arrive()
  }

  /** Performs the action due now: an issue or an arrival. */
  act(): void {
    const now = this.#time[0] as number
    while (this.source.nextAt <= now) this.#arrive()
    if ((this.#nicFree[0] as number) <= now) {
      if (this.#pending > 0) {
        this.#pending--
        const posted = this.#head
        this.#head = (posted + 1) & this.#mask
        this.#issue(posted)
      } else if (this.#faaTake > 0) {
        const take = this.#faaTake
        this.#faaTake = 0
        this.#issueFaa(take)
      }
    }
    this.settled()
  }

  /** Computes when this client next acts by itself; never if only a completion or a message can change its state. */
  settled(): void {
    const { engine } = this
    let at = Infinity
    if (this.isAlive) {
      if (this.#pending > 0 || this.#faaTake > 0) at = this.#nicFree[0] as number
      // An arrival is posted at once only by an engine that waits for nothing else.
      if (engine.queued === 0 && engine.isReady && engine.canPost && this.source.nextAt < at) at = this.source.nextAt
    }
    if (at !== this.#next.of(this.index)) this.#next.set(this.index, at)
  }

  #arrive(): void {
    const n = this.source.take()
    if (this.source.drops) this.engine.dropQueue()
    this.engine.onRequest(n)
  }

  /** @param posted  index of its posting time, or `NOW`: an index is a small integer, a time would be boxed. */
  #issue(posted: number): void {
    const now = this.#time[0] as number
    const postedAt = posted === NOW ? now : (this.#postAt[posted] as number)
    this.#completions.push(this.index, postedAt, this.#station.serve(now + this.#delayNs) + this.#delayNs)
    this.issuedTotal++
    this.#nicFree[0] = now + this.#nic.next()
    if (this.records !== null) this.records.next()
  }

  #issueFaa(take: number): void {
    const now = this.#time[0] as number
    const { faaShare } = this.#host
    this.#nicFree[0] = now + this.#nic.nextFaa(faaShare)
    this.#host.faa(this, take, this.#station.serveFaa(now + this.#delayNs, faaShare))
  }
}
