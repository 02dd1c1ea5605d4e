/**
 * Reduction of samples to a file of bounded size: jobs that keep their samples, and tiers in which the others are summed. Coarser
 * tiers keep every job as long as they fit themselves.
 */
import { deflateRawSync } from 'node:zlib'
import type { Span } from '#core/api/history.ts'
import type { BlockReader } from './block-reader.ts'
import { KINDS } from './block.ts'
import type { Copy, Thinning } from './copy-rows.ts'
import { OTHER_JOBS_KEY, type Reduction } from './reduction.ts'
import { RAW, SECOND, stepOf, TIER_COUNT } from './tiers.ts'

/**
 * Most samples of jobs in a reduced tier; raw samples and seconds with more do not fit. Chosen by the benchmark `history.excerpt`.
 */
export const FIT_JOB_SAMPLES_MAX = 150_000
/** Most deflated bytes of the means of ten seconds, and of a minute; estimated from a few blocks. */
export const FIT_MEANS_BYTES_MAX = 8e6
/** Most bytes of rows of planes in a tier; one with more is left out if there is a coarser one. */
export const FIT_PLANE_BYTES_MAX = 8e6
const PROBES = 3
/** Most instants of a tier; one with more is left out if a coarser one covers the same time. */
export const FIT_INSTANTS_MAX = 12_000

export interface FittedDetail extends Pick<Reduction, 'others' | 'left' | 'planesLeft'> {
  /** Tiers in which the others are summed. */
  readonly summed: ReadonlySet<number>
  /** Keys of the jobs that keep their samples in all tiers, ascending. */
  readonly whole: Uint32Array
}

/** Most moves between jobs; with more the ledger is left out. */
const MOVES_FIT = 200_000
const DECISIONS_MS = 10_000
const PIECE_MS = 60_000

/** Samples by tier and summed RPC/s of one tier, per job. */
class Tally {
  readonly #slots = new Map<number, number>()
  #dense = new Int32Array(2 ** 16).fill(-1)
  keys: number[] = []
  counts: Float64Array<ArrayBufferLike>[]
  work: Float64Array<ArrayBufferLike> = new Float64Array(1024)

  constructor() {
    this.counts = Array.from({ length: TIER_COUNT }, () => new Float64Array(1024))
  }

  /** Counts a tier that has the same jobs at the same times as another. */
  same(tier: number, as: number): void {
    this.counts[tier] = this.counts[as] as Float64Array
  }

  add(tier: number, keys: Uint32Array, rpcs: Float32Array, isScored: boolean): void {
    for (let i = 0; i < keys.length; i++) {
      const slot = this.#slotOf(keys[i] as number)
      const counts = this.counts[tier] as Float64Array
      counts[slot] = (counts[slot] as number) + 1
      const v = rpcs[i] as number
      if (isScored && v === v) this.work[slot] = (this.work[slot] as number) + v
    }
  }

