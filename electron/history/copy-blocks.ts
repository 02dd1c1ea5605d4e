/**
 * Copies samples into another file. Blocks of the same time are written next to each other whatever their tier: where a second has
 * one sample they are nearly the same bytes, which makes the file compressible.
 */
import { BlockMeans } from './block-means.ts'
import type { BlockReader } from './block-reader.ts'
import { BlockTable } from './block-table.ts'
import { ALL_KINDS, isPlane, KINDS, pack, unpack, type Columns, type Kind, type Packed } from './block.ts'
import type { Copy } from './copy-rows.ts'
import { beginOf, type FittedDetail } from './fit-to-limits.ts'
import { KeySet } from './key-set.ts'
import { OtherJobsSum } from './other-jobs-sum.ts'
import type { Block } from './reader.ts'
import { floorTo, RAW, SECOND, stepOf, TIER_COUNT } from './tiers.ts'

/** Blocks written per transaction. */
const BLOCKS_AT_ONCE = 64
/** Tier that is completed up to the end of the range. */
const TENS = 2

export interface CopiedSamples {
  readonly blocks: number
  /** Keys of jobs by tier. */
  readonly jobs: readonly KeySet[]
  readonly targets: KeySet
  /** Keys of series of planes. */
  readonly planes: KeySet
}

interface Stream {
  readonly tier: number
  readonly kind: Kind
  readonly blocks: Iterator<Block, void>
  head: Block | undefined
}

export interface CopyBlocksOptions {
  /** undefined: copy everything unchanged. */
  readonly fit?: FittedDetail | undefined
  /** Set to compute means of ten seconds that the source has not made yet. */
  readonly isRolled?: boolean
}

export async function copyBlocks(
  copy: Copy,
  reader: BlockReader,
  { fit, isRolled = false }: CopyBlocksOptions,
): Promise<CopiedSamples> {
  const { cluster, span, to } = copy
  const table = new BlockTable(to)
  const jobs = Array.from({ length: TIER_COUNT }, () => new KeySet())
  const targets = new KeySet()
  const planes = new KeySet()
  const sum = fit && new OtherJobsSum(fit.whole)
  let count = 0
  const last = new LastBlock()
  const put = (tier: number, kind: Kind, block: Block): void => {
    const { atMs, keys, columns } = block
    const isSummed = kind === KINDS.jobs && sum !== undefined && fit?.summed.has(tier) === true
    if (isSummed) {
      const same = last.madeOf(block)
      if (same) {
        table.put({ cluster, kind, tier, atMs, ...same.packed })
        jobs[tier]?.add(same.keys)
        count++
        return
      }
      last.from(block)
    }
    const made = isSummed ? sum.of(block) : { n: keys.length, keys, columns }
    alike(made)
    const packed = pack(kind, made)
    if (isSummed) last.made(packed, made.keys.slice(0, made.n))
    table.put({ cluster, kind, tier, atMs, ...packed })
    if (kind === KINDS.jobs) jobs[tier]?.add(made.keys.subarray(0, made.n))
    else if (kind === KINDS.targets) targets.add(keys)
    else if (kind !== KINDS.cluster) planes.add(keys)
    count++
  }
  const streams = streamsOf(reader, copy, fit, isRolled)
  let atMs = span.fromMs
  for (let isOver = false; !isOver;) {
    to.transaction(() => {
      for (let i = 0; i < BLOCKS_AT_ONCE && !isOver; i++) {
        const next = nextOf(streams)
        isOver = next?.head === undefined
        if (!next?.head) return
        atMs = next.head.atMs
        put(next.tier, next.kind, next.head)
        next.head = next.blocks.next().value ?? undefined
      }
    })()
    await copy.breathe((atMs - span.fromMs) / (span.toMs - span.fromMs))
  }
  return { blocks: count, jobs, targets, planes }
}

