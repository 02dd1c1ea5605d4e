/**
 * Flush daemon of one client node: order and content of flushes to the servers.
 *
 * Data that a cancel or an fsync waits for goes first, then, above 256 MB of dirty data, the oldest. A flush carries
 * blocks of one stripe, of as many locks as fit, each with its SN. The same byte is never under flush twice with one
 * SN: the server could not tell which is newer (A9). Source: SeqDLM IV-A, IV-C1; spec/seqdlm 8, 10.
 */
import { isRun, type CachedExtent } from './cached-extent.ts'
import { BucketQueue, type DirtyBucket } from './dirty-bucket.ts'
import type { Block, FlushRequest, ResourceId, ServerId } from './messages.ts'
import type { PageCache } from './page-cache.ts'

export interface FlushLimits {
  /** Dirty bytes not yet under flush at which the daemon starts; it stops below. */
  readonly minDirtyBytes: number
  /** Dirty bytes, also those under flush, at which writers wait and the daemon flushes in any case. */
  readonly maxDirtyBytes: number
  /** Largest flush RPC. */
  readonly maxRpcBytes: number
  /** Maximum flushes under way between a client and a server. */
  readonly maxInFlight: number
}

export interface FlusherHost {
  readonly cache: PageCache
  readonly limits: FlushLimits
  readonly serverOf: (resource: ResourceId) => ServerId
  readonly send: (resource: ResourceId, message: FlushRequest) => void
  /** Called when dirty data has decreased. */
  readonly onLessDirty: () => void
}

interface Flight {
  readonly request: FlushRequest
  readonly buckets: readonly DirtyBucket[]
  readonly extents: readonly CachedExtent[]
  readonly bytes: number
}

interface OfServer {
  readonly flights: Map<number, Flight>
  /** Buckets with data to flush: urgent ones, and the rest; oldest first. */
  readonly urgent: BucketQueue
  readonly ready: BucketQueue
  lastSeq: number
  isDown: boolean
}

/** Buckets checked for more data of the same stripe when building a flush. */
const LOOK_AHEAD = 16

export class Flusher {
  readonly #host: FlusherHost
  readonly #servers = new Map<ServerId, OfServer>()
  #bytesInFlight = 0

  constructor(host: FlusherHost) {
    this.#host = host
  }

  /** Called after a write. */
  wrote(bucket: DirtyBucket): void {
    const server = this.#of(bucket.resource)
    if (bucket.isUrgent) server.urgent.add(bucket)
    else server.ready.add(bucket)
    this.#pump(server)
  }

  /** Flushes some SNs of a stripe, or all of it; `done` may be called synchronously. */
  flush(resource: ResourceId, sns: Iterable<number> | null, isClosing: boolean, done: () => void): void {
    const { cache } = this.#host
    const buckets: DirtyBucket[] = sns === null ? [...cache.buckets(resource)] : []
    if (sns !== null) {
      for (const sn of sns) {
        const bucket = cache.bucket(resource, sn)
        if (bucket !== undefined) buckets.push(bucket)
      }
    }
    let remaining = buckets.length
    if (remaining === 0) {
      done()
      return
    }
    const server = this.#of(resource)
    for (const bucket of buckets) {
      bucket.isClosing ||= isClosing
      bucket.whenDrained(() => {
        if (--remaining === 0) done()
      })
      server.ready.delete(bucket)
      if (bucket.hasExtents) server.urgent.add(bucket)
    }
    this.#pump(server)
    for (const bucket of buckets) this.#ifDrained(server, bucket)
  }

  /** Handles the answer to a flush. Returns true if it was under way. */
  answered(resource: ResourceId, rpcSeq: number): boolean {
    const server = this.#of(resource)
    const flight = server.flights.get(rpcSeq)
    if (flight === undefined) return false
    server.flights.delete(rpcSeq)
    this.#bytesInFlight -= flight.bytes
    this.#host.cache.flushed(resource, rpcSeq, flight.extents)
    for (const bucket of flight.buckets) {
      if (--bucket.flights === 0) bucket.isOverwritten = false
      bucket.recall()
      if (bucket.hasExtents) (bucket.isUrgent ? server.urgent : server.ready).add(bucket)
    }
    this.pump()
    for (const bucket of flight.buckets) this.#ifDrained(server, bucket)
    this.#host.onLessDirty()
    return true
  }

