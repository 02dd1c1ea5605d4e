/**
 * Page cache of one client node: byte-exact extents with the SN of the lock that each was written under.
 *
 * Written bytes are dirty, then under flush, then clean; read bytes are clean from the start and have SN 0, older than
 * any write. Source: SeqDLM IV-A, Fig. 14; spec/seqdlm 8. Deviation in form only: the extents of all pages are in one
 * map per stripe instead of one list per 4 KB page, and are cut at page edges for display. Without content, consecutive
 * writes form one extent; the behavior is the same as with one extent each.
 */
import { cut, discard, isRun, marker, memoryOf, sliced, type CachedExtent } from './cached-extent.ts'
import { DirtyBucket } from './dirty-bucket.ts'
import { ExtentMap } from './extent-map.ts'
import type { Block, ResourceId } from './messages.ts'
import { EOF, joinedExtents, uncovered, type Extent, type LockRange } from './ranges.ts'
import { yieldTo } from './sn-merge.ts'

interface Stripe {
  readonly resource: ResourceId
  readonly map: ExtentMap<CachedExtent>
  readonly buckets: Map<number, DirtyBucket>
  /** Bucket of the last write. */
  recent: DirtyBucket | null
  /** Ranges that may contain clean bytes, by SN. */
  readonly clean: Map<number, Extent[]>
  /** Reads under way that rely on clean bytes. */
  readers: number
}

export interface PageCacheLimits {
  /** Longest extent kept in one piece: the payload of one flush RPC. */
  readonly maxExtentBytes: number
  /** Clean bytes above which the oldest are dropped. */
  readonly maxCleanBytes: number
}

const SN_OF_READS = 0
const MANY_RUNS = 1024

export class PageCache {
  readonly #limits: PageCacheLimits
  readonly #stripes = new Map<ResourceId, Stripe>()
  /** Stripe of the last call, often the next one, too. */
  #recent: Stripe | null = null
  #dirtyBytes = 0
  #cleanBytes = 0
  /** Extents in the order in which they became clean, the order of reclaiming. Some may already be removed. */
  #cleanRuns: CachedExtent[] = []
  #pruneAt = MANY_RUNS

  constructor(limits: PageCacheLimits) {
    this.#limits = limits
  }

  /** Bytes not acknowledged by a server, including those under flush. */
  get dirtyBytes(): number {
    return this.#dirtyBytes
  }

  get cleanBytes(): number {
    return this.#cleanBytes
  }

  bucket(resource: ResourceId, sn: number): DirtyBucket | undefined {
    return this.#stripes.get(resource)?.buckets.get(sn)
  }

  /** Everything of a stripe that is not on its server. */
  buckets(resource: ResourceId): Iterable<DirtyBucket> {
    return this.#stripes.get(resource)?.buckets.values() ?? []
  }

  deleteBucket({ resource, sn }: DirtyBucket): void {
    const stripe = this.#stripes.get(resource)
    if (stripe === undefined) return
    stripe.buckets.delete(sn)
    if (stripe.recent?.sn === sn) stripe.recent = null
  }

  hasData(resource: ResourceId, sn: number): boolean {
    const stripe = this.#stripes.get(resource)
    return stripe !== undefined && (stripe.buckets.has(sn) || stripe.clean.has(sn))
  }

  /** True if read bytes may be in the cache. */
  hasRead(resource: ResourceId): boolean {
    return this.#stripes.get(resource)?.clean.has(SN_OF_READS) === true
  }

  /** Extents of a stripe, in order; for tests and views. */
  extents(resource: ResourceId): Iterable<CachedExtent> {
    return this.#stripes.get(resource)?.map ?? []
  }

