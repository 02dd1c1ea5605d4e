/**
 * The page cache of one client node: byte-exact extents with the SN of the lock that each was written under.
 *
 * Written bytes are dirty, then under flush, then clean; bytes that were read are clean from the start and have SN 0, older
 * than any write. Source: SeqDLM IV-A, Fig. 14; spec/seqdlm 8. Deviation in form only: the extents of all pages lie in one map
 * per stripe instead of one list per 4 KB page, and are cut at page edges where they are shown.
 */
import { DirtyBucket } from './dirty-bucket.ts'
import { ExtentMap } from './extent-map.ts'
import type { Block, ResourceId } from './messages.ts'
import { EOF, type Extent, type LockRange } from './ranges.ts'
import { yieldTo } from './sn-merge.ts'

export interface CachedExtent extends Block {
  state: 'clean' | 'dirty' | 'flushing'
  /** Number of the flush that carries it, while it is under flush. */
  rpcSeq: number
}

const sliced = (e: CachedExtent, start: number, end: number): CachedExtent => {
  const { sn, hole, state, rpcSeq } = e
  return { start, end, sn, data: e.data?.subarray(start - e.start, end - e.start) ?? null, hole, state, rpcSeq }
}

/** Bytes of memory that an extent takes; a hole takes none. */
const memoryOf = (e: CachedExtent): number => (e.hole ? 0 : e.end - e.start)

interface Stripe {
  readonly map: ExtentMap<CachedExtent>
  readonly buckets: Map<number, DirtyBucket>
  /** Where clean bytes of an SN may be. */
  readonly clean: Map<number, Extent[]>
  /** Reads under way, which count on clean bytes. */
  readers: number
}

/** Where clean pages go first when there are too many. */
interface CleanRun extends Extent {
  readonly resource: ResourceId
  readonly sn: number
}

export interface PageCacheLimits {
  /** Longest extent that is kept in one piece: what one flush RPC carries. */
  readonly maxExtentBytes: number
  /** Clean bytes above which the oldest are dropped. */
  readonly maxCleanBytes: number
}

const SN_OF_READS = 0
const MANY_RUNS = 1024

export class PageCache {
  readonly #limits: PageCacheLimits
  readonly #stripes = new Map<ResourceId, Stripe>()
  #dirtyBytes = 0
  #cleanBytes = 0
  #cleanRuns: CleanRun[] = []
  #pruneAt = MANY_RUNS

  constructor(limits: PageCacheLimits) {
    this.#limits = limits
  }

  /** Bytes that no server has acknowledged, those under flush among them. */
  get dirtyBytes(): number {
    return this.#dirtyBytes
  }

  get cleanBytes(): number {
    return this.#cleanBytes
  }

  bucket(resource: ResourceId, sn: number): DirtyBucket | undefined {
    return this.#stripes.get(resource)?.buckets.get(sn)
  }

  /** Everything on a stripe that is not on its server. */
  buckets(resource: ResourceId): Iterable<DirtyBucket> {
    return this.#stripes.get(resource)?.buckets.values() ?? []
  }

  deleteBucket({ resource, sn }: DirtyBucket): void {
    this.#stripes.get(resource)?.buckets.delete(sn)
  }

  hasData(resource: ResourceId, sn: number): boolean {
    const stripe = this.#stripes.get(resource)
    return stripe !== undefined && (stripe.buckets.has(sn) || stripe.clean.has(sn))
  }

  /** Whether bytes that were read may be in the cache. */
  hasRead(resource: ResourceId): boolean {
    return this.#stripes.get(resource)?.clean.has(SN_OF_READS) === true
  }

  /** Extents of a stripe, in order; for tests and views. */
  extents(resource: ResourceId): Iterable<CachedExtent> {
    return this.#stripes.get(resource)?.map ?? []
  }

