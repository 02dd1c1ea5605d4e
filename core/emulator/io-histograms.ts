/**
 * Histograms of a target's disk I/O (`brw_stats`) and of the RPCs that an osc sends (`rpc_stats`).
 *
 * Source: spec/lustre 6.5 and 6.8. Pages are 4 KiB. In brw_stats and in pages per RPC a power-of-two bin holds values up to its
 * label; for offsets and latencies, values from its label up.
 */
import { NS_PER_MS, NS_PER_US } from '../base/units.ts'
import type { BrwCounts, BrwQuantity } from '../lustre/brw-stats.ts'
import type { Bins } from '../lustre/histogram.ts'
import type { RpcCounts, RpcQuantity } from '../lustre/rpc-stats.ts'
import { sizeBin } from '../lustre/size-histogram.ts'

const PAGE_BYTES = 4096
const LAST_BIN = 31

type Op = 'read' | 'write'

const pagesOf = (bytes: number): number => Math.max(1, Math.ceil(bytes / PAGE_BYTES))
const numberBin = (n: number): number => Math.min(LAST_BIN, n)
/** 0, 1, 2..3, 4..7, ... */
const floorBin = (n: number): number => (n < 1 ? 0 : Math.min(LAST_BIN, Math.floor(Math.log2(n)) + 1))

/** Reads and writes by bin, for each quantity. */
class Histograms<Q extends string> {
  readonly counts = new Map<Q, { readonly read: Map<number, number>; readonly write: Map<number, number> }>()

  add(quantity: Q, op: Op, bin: number): void {
    let c = this.counts.get(quantity)
    if (!c) this.counts.set(quantity, (c = { read: new Map(), write: new Map() }))
    c[op].set(bin, (c[op].get(bin) ?? 0) + 1)
  }
}

/** I/O histograms of a target's disk. */
export class BrwHistograms {
  readonly #histograms = new Histograms<BrwQuantity>()
  /** Created or last cleared, virtual ns. */
  startNs: number

  constructor(now = 0) {
    this.startNs = now
  }

  get counts(): ReadonlyMap<BrwQuantity, BrwCounts> {
    return this.#histograms.counts
  }

  /** Counts an I/O when it begins; emulated files are contiguous on disk. `inFlight` includes it. */
  begin(op: Op, bytes: number, inFlight: number): void {
    const h = this.#histograms
    h.add('pages', op, sizeBin(pagesOf(bytes)))
    h.add('discontiguousPages', op, 0)
    h.add('discontiguousBlocks', op, 0)
    h.add('fragments', op, 1)
    h.add('inFlight', op, numberBin(inFlight))
    h.add('sizeBytes', op, sizeBin(bytes))
  }

  /** Counts the duration of an I/O. */
  end(op: Op, tookNs: number): void {
    this.#histograms.add('timeMs', op, sizeBin(Math.round(tookNs / NS_PER_MS)))
  }

  clear(now: number): void {
    this.#histograms.counts.clear()
    this.startNs = now
  }
}

/** RPC histograms of an osc or mdc. */
export class RpcHistograms {
  readonly #histograms = new Histograms<RpcQuantity>()
  readonly #modify = new Map<number, number>()
  /** Created or last cleared, virtual ns. */
  startNs: number

  constructor(now = 0) {
    this.startNs = now
  }

  get counts(): ReadonlyMap<RpcQuantity, RpcCounts> {
    return this.#histograms.counts
  }

  /** Counts an RPC when it is sent: its start offset in the object, and the RPCs of its kind in flight with it. */
  sent(op: Op, offsetBytes: number, bytes: number, inFlight: number): void {
    const h = this.#histograms
    h.add('pages', op, sizeBin(pagesOf(bytes)))
    h.add('inFlight', op, numberBin(inFlight))
    h.add('offset', op, floorBin(Math.floor(offsetBytes / PAGE_BYTES)))
  }

  /** Modifying RPCs by the number in flight when each was sent. */
  get modifyCounts(): Bins {
    return this.#modify
  }

  /** Counts a modifying RPC of an mdc when it is sent; `inFlight` includes it. */
  sentModify(inFlight: number): void {
    const bin = numberBin(inFlight)
    this.#modify.set(bin, (this.#modify.get(bin) ?? 0) + 1)
  }

  /** Counts the round-trip time of an RPC. */
  answered(op: Op, tookNs: number): void {
    this.#histograms.add('latencyUs', op, floorBin(Math.floor(tookNs / NS_PER_US)))
  }

  clear(now: number): void {
    this.#histograms.counts.clear()
    this.#modify.clear()
    this.startNs = now
  }
}