  /** Sends all that may be sent now, to every server. */
  pump(): void {
    for (const server of this.#servers.values()) this.#pump(server)
  }

  /** Marks a server as down: nothing is sent to it until it is back. */
  down(serverId: ServerId): void {
    this.#at(serverId).isDown = true
  }

  /** Marks a server as up: repeats every unanswered flush in order; the server recognizes repeats. */
  up(serverId: ServerId): void {
    const server = this.#at(serverId)
    server.isDown = false
    for (const { request } of server.flights.values()) this.#host.send(request.resource, request)
    this.#pump(server)
  }

  #pump(server: OfServer): void {
    const { maxInFlight } = this.#host.limits
    while (!server.isDown && server.flights.size < maxInFlight) {
      const from = server.urgent.first !== null ? server.urgent : server.ready
      const { first } = from
      if (first === null || (from === server.ready && !this.#isDaemonDue)) return
      this.#sendFrom(server, from, first)
    }
  }

  get #isDaemonDue(): boolean {
    const { dirtyBytes } = this.#host.cache
    const { minDirtyBytes, maxDirtyBytes } = this.#host.limits
    return dirtyBytes - this.#bytesInFlight >= minDirtyBytes || dirtyBytes >= maxDirtyBytes
  }

  /** Builds one flush from the first bucket of a queue and the next ones of its stripe. */
  #sendFrom(server: OfServer, from: BucketQueue, first: DirtyBucket): void {
    const { maxRpcBytes } = this.#host.limits
    const { resource } = first
    const extents: CachedExtent[] = []
    const buckets: DirtyBucket[] = []
    const emptied: DirtyBucket[] = []
    let bytes = 0
    let looks = 0
    let next: DirtyBucket | null
    for (let bucket: DirtyBucket | null = first; bucket !== null; bucket = next) {
      if (++looks > LOOK_AHEAD || bytes >= maxRpcBytes) break
      next = bucket.next
      if (bucket.resource !== resource) continue
      const before = extents.length
      bytes += this.#take(server, bucket, maxRpcBytes - bytes, extents)
      if (extents.length > before) buckets.push(bucket)
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
      server.flights.set(rpcSeq, { request, buckets, extents, bytes })
      this.#host.send(resource, request)
    }
    for (const bucket of emptied) this.#ifDrained(server, bucket)
  }

  /** Takes dirty extents of a bucket, oldest first, for the flush with the next number. Returns their bytes. */
  #take(server: OfServer, bucket: DirtyBucket, capacity: number, extents: CachedExtent[]): number {
    let bytes = 0
    for (let extent = bucket.shift(); extent !== undefined; extent = bucket.shift()) {
      const isIntact = extent.isCached && !bucket.isOverwritten
      const size = isIntact && extent.state === 'dirty' ? sizeOf(extent) : 0
      if (isRun(extent) && (!isIntact || bytes + size > capacity)) {
        if (isIntact && bytes + extent.unit > capacity && extents.length > 0) {
          bucket.unshift(extent)
          break
        }
        const writes = this.#host.cache.part(extent)
        for (let i = writes.length - 1; i >= 0; i--) bucket.unshift(writes[i] as CachedExtent)
        continue
      }
      if (isIntact) {
        // Common case: nothing to search, nothing to compare.
        if (extent.state !== 'dirty') continue
        if (bytes + size > capacity && extents.length > 0) {
          bucket.unshift(extent)
          break
        }
        extent.state = 'flushing'
        extent.rpcSeq = server.lastSeq + 1
        extents.push(extent)
        bytes += size
        continue
      }
      const dirty = this.#host.cache.dirty(bucket, extent)
      let dirtyBytes = 0
      for (const e of dirty) dirtyBytes += sizeOf(e)
      if (bytes + dirtyBytes > capacity && extents.length > 0) {
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
      server = {
        flights: new Map(),
        urgent: new BucketQueue(),
        ready: new BucketQueue(),
        lastSeq: 0,
        isDown: false,
      }
      this.#servers.set(serverId, server)
    }
    return server
  }
}

const sizeOf = (b: Block): number => (b.hole ? 0 : b.end - b.start)

/** True if part of an extent is under flush with the same SN. */
function isUnderFlush(server: OfServer, bucket: DirtyBucket, e: CachedExtent): boolean {
  if (!bucket.isOverwritten) return false
  for (const { request, buckets } of server.flights.values()) {
    if (!buckets.includes(bucket)) continue
    for (const b of request.blocks) if (b.sn === e.sn && b.start < e.end && b.end > e.start) return true
  }
  return false
}

/** Blocks in order of offset; touching ones with the same SN are merged. */
function onWire(extents: CachedExtent[]): Block[] {
  for (let i = 1; i < extents.length; i++) {
    if ((extents[i] as CachedExtent).start > (extents[i - 1] as CachedExtent).start) continue
    extents.sort((a, b) => a.start - b.start)
    break
  }
  const blocks: Block[] = []
  for (let i = 0; i < extents.length;) {
    const first = extents[i] as CachedExtent
    let last = first
    let j = i + 1
    for (; j < extents.length && !last.hole; j++) {
      const e = extents[j] as CachedExtent
      if (last.end !== e.start || last.sn !== e.sn || e.hole) break
      last = e
    }
    const { start, sn, hole } = first
    const data = j === i + 1 ? first.data : joinedData(extents, i, j)
    blocks.push({ start, end: last.end, sn, data, hole })
    i = j
  }
  return blocks
}

/** Joins the content of extents i..j - 1, which touch. */
function joinedData(extents: readonly CachedExtent[], i: number, j: number): Uint8Array | null {
  const { start, data } = extents[i] as CachedExtent
  if (data === null) return null
  const out = new Uint8Array((extents[j - 1] as CachedExtent).end - start)
  for (let k = i; k < j; k++) {
    const e = extents[k] as CachedExtent
    out.set(e.data as Uint8Array, e.start - start)
  }
  return out
}
