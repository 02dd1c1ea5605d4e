/**
 * Write of bytes in one stripe, under one lock: nearly every operation of a benchmark.
 *
 * The same steps as any write (CcpfsClient.writeAtomic), without lists of parts, claims and pins, and with a record
 * that is reused after the write: a simulation does hundreds of thousands of them per second.
 */
import { ok, type Result } from '../base/result.ts'
import { alignedRange } from './claims.ts'
import type { Flusher } from './flusher.ts'
import { localOffset, type FileLayout } from './layout.ts'
import type { LockClient, Pin } from './lock-client.ts'
import type { ResourceId } from './messages.ts'
import type { LockMode } from './modes.ts'
import { lengthOf, type Data, type Done, type Written } from './operation.ts'
import type { PageCache } from './page-cache.ts'
import type { DlmPolicy } from './policy.ts'
import { WHOLE, type LockRange } from './ranges.ts'

export interface PlainWriteHost {
  readonly policy: DlmPolicy
  readonly locks: LockClient
  readonly pages: PageCache
  readonly flusher: Flusher
  readonly work: (kind: 'stage' | 'insert', bytes: number, then: () => void) => void
}

const ignore: Done<Written> = () => {}

class PlainWrite {
  readonly #pool: PlainWrites
  resource: ResourceId = 0
  /** First byte in the object, and in the file. */
  local = 0
  offset = 0
  data: Data = 0
  mode: LockMode = 'NBW'
  range: LockRange = WHOLE
  done = ignore
  #pin: Pin | null = null

  constructor(pool: PlainWrites) {
    this.#pool = pool
  }

  /** Starts once there is space for its data. */
  readonly begin = (): void => this.#pool.host.work('stage', lengthOf(this.data), this.#lock)

  readonly #lock = (): void => {
    this.#pool.host.locks.acquire(this.resource, this.mode, this.range, 'writer', this.#insert)
  }

  readonly #insert = (pin: Result<Pin>): void => {
    if (!pin.ok) {
      this.#end()(pin)
      return
    }
    this.#pin = pin.value
    this.#pool.host.work('insert', lengthOf(this.data), this.#finish)
  }

  readonly #finish = (): void => {
    const { resource, local: start, offset, data } = this
    const { locks, pages, flusher } = this.#pool.host
    const pin = this.#pin as Pin
    const { sn } = pin.lock.current
    const end = start + lengthOf(data)
    const block = { start, end, sn, data: typeof data === 'number' ? null : data, hole: false }
    flusher.wrote(pages.write(resource, block))
    locks.unlock(pin)
    this.#end()(ok({ offset, parts: [{ resource, start, end, sn }] }))
  }

  /** Releases the record; returns the callback. */
  #end(): Done<Written> {
    const { done } = this
    this.done = ignore
    this.data = 0
    this.#pin = null
    this.#pool.give(this)
    return done
  }
}

/** Pool of records of one client node. */
export class PlainWrites {
  readonly host: PlainWriteHost
  readonly #free: PlainWrite[] = []

  constructor(host: PlainWriteHost) {
    this.host = host
  }

  /** Prepares a write; its bytes must be valid and in one stripe of the file. */
  take(
    file: FileLayout,
    offset: number,
    data: Data,
    mode: LockMode,
    locksWhole: boolean,
    done: Done<Written>,
  ): PlainWrite {
    const write = this.#free.pop() ?? new PlainWrite(this)
    const { resource, local } = localOffset(file, offset)
    write.resource = resource
    write.local = local
    write.offset = offset
    write.data = data
    write.mode = mode
    write.range = locksWhole ? WHOLE : alignedRange(this.host.policy, { start: local, end: local + lengthOf(data) - 1 })
    write.done = done
    return write
  }

  give(write: PlainWrite): void {
    this.#free.push(write)
  }
}