  /** Writes a block under the lock with its SN; bytes of a larger SN stay. Returns its bucket. */
  write(resource: ResourceId, block: Block): DirtyBucket {
    const stripe = this.#stripe(resource)
    const { sn, hole } = block
    const bucket = bucketOf(stripe, sn)
    for (let { start } = block; start < block.end;) {
      const end = hole ? block.end : Math.min(block.end, start + this.#limits.maxExtentBytes)
      if (stripe.map.isFree(start, end)) {
        if (this.#extends(stripe, bucket, block, start, end)) return bucket
        const extent = this.#dirtied(resource, block, start, end)
        stripe.map.put(extent)
        bucket.push(extent)
      } else {
        this.#partRuns(stripe, start, end)
        const replaced = (piece: CachedExtent): void => this.#replaced(stripe, piece)
        for (const won of yieldTo(stripe.map, { start, end, sn }, replaced)) {
          stripe.map.insert(this.#dirtied(resource, block, won.start, won.end))
        }
        bucket.push(marker(resource, start, end, sn, hole))
      }
      start = end
    }
    return bucket
  }

  /** Extends the write before the current position of the map by this one; false if that is not possible. */
  #extends({ map }: Stripe, bucket: DirtyBucket, block: Block, start: number, end: number): boolean {
    const { left } = map
    if (left === undefined || left.end !== start || block.data !== null || block.hole) return false
    if (left.data !== null || left.hole || left.state !== 'dirty' || left !== bucket.last) return false
    if (start !== block.start || left.unit !== end - start || end - left.start > this.#limits.maxExtentBytes)
      return false
    left.end = end
    map.leftGrew()
    this.#dirtyBytes += end - start
    return true
  }

  /**
   * Splits runs that share bytes with start..end into their writes: a cut run would not consist of whole writes any
   * more, and could neither be flushed nor reclaimed write by write.
   */
  #partRuns(stripe: Stripe, start: number, end: number): void {
    for (const e of stripe.map.overlapping(start, end)) if (isRun(e)) this.part(e)
  }

  /** Splits an extent into its writes; for one that was cut or removed, returns their current extents. */
  part(run: CachedExtent): CachedExtent[] {
    const { resource, start, end, unit, sn, hole, isCached } = run
    const { map } = this.#stripe(resource)
    if (isCached) map.delete(run)
    run.isCached = false
    const writes: CachedExtent[] = []
    for (let at = start; at < end; at += unit) {
      const to = Math.min(end, at + unit)
      const write = isCached ? sliced(run, at, to) : marker(resource, at, to, sn, hole)
      if (isCached) map.insert(write)
      writes.push(write)
    }
    return writes
  }

  /** Returns the writes of an extent that share bytes with start..end; splits a run for it. */
  #writesIn(e: CachedExtent, start: number, end: number): CachedExtent[] {
    return isRun(e) ? this.part(e).filter((write) => write.start < end && write.end > start) : [e]
  }

  /** Creates the part start..end of a written block, counted as dirty. */
  #dirtied(resource: ResourceId, block: Block, start: number, end: number): CachedExtent {
    const { sn, hole } = block
    const data = block.data?.subarray(start - block.start, end - block.start) ?? null
    if (!hole) this.#dirtyBytes += end - start
    return { resource, start, end, unit: end - start, sn, data, hole, state: 'dirty', rpcSeq: 0, isCached: true }
  }

  /** Returns dirty extents of a bucket that share bytes with a written one. */
  dirty({ resource, sn }: DirtyBucket, written: CachedExtent): CachedExtent[] {
    const isDirty = (e: CachedExtent): boolean => e.sn === sn && e.state === 'dirty'
    if (written.isCached) return isDirty(written) ? [written] : []
    const { start, end } = written
    const found = this.#stripes.get(resource)?.map.overlapping(start, end) ?? []
    // Later writes may have merged into one extent there, of which some need not share bytes with this one.
    if (found.some(isRun)) return found.filter(isDirty).flatMap((e) => this.#writesIn(e, start, end))
    return found.every(isDirty) ? found : found.filter(isDirty)
  }

  /**
   * Handles the answer to a flush: carried data that was not overwritten becomes clean, or is dropped if its lock is
   * being canceled.
   */
  flushed(resource: ResourceId, rpcSeq: number, carried: readonly CachedExtent[]): void {
    const stripe = this.#stripe(resource)
    let sn = -1
    let isClosing = true
    for (const extent of carried) {
      if (extent.sn !== sn) {
        ;({ sn } = extent)
        isClosing = stripe.buckets.get(sn)?.isClosing ?? true
      }
      if (extent.isCached) this.#cleaned(stripe, extent, isClosing)
      else {
        for (const e of stripe.map.overlapping(extent.start, extent.end)) {
          if (e.state === 'flushing' && e.rpcSeq === rpcSeq) this.#cleaned(stripe, e, isClosing)
        }
      }
    }
    this.#reclaim()
  }

  #cleaned(stripe: Stripe, e: CachedExtent, isClosing: boolean): void {
    this.#account(e, -1)
    if (isClosing) {
      this.#delete(stripe, e)
      return
    }
    e.state = 'clean'
    this.#account(e, 1)
    this.#noteClean(stripe, e)
  }

