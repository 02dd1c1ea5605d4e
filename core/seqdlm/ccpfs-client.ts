/**
 * ccPFS on one client node: operations on files over a lock cache, a page cache and a flush daemon.
 *
 * ## Driving it from a simulation
 *
 * Clients (`CcpfsClient`) and servers (`ServerNode`) are state machines without clock or transport. A simulation owns
 * both:
 *
 * - `host.send(server, message)` and `ServerNode`'s `send(client, message)` pass a message on. The simulation charges it
 *   (spec/seqdlm 16: RPC and lock processing on the lock server's CPU for `isOrdered` messages, `payloadBytes` on the network
 *   port, an IO thread and the device for a flush) and then calls `receive` at the other end. It keeps ordered messages of one
 *   client and one server in order (they share one FIFO lock CPU, or one channel) and never calls `receive` inside a `send`.
 * - `host.work(kind, bytes, then)` is called where a client node spends time on data: `stage` (copy into registered pages, no
 *   lock held), `insert` (page references into the cache, under the locks), `copy` (out to a reader). A simulation delays
 *   `then`; if absent, it takes no time.
 * - `Device.write`/`read` (a disk of core/sim) and `ServerHost.defer` (low-priority work) take time the same way.
 * - `now()` is the simulation's clock; it is used only in events and for overdue revocations.
 * - `content: false` carries no bytes: every `data` is null, and a run of gigabytes costs a few objects per write.
 *
 * Baselines and ablations are `DlmPolicy` values given to clients and servers alike; `OperationOptions` forces a mode
 * or a whole-file lock, as the micro-benchmarks do. `ServerHost.observe` reports every step of every lock.
 *
 * Source: SeqDLM IV; spec/seqdlm 1, 7-10. Deviations: a read past the end of a file returns zeros; a truncate never
 * extends a file, which is an operation of its own; the lock cache has a limit.
 */
import { fail, ok, type Result } from '../base/result.ts'
import { alignedRange, claimsOf, wholeFile, type Claim } from './claims.ts'
import { Flusher, type FlushLimits } from './flusher.ts'
import { fileEnd, isInOneStripe, localBound, split, type FileLayout, type StripePart } from './layout.ts'
import { LockClient, type Pin, type Use } from './lock-client.ts'
import type { ResourceId, ServerId, ToClient, ToServer, FromDataServer, ToDataServer } from './messages.ts'
import { PlainWrites } from './plain-write.ts'
import { modeFor, type DlmPolicy } from './policy.ts'
import { isReadMode, type LockMode } from './modes.ts'
import {
  badWrite,
  isExtent,
  lengthOf,
  tooFar,
  type Data,
  type Done,
  type OperationOptions,
  type Written,
} from './operation.ts'
import { PageCache } from './page-cache.ts'
import { EOF, type Extent } from './ranges.ts'

interface QueriesHost {
  readonly serverOf: (resource: ResourceId) => ServerId
  readonly send: (resource: ResourceId, message: ToDataServer) => void
}

type Query = Extract<ToDataServer, { reqId: number }>
type Reply = Exclude<FromDataServer, { kind: 'flush-reply' }>

interface PendingQuery {
  readonly query: Query
  readonly answered: (reply: Reply) => void
}

/** Pending queries of a client node to data servers: reads and sizes, repeated when a server is back. */
class ServerQueries {
  readonly #host: QueriesHost
  readonly #pending = new Map<number, PendingQuery>()
  readonly #down = new Set<ServerId>()
  #lastReqId = 0

  constructor(host: QueriesHost) {
    this.#host = host
  }

  isDown(server: ServerId): boolean {
    return this.#down.has(server)
  }

