/**
 * The flush daemon of one client node: what goes to which server when.
 *
 * First what a cancel or an fsync waits for, then, above 256 MB of dirty data, the oldest. A flush carries blocks of one stripe,
 * of as many locks as fit, each with its SN. The same byte is never under flush twice with one SN: the server could not tell
 * which is newer (A9). Source: SeqDLM IV-A, IV-C1; spec/seqdlm 8, 10.
 */
import type { DirtyBucket } from './dirty-bucket.ts'
import type { Block, FlushRequest, ResourceId, ServerId } from './messages.ts'
import type { CachedExtent, PageCache } from './page-cache.ts'

export interface FlushLimits {
  /** Dirty bytes at which the daemon begins; it stops below. */
  readonly minDirtyBytes: number
  /** Dirty bytes at which writers wait. */
  readonly maxDirtyBytes: number
  /** Largest flush RPC. */
  readonly maxRpcBytes: number
  /** Flushes under way between a client and a server. */
  readonly maxInFlight: number
}

export interface FlusherHost {
  readonly cache: PageCache
  readonly limits: FlushLimits
  readonly serverOf: (resource: ResourceId) => ServerId
  readonly send: (resource: ResourceId, message: FlushRequest) => void
  /** Called when dirty data became fewer. */
  readonly onLessDirty: () => void
}

interface Flight {
  readonly request: FlushRequest
  readonly buckets: ReadonlySet<DirtyBucket>
}

interface OfServer {
  readonly flights: Map<number, Flight>
  /** Buckets with something to flush: those that somebody waits for, and the others; the oldest first. */
  readonly urgent: Set<DirtyBucket>
  readonly ready: Set<DirtyBucket>
  lastSeq: number
  isDown: boolean
}

/** Buckets looked at for more of the same stripe when a flush is put together. */
const LOOK_AHEAD = 16

export class Flusher {
  readonly #host: FlusherHost
  readonly #servers = new Map<ServerId, OfServer>()
  #bytesInFlight = 0

  constructor(host: FlusherHost) {
    this.#host = host
  }

  /** Something was written. */
  wrote(bucket: DirtyBucket): void {
    const server = this.#of(bucket.resource)
    if (bucket.isUrgent) server.urgent.add(bucket)
    else server.ready.add(bucket)
    this.#pump(server)
  }

  /** Flushes some SNs of a stripe, or all of it; `done` may be called at once. */
  flush(resource: ResourceId, sns: Iterable<number> | null, isClosing: boolean, done: () => void): void {
    const { cache } = this.#host
    const buckets = [...(sns === null ? cache.buckets(resource) : present(sns, (sn) => cache.bucket(resource, sn)))]
    let left = buckets.length
    if (left === 0) {
      done()
      return
    }
    const server = this.#of(resource)
    for (const bucket of buckets) {
      bucket.isClosing ||= isClosing
      bucket.whenDrained(() => {
        if (--left === 0) done()
      })
      server.ready.delete(bucket)
      if (bucket.hasExtents) server.urgent.add(bucket)
    }
    this.#pump(server)
    for (const bucket of buckets) this.#ifDrained(server, bucket)
  }

  /** A flush was answered. Returns whether it was under way. */
  answered(resource: ResourceId, rpcSeq: number): boolean {
    const server = this.#of(resource)
    const flight = server.flights.get(rpcSeq)
    if (flight === undefined) return false
    server.flights.delete(rpcSeq)
    for (const block of flight.request.blocks) {
      this.#bytesInFlight -= sizeOf(block)
      this.#host.cache.flushed(resource, rpcSeq, block)
    }
    for (const bucket of flight.buckets) {
      bucket.flights--
      bucket.recall()
      if (bucket.hasExtents) (bucket.isUrgent ? server.urgent : server.ready).add(bucket)
    }
    this.pump()
    for (const bucket of flight.buckets) this.#ifDrained(server, bucket)
    this.#host.onLessDirty()
    return true
  }

  /** Sends what may be sent now, to every server. */
  pump(): void {
    for (const server of this.#servers.values()) this.#pump(server)
  }

  /** The server is gone: nothing is sent to it until it is back. */
  down(serverId: ServerId): void {
    this.#at(serverId).isDown = true
  }

  /** The server is back: every unanswered flush is repeated, in order; it knows what it had. */
  up(serverId: ServerId): void {
    const server = this.#at(serverId)
    server.isDown = false
    for (const { request } of server.flights.values()) this.#host.send(request.resource, request)
    this.#pump(server)
  }

  #pump(server: OfServer): void {
    const { maxInFlight } = this.#host.limits
    while (!server.isDown && server.flights.size < maxInFlight) {
      const from = server.urgent.size > 0 ? server.urgent : this.#isDaemonDue ? server.ready : undefined
      const bucket = from?.values().next().value
      if (from === undefined || bucket === undefined) return
      this.#sendFrom(server, from, bucket.resource)
    }
  }