  /** Returns the parts of start..end that are not in the cache. */
  missing(resource: ResourceId, start: number, end: number): Extent[] {
    const gaps: Extent[] = []
    let at = start
    for (const e of this.#stripes.get(resource)?.map.overlapping(start, end) ?? []) {
      if (e.start > at) gaps.push({ start: at, end: e.start })
      at = e.end
    }
    if (at < end) gaps.push({ start: at, end })
    return gaps
  }

  /** Fills in bytes that a server read, except where something was written meanwhile. */
  fill(resource: ResourceId, start: number, end: number, data: Uint8Array | null): void {
    const stripe = this.#stripe(resource)
    const filled: CachedExtent = {
      resource,
      start,
      end,
      unit: end - start,
      sn: SN_OF_READS,
      data,
      hole: false,
      state: 'clean',
      rpcSeq: 0,
      isCached: true,
    }
    for (const gap of this.missing(resource, start, end)) {
      const extent = sliced(filled, gap.start, gap.end)
      stripe.map.insert(extent)
      this.#account(extent, 1)
      this.#noteClean(stripe, extent)
    }
    this.#reclaim()
  }

  /** Copies cached bytes start..end of an object to `out`, from `at` on. */
  copy(resource: ResourceId, start: number, end: number, out: Uint8Array, at: number): void {
    for (const e of this.#stripes.get(resource)?.map.overlapping(start, end) ?? []) {
      const piece = sliced(e, Math.max(e.start, start), Math.min(e.end, end))
      if (piece.data === null) out.fill(0, at + piece.start - start, at + piece.end - start)
      else out.set(piece.data, at + piece.start - start)
    }
  }

  /** Protects clean bytes of a stripe from being reclaimed while reads rely on them: 1 when a read begins, -1 when it ends. */
  hold(resource: ResourceId, by: 1 | -1): void {
    this.#stripe(resource).readers += by
  }

  /**
   * Returns the end of the object as seen by this client.
   *
   * @param onServer  its end on the server.
   */
  size(resource: ResourceId, onServer: number): number {
    let end = 0
    let cut = EOF
    for (const e of this.#stripes.get(resource)?.map ?? []) {
      if (e.hole && e.end === EOF) cut = e.start
      // Read bytes may be beyond the end; written ones may not.
      else if (!e.hole && e.sn !== SN_OF_READS) end = Math.max(end, e.end)
    }
    return Math.max(end, Math.min(onServer, cut))
  }

  /** Drops clean bytes written under an SN, anywhere. */
  dropSn(resource: ResourceId, sn: number): void {
    const stripe = this.#stripes.get(resource)
    for (const run of stripe?.clean.get(sn) ?? []) this.#dropClean(resource, sn, run)
    stripe?.clean.delete(sn)
  }

  /** Drops bytes read under a lock, except those that other locks cover. */
  dropRead(resource: ResourceId, range: LockRange, covered: readonly LockRange[]): void {
    const stripe = this.#stripes.get(resource)
    const runs = stripe?.clean.get(SN_OF_READS)
    if (stripe === undefined || runs === undefined) return
    const remaining: Extent[] = []
    for (const run of runs) {
      const start = Math.max(run.start, range.start)
      const end = Math.min(run.end, range.end + 1)
      const dropped = start < end ? uncovered({ start, end }, covered) : []
      for (const extent of dropped) this.#dropClean(resource, SN_OF_READS, extent)
      const isDropped = dropped.length === 1 && dropped[0]?.start === run.start && dropped[0].end === run.end
      if (!isDropped) remaining.push(run)
    }
    if (remaining.length === 0) stripe.clean.delete(SN_OF_READS)
    else stripe.clean.set(SN_OF_READS, remaining)
  }

