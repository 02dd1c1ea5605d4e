/** Describes what an excerpt lacks. Derived from the excerpt itself, so that an excerpt of it reports the same. */
import type { Database } from 'better-sqlite3'
import type { Span } from '#core/api/history.ts'
import { BlockReader } from './block-reader.ts'
import type { Copy } from './copy-rows.ts'
import { beginOf } from './fit-to-limits.ts'
import { cadenceOf, missingFrom } from './parts.ts'
import type { Reduction } from './reduction.ts'
import { stepOf, TIER_COUNT } from './tiers.ts'

const RANGES_MAX = 100
const TEXT_MAX = 500
/** A connection is reported as lost a little before or after the last sample. */
const NEAR_MS = 10_000
const TIER_NAMES = ['raw samples', 'means of a second', 'means of ten seconds', 'means of a minute']
const REASONS: Readonly<Record<string, string>> = {
  retention: 'retention expired',
  quota: 'the history had reached its quota',
  disk: 'the disk was full',
}

/** Ranges of a span with samples of a tier, and the shortest interval that counts as a gap. */
function rangesOf(reader: BlockReader, span: Span, tier: number): { readonly of: Span[]; readonly leastMs: number } {
  const instants = reader.instants(tier, beginOf(span, tier), span.toMs - 1)
  const cadence = cadenceOf(instants, stepOf(tier))
  const leastMs = missingFrom(cadence)
  const of: { fromMs: number; toMs: number }[] = []
  for (const at of instants) {
    const last = of.at(-1)
    if (last && at - (last.toMs - cadence) <= leastMs) last.toMs = at + cadence
    else of.push({ fromMs: at, toMs: at + cadence })
  }
  return { of, leastMs }
}

/** Parts of `all` not in `covered`; pieces shorter than `leastMs` are dropped. */
function without(all: readonly Span[], covered: readonly Span[], leastMs: number): Span[] {
  const out: Span[] = []
  let i = 0
  for (const { fromMs, toMs } of all) {
    let from = fromMs
    while (i > 0 && (covered[i - 1] as Span).toMs > fromMs) i--
    for (; i < covered.length && (covered[i] as Span).fromMs < toMs; i++) {
      const c = covered[i] as Span
      if (c.fromMs - from >= leastMs) out.push({ fromMs: from, toMs: c.fromMs })
      from = Math.max(from, c.toMs)
    }
    if (toMs - from >= leastMs) out.push({ fromMs: from, toMs })
  }
  return out
}

/** Recorded reason for missing samples of a range. */
function reasonOf(db: Database, { fromMs, toMs }: Span, tier: number | undefined): string {
  const evicted = db
    .prepare(
      'SELECT reason FROM eviction WHERE from_ms < ? AND to_ms >= ? AND (? IS NULL OR tier < ?) ORDER BY tier LIMIT 1',
    )
    .pluck()
    .get(toMs, fromMs, tier ?? null, tier ?? null) as string | undefined
  if (evicted !== undefined) return `evicted: ${REASONS[evicted] ?? 'unknown reason'}`
  if (tier !== undefined) return ''
  const from = Math.round(fromMs - NEAR_MS)
  const to = Math.round(toMs + NEAR_MS)
  const started = db.prepare('SELECT 1 FROM source WHERE started_ms BETWEEN ? AND ? LIMIT 1').get(from, to)
  if (started !== undefined) return 'Sluice was not running'
  const lost = db
    .prepare(`SELECT text FROM event WHERE kind = 'lost' AND at_ms BETWEEN ? AND ? ORDER BY at_ms LIMIT 1`)
    .pluck()
    .get(from, to) as string | undefined
  return (lost ?? '').slice(0, TEXT_MAX)
}

/**
 * Part of a piece without finer samples that a coarser tier covers: all of it where finer samples were evicted, otherwise its
 * whole intervals; one that begins or ends with finer samples is made of those.
 */
function coveredOf(db: Database, piece: Span, tier: number): Span | undefined {
  if (reasonOf(db, piece, tier) !== '') return piece
  const step = stepOf(tier)
  const fromMs = Math.ceil(piece.fromMs / step) * step
  const toMs = Math.floor(piece.toMs / step) * step
  return toMs > fromMs ? { fromMs, toMs } : undefined
}

/** Sorted, with adjacent ranges merged. */
function joined(spans: readonly Span[]): Span[] {
  const out: { fromMs: number; toMs: number }[] = []
  for (const { fromMs, toMs } of spans.toSorted((a, b) => a.fromMs - b.fromMs)) {
    const last = out.at(-1)
    if (last && fromMs <= last.toMs) last.toMs = Math.max(last.toMs, toMs)
    else out.push({ fromMs, toMs })
  }
  return out
}

const timeOf = (ms: number): string =>
  new Date(Math.round(ms))
    .toISOString()
    .replace('T', ' ')
    .replace(/\.000Z$|Z$/, '')
const rangeOf = ({ fromMs, toMs }: Span): string => {
  const from = timeOf(fromMs)
  const to = timeOf(toMs)
  return `${from} to ${from.slice(0, 10) === to.slice(0, 10) ? to.slice(11) : to} UTC`
}

export function missingOf({ to, cluster, span }: Copy, reduction: Reduction | undefined): string[] {
  const reader = new BlockReader(to, cluster, true)
  const found: { readonly at: Span; readonly text: string }[] = []
  const report = (at: Span, text: string, tier?: number): void => {
    const why = reasonOf(to, at, tier)
    found.push({ at, text: `${rangeOf(at)}: ${text}${why === '' ? '' : ` (${why})`}` })
  }
  let holes: Span[] = [span]
  let finest: number | undefined
  for (let tier = 0; tier < TIER_COUNT; tier++) {
    const { of, leastMs } = rangesOf(reader, span, tier)
    if (of.length === 0) continue
    const uncovered = without(holes, of, finest === undefined ? leastMs : 1)
    if (finest !== undefined) {
      for (const piece of without(holes, uncovered, 1)) {
        const covered = coveredOf(to, piece, tier)
        if (covered) report(covered, `${TIER_NAMES[tier] ?? ''} and coarser only`, tier)
        uncovered.push(...without([piece], covered ? [covered] : [], 1))
      }
    }
    finest ??= tier
    holes = joined(uncovered)
  }
  for (const at of holes) report(at, 'no data')
  found.sort((a, b) => a.at.fromMs - b.at.fromMs)
  const out = [
    ...(reduction?.left ?? []).map((tier) => `Omitted, because there are too many: ${TIER_NAMES[tier] ?? ''}`),
    ...(reduction?.planesLeft ?? []).map(
      (tier) => `Omitted of locks, metadata and tokens, because there are too many: ${TIER_NAMES[tier] ?? ''}`,
    ),
    ...(finest !== undefined && finest > 0 && reduction?.left.includes(0) !== true
      ? [`Finest resolution of the range: ${TIER_NAMES[finest] ?? ''}`]
      : []),
    ...(reduction && reduction.others > 0
      ? [`${reduction.others} jobs are aggregated in the finest resolution; coarser means are kept per job`]
      : []),
    ...(reduction?.withoutMoves === true ? ['Token transfers between jobs: omitted, because there are too many'] : []),
    ...(reduction && to.prepare('SELECT 1 FROM decision LIMIT 1').get() !== undefined
      ? ['Controller decisions: one per target in ten seconds']
      : []),
    ...found.slice(0, RANGES_MAX).map((f) => f.text),
  ]
  if (found.length > RANGES_MAX) out.push(`${found.length - RANGES_MAX} more ranges with missing samples`)
  return out
}
