/** Recorded series on the axis of their own samples, numbered from 1: the values that views show at one sample. */
import { JOB_COLUMNS as LIVE_JOB, TARGET_COLUMNS as LIVE_TARGET } from '../cluster/state/recent.ts'
import type { SeriesAt } from '../cluster/cluster-view.ts'
import { JOB_COLUMNS, TARGET_COLUMNS, type Block } from '../history/reader.ts'
import { positionOf, type BlockCache, type BlockKind } from './block-cache.ts'
import type { RecordedJobRegistry } from './job-registry.ts'
import type { RecordedTier } from './tiers.ts'

/** Column of a block for each column in memory; -1: not stored. */
export const JOB_AT: readonly number[] = LIVE_JOB.map((c) => (JOB_COLUMNS as readonly string[]).indexOf(c))
export const TARGET_AT: readonly number[] = LIVE_TARGET.map((c) => (TARGET_COLUMNS as readonly string[]).indexOf(c))
const RECORD = LIVE_JOB.indexOf('record')
const RECORD_AT = JOB_COLUMNS.indexOf('record')

/** Times of samples, and the range of the last `n` samples: never across a gap. */
export class Axis {
  readonly times: Float64Array
  readonly stepMs: number

  constructor(times: Float64Array, stepMs: number) {
    this.times = times
    this.stepMs = stepMs
  }

  get newest(): number {
    return this.times.length
  }

  get oldest(): number {
    return Math.min(1, this.times.length)
  }

  atMs(sample: number): number {
    return this.times[sample - 1] ?? NaN
  }

  sampleAt(atMs: number): number {
    let lo = 1
    let hi = this.times.length
    while (lo < hi) {
      const mid = (lo + hi) >> 1
      if ((this.times[mid - 1] as number) < atMs) lo = mid + 1
      else hi = mid
    }
    return lo
  }

  /** First of the last `n` samples up to one, without those further back than `n` intervals. */
  from(sample: number, n: number): number {
    const since = this.atMs(sample) - (n - 0.5) * this.stepMs
    let from = sample
    while (from > Math.max(1, sample - n + 1) && this.atMs(from - 1) > since) from--
    return from
  }
}

abstract class SampleTable implements SeriesAt {
  readonly axis: Axis
  readonly #cache: BlockCache
  readonly #kind: BlockKind
  readonly #tier: RecordedTier

  constructor(axis: Axis, cache: BlockCache, kind: BlockKind, tier: RecordedTier) {
    this.axis = axis
    this.#cache = cache
    this.#kind = kind
    this.#tier = tier
  }

  get newest(): number {
    return this.axis.newest
  }
  get oldest(): number {
    return this.axis.oldest
  }
  atMs(sample: number): number {
    return this.axis.atMs(sample)
  }
  sampleAt(atMs: number): number {
    return this.axis.sampleAt(atMs)
  }
  value(name: string, column: number, sample: number): number {
    return this.mean(name, column, sample, 1)
  }
  mean(name: string, column: number, sample: number, n: number): number {
    return this.means([name], column, sample, n)[0] as number
  }
  abstract means(names: readonly string[], column: number, sample: number, n: number): Float64Array

  /** Blocks of the last `n` samples, oldest first. */
  protected blocks(sample: number, n: number): Block[] {
    if (!(sample >= 1 && sample <= this.axis.newest)) return []
    const from = this.axis.from(sample, n)
    const { times } = this.axis
    if (sample > from) this.#cache.fill(this.#kind, this.#tier.id, Array.from(times.subarray(from - 1, sample)))
    const out: Block[] = []
    for (let s = from; s <= sample; s++) {
      const block = this.#cache.block(this.#kind, this.#tier.id, this.axis.atMs(s))
      if (block) out.push(block)
    }
    return out
  }
}

/** Samples of targets. A target that a block does not name was not measured. */
export class TargetSamples extends SampleTable {
  readonly #keys: ReadonlyMap<string, number>

  constructor(axis: Axis, cache: BlockCache, tier: RecordedTier, keys: ReadonlyMap<string, number>) {
    super(axis, cache, 'targets', tier)
    this.#keys = keys
  }

