/** Top jobs of a span, and largest changes between two spans: means of RPC/s by job, user, account or program. */
import type { GroupBy, Span } from '#core/api/history.ts'
import { segmentsOf, type BlockReader, type Segment } from './block-reader.ts'
import { partsOf } from './parts.ts'
import type { HistoryReader, HistoryJob, Mover } from './reader.ts'
import { stepOf } from './tiers.ts'

/** Points per mean. */
const MEAN_POINTS = 1500
/** Bytes of blocks from the first pass that are cached for the second. */
const HELD_MAX = 48 * 2 ** 20
const PAGE_BITS = 12
const PAGE = 1 << PAGE_BITS
/** Most pages of keys: a file of another origin may have arbitrary keys, which are then looked up one by one. */
const PAGES_MAX = 4096

/** Maps keys to groups, in pages: the keys of a span are close together. */
class GroupOfKey {
  readonly #pages: (Int32Array | undefined)[] = []
  readonly #find: (key: number) => number
  readonly #otherSums = new Map<number, number>()
  #count = 0

  constructor(find: (key: number) => number) {
    this.#find = find
  }

  of(key: number): number {
    const number = key >>> PAGE_BITS
    const page = this.#pages[number] ?? this.#page(number)
    if (!page) return this.#other(key)
    const known = page[key & (PAGE - 1)] as number
    return known >= 0 ? known : (page[key & (PAGE - 1)] = this.#find(key))
  }

  #page(number: number): Int32Array | undefined {
    if (this.#count >= PAGES_MAX) return undefined
    this.#count++
    return (this.#pages[number] = new Int32Array(PAGE).fill(-1))
  }

  #other(key: number): number {
    let slot = this.#otherSums.get(key)
    if (slot === undefined) this.#otherSums.set(key, (slot = this.#find(key)))
    return slot
  }
}

interface Group {
  readonly name: string
  readonly user: string
  readonly account: string
}

const groupOf = (by: GroupBy, job: HistoryJob | undefined, key: number): Group => {
  const { jobId = `#${key}`, user = '', account = '', exe = '' } = job ?? {}
  if (by === 'user') return { name: user, user, account: '' }
  if (by === 'account') return { name: account, user: '', account }
  if (by === 'exe') return { name: exe, user: '', account: '' }
  return { name: jobId, user, account }
}

/** Accumulates groups over instants; a gap in a member is a gap of its group. */
class Groups {
  readonly #keys: GroupOfKey
  readonly #byName = new Map<string, number>()
  readonly #isGrouped: boolean
  readonly groups: Group[] = []
  #sums = new Float64Array(256)
  #gaps = new Float64Array(256)
  /** Sums of the members at the current instant. */
  #now = new Float64Array(256)
  #weight = 0
  /** Keys of the previous instant: nearly every instant names the same jobs as the one before it. */
  #lastKeys: Uint32Array = new Uint32Array(0)
  #lastSlots: Int32Array = new Int32Array(0)

  constructor(by: GroupBy, job: (key: number) => HistoryJob | undefined) {
    this.#isGrouped = by !== 'job'
    this.#keys = new GroupOfKey((key) => {
      const group = groupOf(by, job(key), key)
      let slot = this.#byName.get(group.name)
      if (slot === undefined) {
        slot = this.groups.length
        this.#byName.set(group.name, slot)
        this.groups.push(group)
        if (slot === this.#sums.length) this.#grow()
      }
      return slot
    })
  }

  /** Group slot of each key. */
  slotsOf(keys: Uint32Array): Int32Array {
    const last = this.#lastKeys
    const n = keys.length
    let isSame = last.length === n
    for (let i = 0; i < n && isSame; i++) isSame = last[i] === keys[i]
    if (isSame) return this.#lastSlots
    const slots = new Int32Array(n)
    for (let i = 0; i < n; i++) slots[i] = this.#keys.of(keys[i] as number)
    this.#lastKeys = keys
    this.#lastSlots = slots
    return slots
  }