function streamsOf(reader: BlockReader, copy: Copy, fit: FittedDetail | undefined, isRolled: boolean): Stream[] {
  const { span } = copy
  const tiers = Array.from({ length: TIER_COUNT }, (_, tier) => tier).filter(
    (tier) => fit?.left.includes(tier) !== true,
  )
  return tiers.flatMap((tier) =>
    ALL_KINDS.filter((kind) => !(isPlane(kind) && fit?.planesLeft.includes(tier) === true)).map((kind) => {
      const kept = reader.between(kind, tier, beginOf(span, tier), span.toMs - 1)
      // Computed means are placed where existing ones would be: an excerpt of the copy is identical.
      const blocks = isRolled && tier === TENS ? joined(kept, tensOf(reader, copy, kind)) : kept[Symbol.iterator]()
      return { tier, kind, blocks, head: blocks.next().value ?? undefined }
    }),
  )
}

function* joined(...parts: readonly Iterable<Block>[]): Generator<Block, void, void> {
  for (const part of parts) yield* part
}

/** Last summed block and its result: a second with a single sample equals that sample and is not summed twice. */
class LastBlock {
  #of: Block | undefined
  #made: { readonly packed: Packed; readonly keys: Uint32Array } | undefined

  from(of: Block): void {
    this.#of = of
    this.#made = undefined
  }

  made(packed: Packed, keys: Uint32Array): void {
    this.#made = { packed, keys }
  }

  /** Result for a block of identical bytes; undefined if the last block was a different one. */
  madeOf({ keys, columns }: Block): { readonly packed: Packed; readonly keys: Uint32Array } | undefined {
    const of = this.#of
    const made = this.#made
    if (!of || !made || of.columns.length !== columns.length || !areSame(of.keys, keys)) return undefined
    return columns.every((c, i) => areSame(c, of.columns[i] as Float32Array)) ? made : undefined
  }
}

const bytesOf = (a: Uint32Array | Float32Array): Buffer => Buffer.from(a.buffer, a.byteOffset, a.byteLength)
const areSame = (a: Uint32Array | Float32Array, b: Uint32Array | Float32Array): boolean =>
  a.length === b.length && bytesOf(a).equals(bytesOf(b))

/** Makes all NaNs bit-identical: which ones arithmetic yields depends on the processor. */
function alike({ n, columns }: Columns): void {
  for (const column of columns) {
    for (let i = 0; i < n; i++) {
      const v = column[i] as number
      if (v !== v) column[i] = NaN
    }
  }
}

/** Stream with the earliest next block; for equal instants the finest tier, jobs first. */
function nextOf(streams: readonly Stream[]): Stream | undefined {
  let next: Stream | undefined
  for (const s of streams) if (s.head && (!next?.head || s.head.atMs < next.head.atMs)) next = s
  return next
}

/**
 * Means of ten seconds after the last one that the source has made; for the interval that contains the end of the range, of the
 * part in it.
 */
function* tensOf(reader: BlockReader, { span }: Copy, kind: Kind): Generator<Block, void, void> {
  const step = stepOf(TENS)
  const made = reader.extent(TENS)
  const from = Math.max(made === undefined ? -Infinity : made.toMs + step, floorTo(span.fromMs, step))
  const means = new BlockMeans(kind)
  let at = from
  for (const block of secondsOf(reader, kind, Math.max(from, beginOf(span, SECOND)), span.toMs)) {
    const interval = floorTo(block.atMs, step)
    if (interval !== at) yield* blockOf(kind, at, means.end())
    at = interval
    means.add(block)
  }
  yield* blockOf(kind, at, means.end())
}

/** Means of seconds; those not made yet are computed from raw samples. */
function* secondsOf(reader: BlockReader, kind: Kind, fromMs: number, toMs: number): Generator<Block, void, void> {
  let from = fromMs
  for (const block of reader.between(kind, SECOND, fromMs, toMs - 1)) {
    yield block
    from = block.atMs + stepOf(SECOND)
  }
  const means = new BlockMeans(kind)
  let at = from
  for (const block of reader.between(kind, RAW, from, toMs - 1)) {
    const second = floorTo(block.atMs, stepOf(SECOND))
    if (second !== at) yield* blockOf(kind, at, means.end())
    at = second
    means.add(block)
  }
  yield* blockOf(kind, at, means.end())
}

function* blockOf(kind: Kind, atMs: number, packed: Packed | undefined): Generator<Block, void, void> {
  const block = packed && unpack(kind, atMs, packed)
  if (block) yield block
}
