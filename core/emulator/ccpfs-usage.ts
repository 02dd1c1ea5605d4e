/**
 * Usage of a ccPFS: bytes of a file that applications wrote and read with the busy time of each, and the waits of lock
 * requests at the servers.
 */
import type { ResourceId } from '../seqdlm/messages.ts'
import type { LockEvent } from '../seqdlm/lock-events.ts'
import { CONVOY_WAITING } from '../seqdlm/trace/counts.ts'
import { Tally } from '../sim/statistics.ts'

/** Time during which at least one of many is under way, ns. */
export class BusyTime {
  #active = 0
  #since = 0
  #ns = 0

  begin(now: number): void {
    if (this.#active++ === 0) this.#since = now
  }

  end(now: number): void {
    if (--this.#active === 0) this.#ns += now - this.#since
  }

  until(now: number): number {
    return this.#ns + (this.#active > 0 ? now - this.#since : 0)
  }
}

export class FileUsage {
  readonly writing = new BusyTime()
  readonly reading = new BusyTime()
  writtenBytes = 0
  readBytes = 0

  begin(isWrite: boolean, now: number): void {
    ;(isWrite ? this.writing : this.reading).begin(now)
  }

  /** @param bytes  0 for an operation that failed or whose client is gone. */
  end(isWrite: boolean, bytes: number, now: number): void {
    ;(isWrite ? this.writing : this.reading).end(now)
    if (isWrite) this.writtenBytes += bytes
    else this.readBytes += bytes
  }
}

interface ResourceQueue {
  /** Requests that wait: number by client, and the time of the request, ns. */
  readonly waiting: Map<string, number>
  /** Start of the present convoy, ns. */
  sinceNs: number
}

/** Waits of lock requests at the servers, from the events of their resources. */
export class LockWaits {
  /** Lock requests so far. */
  requests = 0
  /** Time from request to grant, sum over all granted locks, ns. */
  waitedNs = 0
  readonly #waits = new Tally()
  readonly #queues = new Map<ResourceId, ResourceQueue>()
  #convoyNs = 0

  observe(event: LockEvent): void {
    if (event.kind === 'asked') this.requests++
    else if (event.kind === 'waiting') this.#wait(event)
    else if (event.kind === 'withdrawn') this.#leave(event)
    else if (event.kind === 'granted') {
      this.waitedNs += event.waitedNs
      this.#waits.add(event.waitedNs)
      this.#leave(event)
    }
  }

  /** Waits of all requests, granted or still waiting; those count with their time so far. */
  waitsUntil(nowNs: number): Tally {
    const all = new Tally()
    all.merge(this.#waits)
    for (const { waiting } of this.#queues.values()) for (const sinceNs of waiting.values()) all.add(nowNs - sinceNs)
    return all
  }

  /** Time in which a convoy (`CONVOY_WAITING` requests or more) waited for one resource, sum over the resources, ns. */
  convoyUntil(nowNs: number): number {
    let ns = this.#convoyNs
    for (const { waiting, sinceNs } of this.#queues.values()) if (waiting.size >= CONVOY_WAITING) ns += nowNs - sinceNs
    return ns
  }

  #wait({ resource, client, reqId, at }: LockEvent & { kind: 'waiting' }): void {
    let queue = this.#queues.get(resource)
    if (!queue) this.#queues.set(resource, (queue = { waiting: new Map(), sinceNs: 0 }))
    queue.waiting.set(`${client} ${reqId}`, at)
    if (queue.waiting.size === CONVOY_WAITING) queue.sinceNs = at
  }

  #leave({ resource, client, reqId, at }: LockEvent & { kind: 'granted' | 'withdrawn' }): void {
    const queue = this.#queues.get(resource)
    if (!queue?.waiting.delete(`${client} ${reqId}`)) return
    if (queue.waiting.size === CONVOY_WAITING - 1) this.#convoyNs += at - queue.sinceNs
  }
}
