/**
 * State at a time that no sample states: the known jobs (active in the hour before, as in memory), and the record of a
 * job that was idle since it last changed.
 */
import type { KnownJobs } from '../cluster/cluster-view.ts'
import { JOB_COLUMNS, type Block } from '../history/reader.ts'
import type { BlockCache } from './block-cache.ts'
import type { RecordedJobRegistry } from './job-registry.ts'
import type { RecordedTier } from './tiers.ts'

const KNOWN_MS = 3_600_000
const MINUTE_MS = 60_000
const RECORD = JOB_COLUMNS.indexOf('record')
const REST = JOB_COLUMNS.indexOf('recordRest')

/** Stored record, joined from its two parts. */
export const recordIn = (block: Block, i: number): number => {
  const rest = block.columns[REST]?.[i] ?? 0
  return (block.columns[RECORD]?.[i] ?? NaN) + (rest === rest ? rest : 0)
}

/** Samples before a time whose states are computed with its own, for steps back. */
const BACK = 16
/** Maximum cached states. */
const HELD = 2 * BACK

interface State {
  /** Time at which a slot last occurred in a block; -Infinity: not within the hour. */
  seen: Float64Array
  /** Its last record; NaN if none. */
  records: Float64Array
}

const copied = ({ seen, records }: State): State => ({ seen: seen.slice(), records: records.slice() })

export interface JobsAt {
  readonly known: KnownJobs
  /** Records by slot. */
  readonly records: Float64Array
}