  /** Writes a block under the lock with its SN; bytes of a larger SN stay. Returns the bucket it is now part of. */
  write(resource: ResourceId, block: Block): DirtyBucket {
    const stripe = this.#stripe(resource)
    const { sn, hole } = block
    let bucket = stripe.buckets.get(sn)
    if (bucket === undefined) stripe.buckets.set(sn, (bucket = new DirtyBucket(resource, sn)))
    for (let { start } = block; start < block.end;) {
      const end = hole ? block.end : Math.min(block.end, start + this.#limits.maxExtentBytes)
      for (const won of yieldTo(stripe.map, { start, end, sn }, this.#forget)) {
        const data = block.data?.subarray(won.start - block.start, won.end - block.start) ?? null
        const extent: CachedExtent = { start: won.start, end: won.end, sn, data, hole, state: 'dirty', rpcSeq: 0 }
        stripe.map.insert(extent)
        this.#account(extent, 1)
      }
      bucket.push({ start, end })
      start = end
    }
    return bucket
  }

  /** Dirty extents of an SN that share bytes with an extent. */
  dirty({ resource, sn }: DirtyBucket, { start, end }: Extent): CachedExtent[] {
    const found = this.#stripes.get(resource)?.map.overlapping(start, end) ?? []
    const isDirty = (e: CachedExtent): boolean => e.sn === sn && e.state === 'dirty'
    return found.every(isDirty) ? found : found.filter(isDirty)
  }

  /** A flush was answered: what it carried and nobody overwrote is clean, or gone where its lock is on its way out. */
  flushed(resource: ResourceId, rpcSeq: number, block: Extent & { readonly sn: number }): void {
    const stripe = this.#stripe(resource)
    const isClosing = stripe.buckets.get(block.sn)?.isClosing ?? true
    for (const e of stripe.map.overlapping(block.start, block.end)) {
      if (e.state !== 'flushing' || e.rpcSeq !== rpcSeq) continue
      this.#account(e, -1)
      if (isClosing) {
        stripe.map.delete(e)
        continue
      }
      e.state = 'clean'
      this.#account(e, 1)
      this.#noteClean(resource, stripe, e)
    }
    this.#reclaim()
  }

  /** Parts of start..end that are not in the cache. */
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

  /** Takes what a server read, where nothing was written meanwhile. */
  fill(resource: ResourceId, start: number, end: number, data: Uint8Array | null): void {
    const stripe = this.#stripe(resource)
    const whole: CachedExtent = { start, end, sn: SN_OF_READS, data, hole: false, state: 'clean', rpcSeq: 0 }
    for (const gap of this.missing(resource, start, end)) {
      const extent = sliced(whole, gap.start, gap.end)
      stripe.map.insert(extent)
      this.#account(extent, 1)
      this.#noteClean(resource, stripe, extent)
    }
    this.#reclaim()
  }

  /** Copies what is in the cache of an object's bytes start..end to `out`, from `at` on. */
  copy(resource: ResourceId, start: number, end: number, out: Uint8Array, at: number): void {
    for (const e of this.#stripes.get(resource)?.map.overlapping(start, end) ?? []) {
      const piece = sliced(e, Math.max(e.start, start), Math.min(e.end, end))
      if (piece.data === null) out.fill(0, at + piece.start - start, at + piece.end - start)
      else out.set(piece.data, at + piece.start - start)
    }
  }

  /** Keeps clean bytes of a stripe from being reclaimed while reads count on them. */
  hold(resource: ResourceId, by: 1 | -1): void {
    this.#stripe(resource).readers += by
  }

  /**
   * End of the object as this client sees it.
   *
   * @param onServer  its end on the server.
   */
  size(resource: ResourceId, onServer: number): number {
    let end = 0
    let cut = EOF
    for (const e of this.#stripes.get(resource)?.map ?? []) {
      if (e.hole && e.end === EOF) cut = e.start
      // What was read may lie beyond the end; what was written may not.
      else if (!e.hole && e.sn !== SN_OF_READS) end = Math.max(end, e.end)
    }
    return Math.max(end, Math.min(onServer, cut))
  }

  /** Drops clean bytes that were written under an SN, wherever they are. */
  dropSn(resource: ResourceId, sn: number): void {
    const stripe = this.#stripes.get(resource)
    for (const run of stripe?.clean.get(sn) ?? []) this.#dropClean(resource, sn, run)
    stripe?.clean.delete(sn)
  }

  /** Drops bytes that were read under a lock, but for what other locks vouch for. */
  dropRead(resource: ResourceId, range: LockRange, others: readonly LockRange[]): void {
    const stripe = this.#stripes.get(resource)
    const runs = stripe?.clean.get(SN_OF_READS)
    if (stripe === undefined || runs === undefined) return
    const kept: Extent[] = []
    for (const run of runs) {
      const [start, end] = [Math.max(run.start, range.start), Math.min(run.end, range.end + 1)]
      const gone = start < end ? uncovered({ start, end }, others) : []
      for (const extent of gone) this.#dropClean(resource, SN_OF_READS, extent)
      const isAllGone = gone.length === 1 && gone[0]?.start === run.start && gone[0].end === run.end
      if (!isAllGone) kept.push(run)
    }
    if (kept.length === 0) stripe.clean.delete(SN_OF_READS)
    else stripe.clean.set(SN_OF_READS, kept)
  }

  #noteClean(resource: ResourceId, stripe: Stripe, { sn, start, end, hole }: CachedExtent): void {
    const runs = stripe.clean.get(sn)
    const last = runs?.at(-1)
    if (runs === undefined) stripe.clean.set(sn, [{ start, end }])
    else if (last?.end === start) runs[runs.length - 1] = { start: last.start, end }
    else runs.push({ start, end })
    // Bytes that are written and flushed again and again under one lock are one run.
    if (runs !== undefined && runs.length >= MANY_RUNS && (runs.length & (runs.length - 1)) === 0) {
      stripe.clean.set(sn, joinedExtents(runs))
    }
    if (!hole) this.#cleanRuns.push({ resource, sn, start, end })
  }

  #reclaim(): void {
    let taken = 0
    for (; this.#cleanBytes > this.#limits.maxCleanBytes && taken < this.#cleanRuns.length; taken++) {
      const { resource, sn, start, end } = this.#cleanRuns[taken] as CleanRun
      if (this.#stripe(resource).readers > 0) break
      this.#dropClean(resource, sn, { start, end })
    }
    if (taken > 0) this.#cleanRuns = this.#cleanRuns.slice(taken)
    if (this.#cleanRuns.length < this.#pruneAt) return
    this.#cleanRuns = this.#cleanRuns.filter((r) => this.#stripes.get(r.resource)?.clean.has(r.sn))
    this.#pruneAt = Math.max(MANY_RUNS, 2 * this.#cleanRuns.length)
  }

  #dropClean(resource: ResourceId, sn: number, { start, end }: Extent): void {
    const map = this.#stripes.get(resource)?.map
    for (const e of map?.overlapping(start, end) ?? []) {
      if (e.sn !== sn || e.state !== 'clean') continue
      map?.delete(e)
      this.#account(e, -1)
    }
  }

  readonly #forget = (piece: CachedExtent): void => this.#account(piece, -1)

  #account(e: CachedExtent, sign: 1 | -1): void {
    if (e.state === 'clean') this.#cleanBytes += sign * memoryOf(e)
    else this.#dirtyBytes += sign * memoryOf(e)
  }