  add(slots: Int32Array, rpcs: Float32Array, weight: number): void {
    this.#weight += weight
    const sums = this.#sums
    const gaps = this.#gaps
    const n = slots.length
    if (!this.#isGrouped) {
      for (let i = 0; i < n; i++) {
        const slot = slots[i] as number
        const v = rpcs[i] as number
        if (v === v) sums[slot] = (sums[slot] as number) + v * weight
        else gaps[slot] = (gaps[slot] as number) + weight
      }
      return
    }
    const now = this.#now
    for (let i = 0; i < n; i++) now[slots[i] as number] = 0
    for (let i = 0; i < n; i++) {
      const slot = slots[i] as number
      now[slot] = (now[slot] as number) + (rpcs[i] as number)
    }
    for (let i = 0; i < n; i++) {
      const slot = slots[i] as number
      const v = now[slot] as number
      if (v === v) sums[slot] = (sums[slot] as number) + v * weight
      else gaps[slot] = (gaps[slot] as number) + weight
      // Reset, so that its other members do not add it again.
      now[slot] = 0
    }
  }

  /** Mean over the instants; 0 for a group with only gaps. */
  mean(slot: number): number {
    const whole = this.#weight - (this.#gaps[slot] ?? 0)
    return whole > 0 ? (this.#sums[slot] ?? 0) / whole : 0
  }

  slotOf(name: string): number | undefined {
    return this.#byName.get(name)
  }

  #grow(): void {
    const longer = (old: Float64Array): Float64Array<ArrayBuffer> => {
      const made = new Float64Array(old.length * 2)
      made.set(old)
      return made
    }
    this.#sums = longer(this.#sums)
    this.#gaps = longer(this.#gaps)
    this.#now = longer(this.#now)
  }
}

type Take = (atMs: number, keys: Uint32Array, rpcs: Float32Array, weight: number) => void

/** Target number of job samples per query. */
const SAMPLES_AT_ONCE = 100_000

/** Iterates over the segments in steps; the file may be written to between two of them. */
function* over(blocks: BlockReader, segments: readonly Segment[], take: Take): Generator<undefined, void, void> {
  for (const s of segments) {
    const kept = blocks.extent(s.tier)
    if (!kept) continue
    const last = Math.min(s.toMs, kept.toMs)
    let widthMs = Math.max(1_000, stepOf(s.tier))
    for (let from = Math.max(s.fromMs, kept.fromMs); from <= last;) {
      const to = Math.min(last, from + widthMs - 1)
      let n = 0
      blocks.eachJobs(s.tier, from, to, (atMs, keys, rpcs) => {
        n += keys.length
        take(atMs, keys, rpcs, s.weight)
      })
      from = to + 1
      // Adapts the width to that number.
      if (n < SAMPLES_AT_ONCE / 2) widthMs *= 2
      else if (n > SAMPLES_AT_ONCE) widthMs = Math.max(1, Math.floor(widthMs / 2))
      if (n > SAMPLES_AT_ONCE / 4) yield
    }
  }
}

type Job = (key: number) => HistoryJob | undefined

/** Accumulates the chosen groups by part of the span. */
class Curves {
  readonly #rowOf: Int32Array
  readonly #parts: number
  readonly #now: Float64Array
  readonly #sums: Float64Array
  readonly #gaps: Uint32Array
  readonly #counts: Uint32Array

  constructor(rowOf: Int32Array, rows: number, parts: number) {
    this.#rowOf = rowOf
    this.#parts = parts
    this.#now = new Float64Array(rows)
    this.#sums = new Float64Array(rows * parts)
    this.#gaps = new Uint32Array(rows * parts)
    this.#counts = new Uint32Array(parts)
  }

  add(slots: Int32Array, rpcs: Float32Array, part: number): void {
    const rowOf = this.#rowOf
    const now = this.#now.fill(0)
    const counts = this.#counts
    counts[part] = (counts[part] as number) + 1
    for (let i = 0; i < slots.length; i++) {
      const row = rowOf[slots[i] as number] as number
      if (row >= 0) now[row] = (now[row] as number) + (rpcs[i] as number)
    }
    for (let row = 0; row < now.length; row++) {
      const at = row * this.#parts + part
      const v = now[row] as number
      if (v === v) this.#sums[at] = (this.#sums[at] as number) + v
      else this.#gaps[at] = (this.#gaps[at] as number) + 1
    }
  }