export class StateAt {
  readonly #cache: BlockCache
  readonly #registry: RecordedJobRegistry
  readonly #tiers: readonly RecordedTier[]
  /** Times of the finest tier used, ascending. */
  readonly #times: Float64Array
  /** States at the beginning of a minute, most recently used last. */
  readonly #minutes = new Map<number, State>()
  /** States after samples, by the index of the sample, most recently used last; immutable. */
  readonly #held = new Map<number, State>()
  #known: { readonly slots: Int32Array; readonly known: KnownJobs } = {
    slots: new Int32Array(),
    known: { jobs: [], names: [] },
  }

  /** @param tiers  finest first; `times` belong to the first. */
  constructor(cache: BlockCache, registry: RecordedJobRegistry, tiers: readonly RecordedTier[], times: Float64Array) {
    this.#cache = cache
    this.#registry = registry
    this.#tiers = tiers
    this.#times = times
  }

  /** @param index  index in `times`. */
  at(index: number): JobsAt {
    const atMs = this.#times[index] as number
    const state = this.#stateAt(index)
    return { known: this.#knownOf(state, atMs), records: this.#fitted(state).records }
  }

  #stateAt(index: number): State {
    let [near, state] = this.#near(index)
    while (near < index) {
      this.#keep(near, state)
      state = copied(state)
      this.#applySamples(state, ++near, near)
    }
    this.#keep(index, state)
    return state
  }

  #keep(index: number, state: State): void {
    this.#held.delete(index)
    this.#held.set(index, state)
    if (this.#held.size > HELD) this.#held.delete(this.#held.keys().next().value as number)
  }

  /** Cached state at or shortly before a time, else a new one. */
  #near(index: number): [index: number, state: State] {
    for (let i = index; i >= Math.max(0, index - BACK); i--) {
      const held = this.#held.get(i)
      if (held) return [i, held]
    }
    const minute = Math.floor((this.#times[index] as number) / MINUTE_MS) * MINUTE_MS
    const first = this.#before(minute - 0.5)
    const before = Math.max(first, index - BACK)
    const state = copied(this.#atMinute(minute))
    if (before > first) this.#apply(state, minute, this.#times[before] as number, before)
    return [before, state]
  }

  #atMinute(minute: number): State {
    const minuteState = this.#minutes.get(minute)
    if (minuteState) {
      this.#minutes.delete(minute)
      this.#minutes.set(minute, minuteState)
      return minuteState
    }
    const state: State = { seen: new Float64Array(), records: new Float64Array() }
    this.#apply(state, minute - KNOWN_MS, minute - 1, undefined)
    this.#minutes.set(minute, state)
    if (this.#minutes.size > 4) this.#minutes.delete(this.#minutes.keys().next().value as number)
    return state
  }

  /**
   * Applies the blocks in [fromMs, toMs]: of the coarsest tier as far as its intervals are whole, then of finer ones.
   */
  #apply(state: State, fromMs: number, toMs: number, index: number | undefined): void {
    let at = fromMs
    for (const tier of this.#tiers.slice(1).toReversed()) {
      const end = Math.min(Math.floor((toMs + 1) / tier.stepMs) * tier.stepMs, tier.toMs + tier.stepMs)
      const begin = Math.max(Math.ceil(at / tier.stepMs) * tier.stepMs, tier.fromMs)
      if (begin >= end) continue
      const instants: number[] = []
      for (let t = begin; t < end; t += tier.stepMs) instants.push(t)
      this.#cache.fill('jobs', tier.id, instants)
      for (const t of instants) this.#name(state, this.#cache.block('jobs', tier.id, t))
      at = end
    }
    const finest = this.#tiers[0]
    if (!finest) return
    const last = index ?? this.#before(toMs)
    const first = this.#before(at - 0.5) + 1
    this.#applySamples(state, first, last)
  }

  /** Applies the blocks of the samples [first, last]. */
  #applySamples(state: State, first: number, last: number): void {
    const finest = this.#tiers[0]
    if (!finest || last < first) return
    this.#cache.fill('jobs', finest.id, Array.from(this.#times.subarray(first, last + 1)))
    for (let i = first; i <= last; i++) {
      this.#name(state, this.#cache.block('jobs', finest.id, this.#times[i] as number))
    }
  }

  /** Index of the last time at or before `atMs`; -1 if none. */
  #before(atMs: number): number {
    let lo = 0
    let hi = this.#times.length
    while (lo < hi) {
      const mid = (lo + hi) >> 1
      if ((this.#times[mid] as number) <= atMs) lo = mid + 1
      else hi = mid
    }
    return lo - 1
  }

  #name(state: State, block: Block | undefined): void {
    if (!block) return
    const { atMs } = block
    const slots = this.#registry.slotsIn(block)
    const { seen, records } = this.#fitted(state)
    const record = block.columns[RECORD] as Float32Array
    const rest = block.columns[REST]
    for (let i = 0; i < slots.length; i++) {
      const slot = slots[i] as number
      seen[slot] = atMs
      const v = record[i] as number
      if (v === v) records[slot] = v + ((rest?.[i] as number) || 0)
    }
  }

  /** State resized to all slots. */
  #fitted(state: State): State {
    const size = this.#registry.size
    if (state.seen.length < size) {
      const longer = (old: Float64Array, fill: number): Float64Array => {
        const made = new Float64Array(Math.ceil(size * 1.25)).fill(fill)
        made.set(old)
        return made
      }
      state.seen = longer(state.seen, -Infinity)
      state.records = longer(state.records, NaN)
    }
    return state
  }

  /** Returns the same lists while the same jobs are known, so that lookups by name are cached. */
  #knownOf(state: State, atMs: number): KnownJobs {
    const { jobs } = this.#registry
    const slots = new Int32Array(jobs.length)
    const { firstMs } = this.#registry
    let n = 0
    for (let slot = 0; slot < jobs.length; slot++) {
      const seenMs = state.seen[slot] ?? -Infinity
      if (seenMs <= atMs - KNOWN_MS && !(Math.abs(state.records[slot] ?? NaN) > 0)) continue
      if (seenMs === -Infinity || (firstMs[slot] as number) > atMs) continue
      slots[n++] = slot
    }
    const old = this.#known.slots
    let isSame = old.length === n
    for (let i = 0; i < n && isSame; i++) isSame = old[i] === slots[i]
    if (!isSame) {
      const list = Array.from(slots.subarray(0, n), (s) => jobs[s]!)
      this.#known = { slots: slots.slice(0, n), known: { jobs: list, names: list.map((j) => j.jobId) } }
    }
    return this.#known.known
  }
}