  #noteClean(stripe: Stripe, e: CachedExtent): void {
    const { sn, start, end, hole } = e
    const runs = stripe.clean.get(sn)
    const last = runs?.at(-1)
    if (runs === undefined) stripe.clean.set(sn, [e])
    else if (last?.end === start) runs[runs.length - 1] = { start: last.start, end }
    else runs.push(e)
    // Bytes written and flushed repeatedly under one lock are one run.
    if (runs !== undefined && runs.length >= MANY_RUNS && (runs.length & (runs.length - 1)) === 0) {
      stripe.clean.set(sn, joinedExtents(runs))
    }
    if (!hole) this.#cleanRuns.push(e)
  }

  #reclaim(): void {
    let taken = 0
    for (; this.#cleanBytes > this.#limits.maxCleanBytes && taken < this.#cleanRuns.length; taken++) {
      const oldest = this.#cleanRuns[taken] as CachedExtent
      if (isRun(oldest)) this.#cleanRuns.splice(taken, 1, ...this.part(oldest))
      const { resource, sn, start, end } = this.#cleanRuns[taken] as CachedExtent
      if (this.#stripe(resource).readers > 0) break
      this.#dropClean(resource, sn, { start, end })
    }
    if (taken > 0) this.#cleanRuns = this.#cleanRuns.slice(taken)
    if (this.#cleanRuns.length < this.#pruneAt) return
    // Runs of one SN are contiguous.
    let resource = -1
    let sn = -1
    let isClean = false
    this.#cleanRuns = this.#cleanRuns.filter((r) => {
      if (r.sn !== sn || r.resource !== resource) {
        ;({ resource, sn } = r)
        isClean = this.#stripes.get(resource)?.clean.has(sn) === true
      }
      return isClean
    })
    this.#pruneAt = Math.max(MANY_RUNS, 2 * this.#cleanRuns.length)
  }

  #dropClean(resource: ResourceId, sn: number, { start, end }: Extent): void {
    const stripe = this.#stripes.get(resource)
    if (stripe === undefined) return
    for (const found of stripe.map.overlapping(start, end)) {
      if (found.sn !== sn || found.state !== 'clean') continue
      const isPart = found.start < start || found.end > end
      for (const e of isPart ? this.#writesIn(found, start, end) : [found]) {
        this.#delete(stripe, e)
        this.#account(e, -1)
      }
    }
  }

  #delete(stripe: Stripe, e: CachedExtent): void {
    stripe.map.delete(e)
    discard(e)
  }

  #replaced(stripe: Stripe, piece: CachedExtent): void {
    discard(piece)
    this.#account(piece, -1)
    const bucket = piece.state === 'flushing' ? stripe.buckets.get(piece.sn) : undefined
    if (bucket !== undefined) bucket.isOverwritten = true
  }

  #account(e: CachedExtent, sign: 1 | -1): void {
    if (e.state === 'clean') this.#cleanBytes += sign * memoryOf(e)
    else this.#dirtyBytes += sign * memoryOf(e)
  }

  #stripe(resource: ResourceId): Stripe {
    if (this.#recent?.resource === resource) return this.#recent
    let stripe = this.#stripes.get(resource)
    if (stripe === undefined) {
      stripe = { resource, map: new ExtentMap(cut), buckets: new Map(), recent: null, clean: new Map(), readers: 0 }
      this.#stripes.set(resource, stripe)
    }
    this.#recent = stripe
    return stripe
  }
}

function bucketOf(stripe: Stripe, sn: number): DirtyBucket {
  if (stripe.recent?.sn === sn) return stripe.recent
  let bucket = stripe.buckets.get(sn)
  if (bucket === undefined) stripe.buckets.set(sn, (bucket = new DirtyBucket(stripe.resource, sn)))
  stripe.recent = bucket
  return bucket
}

/** Returns extents in the form of pages: cut at page edges (Fig. 14). */
export function byPage<T extends Extent>(extents: Iterable<T>, pageBytes: number): T[] {
  const out: T[] = []
  for (const e of extents) {
    for (let { start } = e; start < e.end;) {
      const end = Math.min(e.end, start - (start % pageBytes) + pageBytes)
      out.push({ ...e, start, end })
      start = end
    }
  }
  return out
}