  values(row: number): (number | null)[] {
    return Array.from(this.#counts, (count, part) => {
      const at = row * this.#parts + part
      const n = count - (this.#gaps[at] as number)
      return n > 0 ? (this.#sums[at] as number) / n : null
    })
  }
}

export function* topOf(
  blocks: BlockReader,
  job: Job,
  span: Span,
  { by, limit, points }: { readonly by: GroupBy; readonly limit: number; readonly points: number },
): Generator<undefined, ReturnType<HistoryReader['top']>, void> {
  const segments = segmentsOf(blocks, span.fromMs, span.toMs, points)
  const groups = new Groups(by, job)
  const instants: number[] = []
  let held: { slots: Int32Array; rpcs: Float32Array }[] | undefined = []
  let bytes = 0
  yield* over(blocks, segments, (atMs, keys, rpcs, weight) => {
    const slots = groups.slotsOf(keys)
    groups.add(slots, rpcs, weight)
    instants.push(atMs)
    bytes += rpcs.byteLength * 2
    if (bytes > HELD_MAX) held = undefined
    held?.push({ slots, rpcs })
  })
  const least = stepOf(segments[0]?.tier ?? 0)
  const { t, of } = partsOf(Float64Array.from(instants), span.fromMs, span.toMs, points, least)
  const order = groups.groups.map((_, slot) => slot)
  order.sort((a, b) => groups.mean(b) - groups.mean(a) || a - b)
  const chosen = order.slice(0, limit)
  const rowOf = new Int32Array(groups.groups.length).fill(-1)
  chosen.forEach((slot, row) => (rowOf[slot] = row))
  const curves = new Curves(rowOf, chosen.length, t.length)
  let i = 0
  if (held) for (const { slots, rpcs } of held) curves.add(slots, rpcs, of[i++] as number)
  else yield* over(blocks, segments, (_, keys, rpcs) => curves.add(groups.slotsOf(keys), rpcs, of[i++] as number))
  const series = chosen.map((slot, row) => ({
    name: groups.groups[slot]?.name ?? '',
    mean: groups.mean(slot),
    values: curves.values(row),
  }))
  return { t, series }
}

export function* moversOf(
  blocks: BlockReader,
  job: Job,
  spans: { readonly a: Span; readonly b: Span },
  by: GroupBy,
  limit: number,
): Generator<undefined, ReturnType<HistoryReader['movers']>, void> {
  const means = function* (span: Span): Generator<undefined, Groups, void> {
    const groups = new Groups(by, job)
    yield* over(blocks, segmentsOf(blocks, span.fromMs, span.toMs, MEAN_POINTS), (_, keys, rpcs, weight) =>
      groups.add(groups.slotsOf(keys), rpcs, weight),
    )
    return groups
  }
  const inA = yield* means(spans.a)
  const inB = yield* means(spans.b)
  const meanIn = (groups: Groups, name: string): number => {
    const slot = groups.slotOf(name)
    return slot === undefined ? 0 : groups.mean(slot)
  }
  const all = new Map([...inA.groups, ...inB.groups].map((g) => [g.name, g]))
  const rows: Mover[] = [...all.values()].map((g) => ({ ...g, a: meanIn(inA, g.name), b: meanIn(inB, g.name) }))
  rows.sort((x, y) => Math.abs(y.b - y.a) - Math.abs(x.b - x.a) || (x.name < y.name ? -1 : 1))
  const rest = rows.splice(limit)
  const sum = (of: (m: Mover) => number): number => rest.reduce((n, m) => n + of(m), 0)
  return { rows, rest: { names: rest.length, a: sum((m) => m.a), b: sum((m) => m.b) } }
}