  get #isDaemonDue(): boolean {
    const { dirtyBytes } = this.#host.cache
    const { minDirtyBytes, maxDirtyBytes } = this.#host.limits
    return dirtyBytes - this.#bytesInFlight >= minDirtyBytes || dirtyBytes >= maxDirtyBytes
  }

  /** Puts one flush together from the first buckets of a stripe. */
  #sendFrom(server: OfServer, from: Set<DirtyBucket>, resource: ResourceId): void {
    const { maxRpcBytes } = this.#host.limits
    const extents: CachedExtent[] = []
    const buckets = new Set<DirtyBucket>()
    const emptied: DirtyBucket[] = []
    let bytes = 0
    let looks = 0
    for (const bucket of from) {
      if (++looks > LOOK_AHEAD || bytes >= maxRpcBytes) break
      if (bucket.resource !== resource) continue
      const before = extents.length
      bytes += this.#take(server, bucket, maxRpcBytes - bytes, extents)
      if (extents.length > before) buckets.add(bucket)
      if (bucket.hasExtents) break
      from.delete(bucket)
      emptied.push(bucket)
    }
    if (extents.length > 0) {
      const rpcSeq = ++server.lastSeq
      for (const bucket of buckets) bucket.flights++
      this.#bytesInFlight += bytes
      const blocks = onWire(extents)
      const answeredBelow = server.flights.keys().next().value ?? rpcSeq
      const request: FlushRequest = { kind: 'flush-request', resource, rpcSeq, answeredBelow, blocks }
      server.flights.set(rpcSeq, { request, buckets })
      this.#host.send(resource, request)
    }
    for (const bucket of emptied) this.#ifDrained(server, bucket)
  }

  /** Takes dirty extents of a bucket, the oldest first, for the flush with the next number. Returns their bytes. */
  #take(server: OfServer, bucket: DirtyBucket, room: number, extents: CachedExtent[]): number {
    let bytes = 0
    for (let extent = bucket.shift(); extent !== undefined; extent = bucket.shift()) {
      const dirty = this.#host.cache.dirty(bucket, extent)
      let size = 0
      for (const e of dirty) size += sizeOf(e)
      if (bytes + size > room && extents.length > 0) {
        bucket.unshift(extent)
        break
      }
      for (const e of dirty) {
        if (isUnderFlush(server, bucket, e)) {
          bucket.defer(e)
          continue
        }
        e.state = 'flushing'
        e.rpcSeq = server.lastSeq + 1
        extents.push(e)
        bytes += sizeOf(e)
      }
    }
    return bytes
  }

  #ifDrained(server: OfServer, bucket: DirtyBucket): void {
    if (!bucket.isDrained) return
    server.urgent.delete(bucket)
    server.ready.delete(bucket)
    if (this.#host.cache.bucket(bucket.resource, bucket.sn) === bucket) this.#host.cache.deleteBucket(bucket)
    for (const done of bucket.takeWaiters()) done()
  }

  #of(resource: ResourceId): OfServer {
    return this.#at(this.#host.serverOf(resource))
  }

  #at(serverId: ServerId): OfServer {
    let server = this.#servers.get(serverId)
    if (server === undefined) {
      server = { flights: new Map(), urgent: new Set(), ready: new Set(), lastSeq: 0, isDown: false }
      this.#servers.set(serverId, server)
    }
    return server
  }
}

const sizeOf = (b: Block): number => (b.hole ? 0 : b.end - b.start)

function* present<K, T>(keys: Iterable<K>, get: (key: K) => T | undefined): Generator<T, void, void> {
  for (const key of keys) {
    const value = get(key)
    if (value !== undefined) yield value
  }
}

/** Whether some of an extent is on its way with the same SN. */
function isUnderFlush(server: OfServer, bucket: DirtyBucket, e: CachedExtent): boolean {
  if (bucket.flights === 0) return false
  for (const { request, buckets } of server.flights.values()) {
    if (!buckets.has(bucket)) continue
    for (const b of request.blocks) if (b.sn === e.sn && b.start < e.end && b.end > e.start) return true
  }
  return false
}

/** Blocks in order of offset, those that touch and have one SN made one. */
function onWire(extents: CachedExtent[]): Block[] {
  const runs: CachedExtent[][] = []
  for (const e of extents.sort((a, b) => a.start - b.start)) {
    const run = runs.at(-1)
    const last = run?.at(-1)
    if (last !== undefined && last.end === e.start && last.sn === e.sn && !last.hole && !e.hole) run?.push(e)
    else runs.push([e])
  }
  return runs.map(joinedBlock)
}

function joinedBlock(run: readonly CachedExtent[]): Block {
  const [first, last] = [run[0] as CachedExtent, run.at(-1) as CachedExtent]
  const { start, sn, hole } = first
  let { data } = first
  if (run.length > 1 && data !== null) {
    data = new Uint8Array(last.end - start)
    for (const e of run) data.set(e.data as Uint8Array, e.start - start)
  }
  return { start, end: last.end, sn, data, hole }
}