  #slotOf(key: number): number {
    const isNear = key < 2 ** 22
    const known = isNear ? this.#dense[key] : this.#slots.get(key)
    if (known !== undefined && known >= 0) return known
    const slot = this.keys.length
    this.keys.push(key)
    if (slot === this.work.length) {
      const longer = (a: Float64Array<ArrayBufferLike>): Float64Array<ArrayBufferLike> => {
        const made = new Float64Array(2 * a.length)
        made.set(a)
        return made
      }
      this.counts = this.counts.map(longer)
      this.work = longer(this.work)
    }
    if (!isNear) this.#slots.set(key, slot)
    else {
      if (key >= this.#dense.length) {
        const dense = new Int32Array(Math.min(2 ** 22, Math.max(key + 1, 2 * this.#dense.length))).fill(-1)
        dense.set(this.#dense)
        this.#dense = dense
      }
      this.#dense[key] = slot
    }
    return slot
  }
}

/** Start of a span in a tier: that of the interval which contains its beginning. */
export const beginOf = (span: Span, tier: number): number => {
  const step = stepOf(tier)
  return step === 0 ? span.fromMs : Math.floor(span.fromMs / step) * step
}

/** Limits for the data beside the samples. */
export function thinningOf({ from, cluster, span }: Copy): Thinning {
  const moves = from
    .prepare(
      `SELECT count(*) FROM (SELECT 1 FROM adaptbf_moves WHERE source IN (SELECT id FROM source WHERE cluster_id = ?)
       AND at_ms >= ? AND at_ms < ? LIMIT ${MOVES_FIT + 1})`,
    )
    .pluck()
    .get(cluster, span.fromMs, span.toMs)
  return { decisionsMs: DECISIONS_MS, withoutMoves: Number(moves) > MOVES_FIT }
}

interface Size {
  readonly tier: number
  readonly samples: number
  readonly instants: number
  readonly firstMs: number
}

function sizesOf({ from, cluster, span }: Copy): Size[] {
  const of = 'cluster = ? AND tier = ? AND at_ms >= ? AND at_ms < ?'
  const jobs = from.prepare(`SELECT ifnull(sum(n), 0) FROM block WHERE kind = 0 AND ${of}`).pluck()
  const instants = from.prepare(`SELECT count(*) AS n, min(at_ms) AS first FROM instant WHERE ${of}`)
  return Array.from({ length: TIER_COUNT }, (_, tier) => {
    const values = [cluster, tier, beginOf(span, tier), span.toMs]
    const { n, first } = instants.get(...values) as { n: number; first: number | null }
    return { tier, samples: Number(jobs.get(...values)), instants: n, firstMs: first ?? Infinity }
  })
}

/** True if every second has one raw sample with as many jobs; then they are the same jobs, because the second is made of it. */
function isOneASecond({ from, cluster, span }: Copy, sizes: readonly Size[]): boolean {
  const [raw, second] = [RAW, SECOND].map((tier) => sizes.find((s) => s.tier === tier))
  if (!raw || !second || raw.instants !== second.instants || raw.samples !== second.samples) return false
  const of = 'FROM block WHERE kind = 0 AND cluster = ? AND tier = ? AND at_ms >= ? AND at_ms < ? ORDER BY at_ms'
  const rows = (tier: number, step: number): string[] =>
    from
      .prepare(`SELECT (at_ms - at_ms % ${step}) || ' ' || n ${of}`)
      .pluck()
      .all(cluster, tier, beginOf(span, tier), span.toMs) as string[]
  const made = rows(SECOND, 1)
  const taken = rows(RAW, stepOf(SECOND))
  return made.length === taken.length && made.every((row, i) => row === taken[i])
}

/** Tiers with too many instants that a coarser tier can replace. */
const tooMany = (sizes: readonly Size[]): number[] =>
  sizes
    .filter(
      (s) =>
        s.instants > FIT_INSTANTS_MAX &&
        sizes.some((c) => c.tier > s.tier && c.instants > 0 && c.firstMs <= s.firstMs + stepOf(c.tier)),
    )
    .map((s) => s.tier)

/** Tiers of which the rows of planes are too large; the coarsest is never left out. */
function planesTooLarge({ from, cluster, span }: Copy): number[] {
  const bytes = from
    .prepare(
      `SELECT ifnull(sum(length(lead) + length(rest)), 0) FROM block
       WHERE cluster = ? AND kind > ? AND tier = ? AND at_ms >= ? AND at_ms < ?`,
    )
    .pluck()
  return Array.from({ length: TIER_COUNT - 1 }, (_, tier) => tier).filter(
    (tier) => Number(bytes.get(cluster, KINDS.cluster, tier, beginOf(span, tier), span.toMs)) > FIT_PLANE_BYTES_MAX,
  )
}

/** Deflated size of a tier, estimated from a few evenly spaced blocks. */
function deflatedOf({ from, cluster, span }: Copy, { tier, samples, instants }: Size): number {
  const probe = from.prepare(
    'SELECT n, lead, rest FROM block WHERE kind = 0 AND cluster = ? AND tier = ? AND at_ms >= ? AND at_ms < ? ORDER BY at_ms LIMIT 1 OFFSET ?',
  )
  let n = 0
  let bytes = 0
  for (let i = 0; i < PROBES; i++) {
    const skip = Math.floor(((i + 0.5) / PROBES) * instants)
    const row = probe.get(cluster, tier, beginOf(span, tier), span.toMs, skip) as
      { n: number; lead: Buffer; rest: Buffer } | undefined
    if (!row) continue
    n += row.n
    for (const data of [row.lead, row.rest]) bytes += deflateRawSync(data, { level: 1 }).length
  }
  return n === 0 ? 0 : (bytes / n) * samples
}

/**
 * Chooses the reduction of a source that has not been reduced yet.
 *
 * @param keep  job ids that are kept whole first, the busiest first, as far as they fit.
 * @param most  samples of jobs in a tier that is reduced.
 * @returns     undefined if everything fits as it is.
 */
export async function fitToLimits(
  copy: Copy,
  blocks: BlockReader,
  keep: ReadonlySet<string>,
  most = FIT_JOB_SAMPLES_MAX,
): Promise<FittedDetail | undefined> {
  const sizes = sizesOf(copy)
  const limits = tooMany(sizes)
  const isTooLarge = (s: Size): boolean =>
    s.samples > most && (s.tier <= SECOND || deflatedOf(copy, s) > FIT_MEANS_BYTES_MAX)
  const summed = sizes.filter((s) => !limits.includes(s.tier) && isTooLarge(s))
  const planesLeft = planesTooLarge(copy)
  if (summed.length === 0) {
    if (limits.length === 0 && planesLeft.length === 0) return undefined
    return { summed: new Set(), whole: new Uint32Array(0), others: 0, left: limits, planesLeft }
  }
  // Jobs are ranked by the tier that reaches back furthest; of several, the finest.
  const scored = summed.reduce((a, b) => (b.firstMs + stepOf(b.tier) < a.firstMs ? b : a)).tier
  const tally = new Tally()
  const isSame = scored === RAW && summed.some((s) => s.tier === SECOND) && isOneASecond(copy, summed)
  for (const { tier } of summed) {
    if (isSame && tier === SECOND) continue
    for (let from = beginOf(copy.span, tier); from < copy.span.toMs; from += PIECE_MS) {
      const last = Math.min(from + PIECE_MS, copy.span.toMs) - 1
      blocks.eachJobs(tier, from, last, (_, keys, rpcs) => tally.add(tier, keys, rpcs, tier === scored))
      await copy.breathe(0)
    }
  }
  if (isSame) tally.same(SECOND, RAW)
  const kept = keysOf(copy, keep)
  const rank = (slot: number): number =>
    kept.has(tally.keys[slot] as number) ? Infinity : (tally.work[slot] as number)
  const key = (slot: number): number => tally.keys[slot] as number
  const slots = tally.keys
    .map((_, slot) => slot)
    .filter((slot) => key(slot) !== OTHER_JOBS_KEY)
    .sort((a, b) =>
      rank(a) === rank(b)
        ? (tally.work[b] as number) - (tally.work[a] as number) || key(a) - key(b)
        : rank(b) - rank(a),
    )
  const capacity = new Map(summed.map((s) => [s.tier, most - s.instants]))
  const chosen: number[] = []
  for (const slot of slots) {
    const fits = summed.every((s) => (tally.counts[s.tier]?.[slot] ?? 0) <= (capacity.get(s.tier) ?? 0))
    if (fits) {
      chosen.push(key(slot))
      for (const s of summed) capacity.set(s.tier, (capacity.get(s.tier) ?? 0) - (tally.counts[s.tier]?.[slot] ?? 0))
    } else if (rank(slot) !== Infinity) break
  }
  return {
    left: limits,
    planesLeft,
    summed: new Set(summed.map((s) => s.tier)),
    whole: Uint32Array.from(chosen).sort(),
    others: slots.length - chosen.length,
  }
}

function keysOf({ from, cluster }: Copy, jobs: ReadonlySet<string>): ReadonlySet<number> {
  const find = from.prepare('SELECT id FROM job WHERE cluster = ? AND job_id = ?').pluck()
  return new Set([...jobs].flatMap((id) => (find.get(cluster, id) as number | undefined) ?? []))
}