  means(names: readonly string[], column: number, sample: number, n: number): Float64Array {
    const at = TARGET_AT[column] ?? -1
    const blocks = at < 0 ? [] : this.blocks(sample, n)
    return Float64Array.from(names, (name) => {
      const key = this.#keys.get(name)
      let sum = 0
      let count = 0
      let guess = 0
      for (const b of key === undefined ? [] : blocks) {
        const i = positionOf(b.keys, key as number, guess)
        const v = i < 0 ? NaN : (b.columns[at]?.[i] ?? NaN)
        if (i >= 0) guess = i
        if (v !== v) continue
        sum += v
        count++
      }
      return count === 0 ? NaN : sum / count
    })
  }
}

/** Samples of jobs. A job that a block does not name was idle in it; its record is unchanged. */
export class JobSamples extends SampleTable {
  readonly #registry: RecordedJobRegistry
  readonly #recordsAt: (sample: number) => Float64Array
  /** Sums by slot, reused for every column. */
  #sums = new Float64Array()
  #gaps = new Uint16Array()

  constructor(
    axis: Axis,
    cache: BlockCache,
    tier: RecordedTier,
    registry: RecordedJobRegistry,
    recordsAt: (sample: number) => Float64Array,
  ) {
    super(axis, cache, 'jobs', tier)
    this.#registry = registry
    this.#recordsAt = recordsAt
  }

  means(names: readonly string[], column: number, sample: number, n: number): Float64Array {
    const at = JOB_AT[column] ?? -1
    if (at < 0 || !(sample >= 1)) return new Float64Array(names.length).fill(NaN)
    const slots = this.#registry.slotsOf(names)
    if (column === RECORD) return this.#records(slots, sample)
    const blocks = this.blocks(sample, n)
    const parts = blocks.map((b) => ({ of: this.#registry.slotsIn(b), values: b.columns[at] as Float32Array }))
    const { sums, gaps, hasGaps } = this.#added(parts)
    const all = blocks.length
    const firstMs = blocks[0]?.atMs ?? Infinity
    const births = this.#registry.firstMs
    const out = new Float64Array(names.length)
    if (!hasGaps && all > 0 && this.#registry.latestOf(names) <= firstMs) {
      for (let k = 0; k < out.length; k++) out[k] = (sums[slots[k] as number] as number) / all
      return out
    }
    for (let k = 0; k < out.length; k++) {
      const slot = slots[k] as number
      if (slot < 0) {
        out[k] = NaN
        continue
      }
      // Before its first sample a job is absent, not idle.
      const bornMs = births[slot] as number
      const there = bornMs <= firstMs ? all : blocks.filter((b) => b.atMs >= bornMs).length
      const count = there - (gaps[slot] as number)
      out[k] = count > 0 ? (sums[slot] as number) / count : NaN
    }
    return out
  }

  /** Sums of the values in the parts, by slot, with the number of gaps. */
  #added(parts: readonly { of: Int32Array; values: Float32Array }[]) {
    const { size } = this.#registry
    if (this.#sums.length < size) {
      this.#sums = new Float64Array(Math.ceil(size * 1.25))
      this.#gaps = new Uint16Array(this.#sums.length)
    }
    const sums = this.#sums.fill(0)
    const gaps = this.#gaps.fill(0)
    let hasGaps = false
    for (const { of, values } of parts) {
      for (let i = 0; i < of.length; i++) {
        const v = values[i] as number
        const slot = of[i] as number
        if (v === v) sums[slot] = (sums[slot] as number) + v
        else {
          gaps[slot] = (gaps[slot] as number) + 1
          hasGaps = true
        }
      }
    }
    return { sums, gaps, hasGaps }
  }

  /** Records at one sample: as in its block, a gap included, else unchanged since the last change. */
  #records(slots: Int32Array, sample: number): Float64Array {
    const lastRecords = this.#recordsAt(sample)
    const out = new Float64Array(slots.length)
    for (let k = 0; k < slots.length; k++) out[k] = lastRecords[slots[k] as number] ?? NaN
    const block = this.blocks(sample, 1)[0]
    if (!block) return out
    // Records that the block names are already included.
    const gaps = new Set<number>()
    const of = this.#registry.slotsIn(block)
    const records = block.columns[RECORD_AT] as Float32Array
    for (let i = 0; i < of.length; i++) if (Number.isNaN(records[i])) gaps.add(of[i] as number)
    if (gaps.size > 0) for (let k = 0; k < slots.length; k++) if (gaps.has(slots[k] as number)) out[k] = NaN
    return out
  }
}
