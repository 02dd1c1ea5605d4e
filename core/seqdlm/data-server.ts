/**
 * IO service of one server: flushes through the extent cache to the device, reads, sizes, and cleaning of the cache.
 *
 * Source: SeqDLM IV-B, IV-C; spec/seqdlm 9, 11. Deviation: repeated flushes are recognized by their number and answered
 * again without being repeated, since the SN does not distinguish a repeat of older bytes under the same SN.
 */
import { fail, ok, type Result } from '../base/result.ts'
import type { Device } from './device.ts'
import { ENTRY_THRESHOLD, ExtentCache, type MinSnQuery } from './extent-cache.ts'
import type { ExtentLog } from './extent-log.ts'
import type { Block, ClientId, FlushRequest, FromDataServer, ResourceId, ToDataServer } from './messages.ts'
import { EOF } from './ranges.ts'
import { mergeTouching, type SnExtent } from './sn-merge.ts'

export interface DataServerHost {
  readonly send: (client: ClientId, message: FromDataServer) => void
  readonly device: Device
  readonly minSn: MinSnQuery
  /** Runs a task later, after pending I/O: the cleaning of the extent cache. */
  readonly defer: (task: () => void) => void
  /** Makes every client flush a stripe: takes a PR lock on all of it. `synced` must be called when it is granted. */
  readonly forceSync: (resource: ResourceId) => void
  /** Survives the server; undefined for a server that cannot be recovered. */
  readonly log?: ExtentLog | undefined
  /** Entries above which cleaning starts. */
  readonly threshold?: number | undefined
}

interface Heard {
  /** Every flush below this one was answered, and the client knows it. */
  below: number
  /** Flushes at or above `below`, with a flag for done. */
  readonly done: Map<number, boolean>
}

/** Maximum blocks in one flush: 512 KB of single bytes. */
const MAX_BLOCKS = 524_288

export class DataServer {
  readonly #host: DataServerHost
  readonly #cache = new ExtentCache()
  readonly #heard = new Map<ClientId, Heard>()
  readonly #syncing = new Set<ResourceId>()
  #isCleaning = false

  constructor(host: DataServerHost) {
    this.#host = host
  }

  get cache(): ExtentCache {
    return this.#cache
  }

  /** Stripes on which a forced sync waits for its lock. */
  get syncing(): ReadonlySet<ResourceId> {
    return this.#syncing
  }

  /** Handles one message; a failure is the reason that it had no effect. */
  receive(client: ClientId, message: ToDataServer): Result<void> {
    const { send, device } = this.#host
    const { resource } = message
    if (message.kind === 'flush-request') return this.#flush(client, message)
    const { reqId } = message
    if (message.kind === 'size-request') {
      send(client, { kind: 'size-reply', reqId, size: device.size(resource) })
      return ok(undefined)
    }
    const { start, end } = message
    if (!isExtent(start, end) || end === EOF) return fail(badExtent(client, start, end))
    device.read(resource, start, end, (data) => send(client, { kind: 'read-reply', reqId, start, end, data }))
    return ok(undefined)
  }

  /** Forgets a client's state: its connection is closed, and its messages under way are lost. */
  evict(client: ClientId): void {
    this.#heard.delete(client)
  }

  /** Rebuilds the extent cache after a crash. */
  recover(): void {
    const { log } = this.#host
    for (const resource of log?.resources() ?? []) this.#cache.restore(resource, log!.replay(resource))
  }

  /**
   * Called when the PR lock of a forced sync is granted: every older write is on the device, and the entries are no
   * longer needed.
   */
  synced(resource: ResourceId): void {
    this.#syncing.delete(resource)
    this.#cache.drop(resource)
    this.#host.log?.truncate(resource)
  }

  #flush(client: ClientId, { resource, rpcSeq, answeredBelow, blocks }: FlushRequest): Result<void> {
    const bad = firstBad(blocks)
    if (bad !== undefined || blocks.length > MAX_BLOCKS) return fail(badExtent(client, bad?.start ?? 0, bad?.end ?? 0))
    if (!Number.isSafeInteger(rpcSeq))
      return fail({ code: 'E_RPC_SEQ', what: `A flush of client ${client} has no number` })
    const heard = this.#heardOf(client, answeredBelow)
    const reply = (): void => {
      if (this.#heard.get(client) !== heard) return
      if (heard.done.has(rpcSeq)) heard.done.set(rpcSeq, true)
      this.#host.send(client, { kind: 'flush-reply', resource, rpcSeq })
    }
    const isDone = rpcSeq < heard.below ? true : heard.done.get(rpcSeq)
    if (isDone !== undefined) {
      if (isDone) reply()
      return fail({ code: 'E_REPEATED', what: `Flush ${rpcSeq} of client ${client} was received before` })
    }
    heard.done.set(rpcSeq, false)
    const { log, device } = this.#host
    const updates: SnExtent[] = []
    const writes: Block[] = []
    for (const block of blocks) {
      for (const part of this.#cache.merge(resource, block)) {
        if (log !== undefined) updates.push(part)
        writes.push(cut(block, part.start, part.end))
      }
    }
    device.write(resource, writes, () => {
      log?.append(resource, mergeTouching(updates))
      reply()
    })
    this.#cleanIfDue()
    return ok(undefined)
  }

  #heardOf(client: ClientId, answeredBelow: number): Heard {
    let heard = this.#heard.get(client)
    if (heard === undefined) this.#heard.set(client, (heard = { below: 1, done: new Map() }))
    // Few numbers complete at a time: a client has a bounded number of flushes under way.
    if (answeredBelow > heard.below) {
      heard.below = answeredBelow
      for (const seq of heard.done.keys()) if (seq < answeredBelow) heard.done.delete(seq)
    }
    return heard
  }

  get #threshold(): number {
    return this.#host.threshold ?? ENTRY_THRESHOLD
  }

  #cleanIfDue(): void {
    if (this.#isCleaning || this.#cache.entries <= this.#threshold || this.#syncing.size > 0) return
    this.#isCleaning = true
    this.#cache.beginPass()
    this.#host.defer(() => this.#clean())
  }

  #clean(): void {
    if (this.#cache.clean(this.#host.minSn)) {
      this.#host.defer(() => this.#clean())
      return
    }
    this.#isCleaning = false
    if (this.#cache.entries <= this.#threshold) return
    // The rest belongs to locks that have yet to flush: force a flush.
    for (const resource of [...this.#cache.resources()]) {
      if (this.#syncing.has(resource)) continue
      this.#syncing.add(resource)
      this.#host.forceSync(resource)
    }
  }
}

const isExtent = (start: number, end: number): boolean =>
  Number.isSafeInteger(start) && start >= 0 && (end === EOF || Number.isSafeInteger(end)) && end > start

const isBlock = ({ start, end, sn, data, hole }: Block): boolean =>
  isExtent(start, end) &&
  Number.isSafeInteger(sn) &&
  sn >= 1 &&
  (hole ? data === null : end !== EOF && (data === null || data.length === end - start))

function firstBad(blocks: readonly Block[]): Block | undefined {
  for (const b of blocks) if (!isBlock(b)) return b
  return undefined
}

const badExtent = (client: ClientId, start: number, end: number) => ({
  code: 'E_EXTENT',
  what: `Client ${client} names extent ${start}..${end}, which is not one of this file system`,
  unaffected: 'Nothing was written.',
})

function cut(block: Block, start: number, end: number): Block {
  if (start === block.start && end === block.end) return block
  const data = block.data?.subarray(start - block.start, end - block.start) ?? null
  return { start, end, sn: block.sn, data, hole: block.hole }
}