  read(resource: ResourceId, { start, end }: Extent, done: (data: Uint8Array | null) => void): void {
    this.#query({ kind: 'read-request', resource, reqId: ++this.#lastReqId, start, end }, (reply) => {
      if (reply.kind === 'read-reply') done(reply.data)
    })
  }

  size(resource: ResourceId, done: (size: number) => void): void {
    this.#query({ kind: 'size-request', resource, reqId: ++this.#lastReqId }, (reply) => {
      if (reply.kind === 'size-reply') done(reply.size)
    })
  }

  /** Handles one reply; a failure is the reason that it had no effect. */
  receive(reply: Reply): Result<void> {
    const pending = this.#pending.get(reply.reqId)
    if (pending === undefined) return fail({ code: 'E_REPEATED', what: `Query ${reply.reqId} was answered before` })
    this.#pending.delete(reply.reqId)
    pending.answered(reply)
    return ok(undefined)
  }

  down(server: ServerId): void {
    this.#down.add(server)
  }

  up(server: ServerId): void {
    this.#down.delete(server)
    for (const { query } of this.#pending.values()) {
      if (this.#host.serverOf(query.resource) === server) this.#host.send(query.resource, query)
    }
  }

  #query(query: Query, answered: (reply: Reply) => void): void {
    this.#pending.set(query.reqId, { query, answered })
    if (!this.isDown(this.#host.serverOf(query.resource))) this.#host.send(query.resource, query)
  }
}

export type WorkKind = 'stage' | 'insert' | 'copy'

export interface ClientHost {
  readonly policy: DlmPolicy
  readonly serverOf: (resource: ResourceId) => ServerId
  /** Passes a message on for delivery; it must not be delivered before the call that caused it has returned. */
  readonly send: (server: ServerId, message: ToServer) => void
  /** Time spent on data in the client; `then` continues. */
  readonly work?: ((kind: WorkKind, bytes: number, then: () => void) => void) | undefined
  /** True if bytes are carried, false for extents only. */
  readonly content: boolean
  readonly limits?: Partial<ClientLimits> | undefined
}

export interface ClientLimits extends FlushLimits {
  readonly maxCleanBytes: number
  /**
   * Maximum locks that the node keeps while no operation holds them.
   *
   * Each one costs memory on its server, too, and time in recovery. An operation needs one lock per stripe, so 2,000
   * keep a node's working set of thousands of stripes; Lustre's 100 per CPU (`lru_size`) are the same on 20 cores.
   */
  readonly maxIdleLocks: number
}

const MIB = 1024 * 1024

export const CLIENT_LIMITS: ClientLimits = {
  minDirtyBytes: 256 * MIB,
  maxDirtyBytes: 4096 * MIB,
  maxCleanBytes: 4096 * MIB,
  maxRpcBytes: 512 * 1024,
  maxInFlight: 8,
  maxIdleLocks: 2000,
}

export class CcpfsClient {
  readonly locks: LockClient
  readonly pages: PageCache
  readonly #host: ClientHost
  readonly #limits: ClientLimits
  readonly #flusher: Flusher
  readonly #queries: ServerQueries
  readonly #plain: PlainWrites
  /** Appends and extensions that wait for another one of the same file, by its base. */
  readonly #turns = new Map<ResourceId, (() => void)[]>()
  readonly #blockedWriters: (() => void)[] = []

  constructor(host: ClientHost) {
    this.#host = host
    this.#limits = { ...CLIENT_LIMITS, ...host.limits }
    const { policy, serverOf } = host
    const { maxCleanBytes, maxRpcBytes, maxIdleLocks } = this.#limits
    const send = (resource: ResourceId, message: ToServer): void => host.send(serverOf(resource), message)
    this.pages = new PageCache({ maxExtentBytes: maxRpcBytes, maxCleanBytes })
    this.#queries = new ServerQueries({ serverOf, send })
    this.#flusher = new Flusher({
      cache: this.pages,
      limits: this.#limits,
      serverOf,
      send,
      onLessDirty: () => this.#admitWriters(),
    })
    this.locks = new LockClient({
      policy,
      maxIdleLocks,
      send: (resource, message) => {
        // A request to a server that is down is repeated when it is back.
        if (message.kind !== 'lock-request' || !this.#queries.isDown(serverOf(resource))) send(resource, message)
      },
      flush: (lock, done) => this.#flusher.flush(lock.resource, lock.sns, true, done),
      hasData: (resource, sn) => this.pages.hasData(resource, sn),
      dropClean: (lock, otherLocks) => {
        for (const sn of lock.sns) this.pages.dropSn(lock.resource, sn)
        if (!lock.hasRead || !this.pages.hasRead(lock.resource)) return
        const vouching = [...otherLocks].filter((o) => o !== lock && isReadMode(o.mode)).map((o) => o.range)
        this.pages.dropRead(lock.resource, lock.range, vouching)
      },
    })
    const { locks, pages } = this
    const work = host.work ?? ((_kind, _bytes, then) => then())
    this.#plain = new PlainWrites({ policy, locks, pages, flusher: this.#flusher, work })
  }

  /** Dirty bytes on this node. */
  get dirtyBytes(): number {
    return this.pages.dirtyBytes
  }

  /** Number of writers that wait for less dirty data. */
  get blockedWriters(): number {
    return this.#blockedWriters.length
  }

  /** Handles one message; a failure is the reason that it had no effect. */
  receive(server: ServerId, message: ToClient): Result<void> {
    switch (message.kind) {
      case 'flush-reply':
        if (this.#flusher.answered(message.resource, message.rpcSeq)) return ok(undefined)
        return fail({ code: 'E_REPEATED', what: `Flush ${message.rpcSeq} was answered before` })
      case 'read-reply':
      case 'size-reply':
        return this.#queries.receive(message)
      case 'recover-query': {
        this.#queries.down(server)
        this.#flusher.down(server)
        const isThere = (resource: ResourceId): boolean => this.#host.serverOf(resource) === server
        this.#host.send(server, { kind: 'recover-report', locks: this.locks.report(isThere) })
        return ok(undefined)
      }
      case 'recover-open':
        this.#queries.up(server)
        this.#flusher.up(server)
        this.locks.resend((resource) => this.#host.serverOf(resource) === server)
        return ok(undefined)
      default:
        return this.locks.receive(message)
    }
  }

  /** Writes bytes at an offset: NBW on one stripe, BW over several; atomic for readers. */
  write(file: FileLayout, offset: number, data: Data, options: OperationOptions, done: Done<Written>): void {
    const end = offset + lengthOf(data)
    const isGood = this.#host.content === (typeof data !== 'number') && isExtent(offset, end)
    if (!isGood || !isInOneStripe(file, offset, end)) {
      this.writeAtomic(file, [{ start: offset, end }], data, options, done)
      return
    }
    const mode = options.mode ?? modeFor(this.#host.policy, 'write', 1)
    const write = this.#plain.take(file, offset, data, mode, options.whole === true, done)
    this.#whenBelowDirtyLimit(write.begin)
  }

  /** Writes ascending, disjoint extents of a file atomically: readers see all of them or none. */
  writeAtomic(
    file: FileLayout,
    extents: readonly Extent[],
    data: Data,
    options: OperationOptions,
    done: Done<Written>,
  ): void {
    const bad = badWrite(this.#host.content, extents, data)
    if (bad !== null) {
      done(fail(bad))
      return
    }
    const parts = split(file, extents)
    const mode = options.mode ?? modeFor(this.#host.policy, 'write', parts.length)
    const claims = claimsOf(this.#host.policy, parts, options.whole === true)
    this.#whenAdmitted(lengthOf(data), () =>
      this.#withLocks(claims, mode, 'writer', done, (pins, unlock) =>
        this.#work('insert', lengthOf(data), () => {
          const written = this.#insert(parts, pins, data)
          unlock()
          done(ok({ offset: extents[0]?.start ?? 0, parts: written }))
        }),
      ),
    )
  }

  /** Appends bytes at the end of the file at that time: PW on every stripe. */
  append(file: FileLayout, data: Data, done: Done<Written>): void {
    const bad = badWrite(this.#host.content, [{ start: 0, end: lengthOf(data) }], data)
    if (bad !== null) {
      done(fail(bad))
      return
    }
    const mode = modeFor(this.#host.policy, 'append', file.stripes)
    this.#whenAdmitted(lengthOf(data), () =>
      this.#inTurn(file, done, (ended) =>
        this.#withLocks(wholeFile(file), mode, 'writer', ended, (pins, unlock) =>
          this.#size(file, (offset) =>
            this.#work('insert', lengthOf(data), () => {
              const end = offset + lengthOf(data)
              const bad = isExtent(offset, end) ? null : tooFar
              const written = bad === null ? this.#insert(split(file, [{ start: offset, end }]), pins, data) : []
              unlock()
              ended(bad === null ? ok({ offset, parts: written }) : fail(bad))
            }),
          ),
        ),
      ),
    )
  }

  /** Cuts a file to `size` bytes: NBW or BW on the rest. A shorter file stays unchanged. */
  truncate(file: FileLayout, size: number, done: Done<Written>): void {
    if (!Number.isSafeInteger(size) || size < 0) {
      done(fail(tooFar))
      return
    }
    const mode = modeFor(this.#host.policy, 'truncate', file.stripes)
    const cuts = Array.from({ length: file.stripes }, (_, k) => ({
      resource: file.base + k,
      start: localBound(file, k, size),
    }))
    const claims = cuts.map(({ resource, start }) => ({
      resource,
      range: alignedRange(this.#host.policy, { start, end: EOF }),
    }))
    this.#withLocks(claims, mode, 'writer', done, (pins, unlock) => {
      const parts = cuts.map(({ resource, start }, i) => {
        const { sn } = (pins[i] as Pin).lock.current
        this.#flusher.wrote(this.pages.write(resource, { start, end: EOF, sn, data: null, hole: true }))
        return { resource, start, end: EOF, sn }
      })
      unlock()
      done(ok({ offset: size, parts }))
    })
  }

  /** Extends a file to `size` bytes by a zero at its end: PW on every stripe. A longer file stays unchanged. */
  extend(file: FileLayout, size: number, done: Done<void>): void {
    if (!isExtent(size - 1, size)) {
      done(fail(tooFar))
      return
    }
    const mode = modeFor(this.#host.policy, 'append', file.stripes)
    this.#inTurn(file, done, (ended) =>
      this.#withLocks(wholeFile(file), mode, 'writer', ended, (pins, unlock) =>
        this.#size(file, (found) => {
          const last = [{ start: size - 1, end: size }]
          if (found < size) this.#insert(split(file, last), pins, this.#host.content ? new Uint8Array(1) : 1)
          unlock()
          ended(ok(undefined))
        }),
      ),
    )
  }

  /** Reads bytes; null if content is not carried. Unwritten bytes are zero. */
  read(
    file: FileLayout,
    offset: number,
    length: number,
    options: OperationOptions,
    done: Done<Uint8Array | null>,
  ): void {
    if (!isExtent(offset, offset + length)) {
      done(fail(tooFar))
      return
    }
    const parts = split(file, [{ start: offset, end: offset + length }])
    const mode = options.mode ?? modeFor(this.#host.policy, 'read', parts.length)
    const claims = claimsOf(this.#host.policy, parts, options.whole === true)
    this.#withLocks(claims, mode, 'reader', done, (_, unlock) =>
      this.#fetch(parts, () => {
        const out = this.#host.content ? new Uint8Array(length) : null
        for (const { resource, local, buffer, length: bytes } of out ? parts.flatMap((p) => p.pieces) : []) {
          this.pages.copy(resource, local, local + bytes, out as Uint8Array, buffer)
        }
        for (const { resource } of parts) this.pages.hold(resource, -1)
        this.#work('copy', length, () => {
          unlock()
          done(ok(out))
        })
      }),
    )
  }

  /** Length of a file in bytes: PR on every stripe. */
  size(file: FileLayout, done: Done<number>): void {
    const mode = modeFor(this.#host.policy, 'read', file.stripes)
    this.#withLocks(wholeFile(file), mode, 'reader', done, (_, unlock) =>
      this.#size(file, (size) => {
        unlock()
        done(ok(size))
      }),
    )
  }

  /** Flushes this node's writes to a file, including those made meanwhile; locks stay in the cache. */
  fsync(file: FileLayout, done: Done<void>): void {
    let remaining = file.stripes
    for (let k = 0; k < file.stripes; k++) {
      this.#flusher.flush(file.base + k, null, false, () => {
        if (--remaining === 0) done(ok(undefined))
      })
    }
  }

  /** Takes locks one after the other, ascending, and releases all of them at the end. */
  #withLocks<T>(
    claims: readonly Claim[],
    mode: LockMode,
    use: Use,
    done: Done<T>,
    held: (pins: readonly Pin[], unlock: () => void) => void,
  ): void {
    const pins: Pin[] = []
    const unlock = (): void => {
      for (const pin of pins) this.locks.unlock(pin)
    }
    const next = (): void => {
      const claim = claims[pins.length]
      if (claim === undefined) {
        held(pins, unlock)
        return
      }
      this.locks.acquire(claim.resource, mode, claim.range, use, (pin) => {
        if (pin.ok) {
          pins.push(pin.value)
          next()
          return
        }
        unlock()
        done(pin)
      })
    }
    next()
  }

  #insert(parts: readonly StripePart[], pins: readonly Pin[], data: Data): Written['parts'] {
    const written: Written['parts'][number][] = []
    for (let i = 0; i < parts.length; i++) {
      const { resource, pieces } = parts[i] as StripePart
      const same = pins[i] as Pin
      const pin = same.lock.resource === resource ? same : (pins.find((p) => p.lock.resource === resource) as Pin)
      const { sn } = pin.lock.current
      for (const { local, buffer, length } of pieces) {
        const bytes = typeof data === 'number' ? null : data.subarray(buffer, buffer + length)
        const block = { start: local, end: local + length, sn, data: bytes, hole: false }
        this.#flusher.wrote(this.pages.write(resource, block))
        written.push({ resource, start: local, end: local + length, sn })
      }
    }
    return written
  }

  /** Brings every byte of a read into the cache, fetching dropped bytes again. */
  #fetch(parts: readonly StripePart[], done: () => void): void {
    for (const { resource } of parts) this.pages.hold(resource, 1)
    const look = (): void => {
      let remaining = 1
      const arrived = (): void => {
        if (--remaining === 0) look()
      }
      for (const { resource, local, length } of parts.flatMap((p) => p.pieces)) {
        for (const gap of this.pages.missing(resource, local, local + length)) {
          remaining++
          this.#queries.read(resource, gap, (data) => {
            this.pages.fill(resource, gap.start, gap.end, data)
            arrived()
          })
        }
      }
      if (remaining === 1) done()
      else remaining--
    }
    look()
  }

  /** Ends of all stripes as this node knows them when the last server has answered. */
  #size(file: FileLayout, done: (size: number) => void): void {
    const onServers: number[] = []
    let remaining = file.stripes
    for (let k = 0; k < file.stripes; k++) {
      this.#queries.size(file.base + k, (onServer) => {
        onServers[k] = onServer
        if (--remaining > 0) return
        const ends = onServers.map((size, i) => fileEnd(file, i, this.pages.size(file.base + i, size)))
        done(ends.reduce((most, end) => Math.max(most, end), 0))
      })
    }
  }

  /** Runs writes that depend on the size of a file one after the other: operations of one node share its cached lock. */
  #inTurn<T>(file: FileLayout, done: Done<T>, run: (ended: Done<T>) => void): void {
    const start = (): void =>
      run((result) => {
        const waiting = this.#turns.get(file.base)
        const next = waiting?.shift()
        if (next === undefined) this.#turns.delete(file.base)
        done(result)
        next?.()
      })
    const waiting = this.#turns.get(file.base)
    if (waiting !== undefined) {
      waiting.push(start)
      return
    }
    this.#turns.set(file.base, [])
    start()
  }

  #work(kind: WorkKind, bytes: number, then: () => void): void {
    if (this.#host.work === undefined) then()
    else this.#host.work(kind, bytes, then)
  }

  /** Stages the data of a write once there is space; a waiting writer holds no lock. */
  #whenAdmitted(bytes: number, then: () => void): void {
    this.#whenBelowDirtyLimit(() => this.#work('stage', bytes, then))
  }

  #whenBelowDirtyLimit(stage: () => void): void {
    if (this.dirtyBytes < this.#limits.maxDirtyBytes) stage()
    else this.#blockedWriters.push(stage)
  }

  #admitWriters(): void {
    while (this.#blockedWriters.length > 0 && this.dirtyBytes < this.#limits.maxDirtyBytes)
      this.#blockedWriters.shift()?.()
  }
}
