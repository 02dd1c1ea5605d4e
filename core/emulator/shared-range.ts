/**
 * Range of a file that several clients write through their caches, one at a time under a PW lock.
 *
 * The client that holds the lock writes to its cache. When another client requests the lock, the server revokes it: the holder
 * writes back its data through the server's high-priority queue, and releases the lock (measured part 2, 7). Data that no other
 * client requests is written back after some seconds, like all dirty pages, in the regular queue. The lock manager is reduced
 * to this: the range is one lock, clients wait in order of arrival, and a callback or an enqueue takes one or two network
 * latencies.
 */
import { NS_PER_S } from '../base/units.ts'
import type { Simulation } from '../sim/simulation.ts'
import type { EmulatedClient } from './client.ts'
import type { Rpc } from './rpc.ts'

/** Duration of a write into the cache: a system call, and a copy at 5 GB/s. */
const CALL_NS = 20_000
const COPY_NS_PER_BYTE = 0.2
/** Age at which dirty pages are written back without a request. */
const DIRTY_NS = 5 * NS_PER_S

/** Write into the range: the RPC that writes it back, and the callback when it is in the cache. */
export interface CachedWrite {
  readonly client: EmulatedClient
  /** RPC that writes it back; sent at once if the lock is revoked. */
  readonly rpc: Rpc
  /** Called when the data is in the cache. */
  readonly cached: () => void
}

export class SharedRange {
  readonly #sim: Simulation
  #holder: EmulatedClient | undefined
  /** Newest write that only the holder's cache has; it includes earlier ones to the same range. */
  #dirty: CachedWrite | undefined
  #dirtySinceNs = 0
  #isCalledBack = false
  #waiting: CachedWrite[] = []

  constructor(sim: Simulation) {
    this.#sim = sim
  }

  /** Number of writes that wait for the lock. */
  get waiting(): number {
    return this.#waiting.length
  }

  write(w: CachedWrite): void {
    if (w.client === this.#holder && !this.#isCalledBack) return this.#intoCache(w)
    this.#waiting.push(w)
    w.rpc.to.extents?.wait(w.rpc.object)
    if (this.#holder) this.#callBack()
    else if (this.#waiting.length === 1) this.#sim.after(2 * w.client.latencyNs, () => this.#grant())
  }

  #intoCache(w: CachedWrite): void {
    if (!this.#dirty) {
      this.#dirtySinceNs = this.#sim.now
      this.#sim.after(DIRTY_NS, () => this.#writeBackAged())
    }
    this.#dirty = w
    this.#sim.after(CALL_NS + w.rpc.bytes * COPY_NS_PER_BYTE, w.cached)
  }

  #writeBackAged(): void {
    const isAged = this.#dirty && this.#sim.now - this.#dirtySinceNs >= DIRTY_NS
    if (isAged && !this.#isCalledBack) this.#flush(false, () => undefined)
  }

  #callBack(): void {
    if (this.#isCalledBack) return
    this.#isCalledBack = true
    const { latencyNs } = this.#holder as EmulatedClient
    this.#sim.after(latencyNs, () => {
      const release = (): void => void this.#sim.after(latencyNs, () => this.#grant())
      if (this.#dirty) this.#flush(true, release)
      else release()
    })
  }

  #flush(isForced: boolean, then: () => void): void {
    const { client, rpc } = this.#dirty as CachedWrite
    this.#dirty = undefined
    const done = (sent: Rpc): void => {
      rpc.done(sent)
      then()
    }
    client.issue({ ...rpc, isForced, done })
  }

  /** Grants the lock to the first waiting client, for all of its waiting writes. */
  #grant(): void {
    const next = this.#waiting[0]
    this.#isCalledBack = false
    this.#holder = next?.client
    if (!next) return
    const granted = this.#waiting.filter((w) => w.client === next.client)
    this.#waiting = this.#waiting.filter((w) => w.client !== next.client)
    next.rpc.to.extents?.handOver(next.rpc.nid, granted.length, next.rpc.object)
    for (const w of granted) this.#intoCache(w)
    if (this.#waiting.length > 0) this.#callBack()
  }
}