  #stripe(resource: ResourceId): Stripe {
    let stripe = this.#stripes.get(resource)
    if (stripe === undefined) {
      stripe = { map: new ExtentMap(sliced), buckets: new Map(), clean: new Map(), readers: 0 }
      this.#stripes.set(resource, stripe)
    }
    return stripe
  }
}

/** Parts of an extent that none of these locks covers. */
function uncovered({ start, end }: Extent, locks: readonly LockRange[]): Extent[] {
  const gaps: Extent[] = []
  let at = start
  for (const lock of [...locks].sort((a, b) => a.start - b.start)) {
    if (lock.end < at) continue
    if (lock.start >= end) break
    if (lock.start > at) gaps.push({ start: at, end: lock.start })
    at = lock.end + 1
  }
  if (at < end) gaps.push({ start: at, end })
  return gaps
}

function joinedExtents(runs: readonly Extent[]): Extent[] {
  const out: Extent[] = []
  for (const r of [...runs].sort((a, b) => a.start - b.start)) {
    const last = out.at(-1)
    if (last !== undefined && r.start <= last.end)
      out[out.length - 1] = { start: last.start, end: Math.max(last.end, r.end) }
    else out.push(r)
  }
  return out
}

/** Extents as the pages hold them: cut at page edges (Fig. 14). */
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
