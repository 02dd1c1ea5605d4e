/** The pool as gauge and chart show it: one scale with a zero that stays in its place, and its lowest mark in words. */
import type { TokensFrame } from '#core/api/tokens.ts'
import { niceMax, tickStep } from '../../charts/scale.ts'
import { formatNumber, plural } from '../../format/units.ts'
import { inSeconds, shortTokens } from './token-unit.ts'

export interface PoolEnds {
  /** Below zero: room for debt. */
  readonly min: number
  readonly max: number
  readonly step: number
}
/** Part of the scale that is always kept below zero, and the most that debt may take: the zero line seldom moves. */
const LEAST_DEBT = 0.15
const MOST_DEBT = 0.5

/** Tokens the scale must hold, above zero and below. */
export function poolExtent(frame: TokensFrame): { high: number; debt: number } {
  const { pool, series, batch } = frame
  let [high, low] = [Math.max(pool.start ?? 0, pool.now ?? 0), Math.min(0, pool.lowest ?? 0, pool.now ?? 0)]
  for (const values of [series.pool, series.unconverted])
    for (const v of values) {
      if (v !== null && v > high) high = v
      if (v !== null && v < low && values === series.pool) low = v
    }
  // An empty pool has a scale all the same: one batch.
  return { high: Math.max(high, batch, 1), debt: Math.abs(low) }
}

/**
 * Ends that hold an extent. Before it holds, the scale on screen stays: it changes only when something does not fit, or
 * would fill less than half of it. Debt without end (nobody converts, everybody asks again) is cut at half of the scale.
 */
export function poolEnds(before: PoolEnds | null, { high, debt }: { high: number; debt: number }): PoolEnds {
  const fits = before !== null && high <= before.max && high >= before.max * 0.5
  const max = fits ? before.max : high * 1.08
  const room = Math.min(MOST_DEBT * max, Math.max(LEAST_DEBT * max, niceMax(debt)))
  const below = fits ? Math.max(-before.min, room) : room
  return { min: -Math.min(below, MOST_DEBT * max), max, step: tickStep(niceMax(max)) }
}

/** `lowest −12.6 k at 0.929 s, 13 fetches found nothing`; empty while the pool never fell below zero. */
export function lowestWords({ pool }: TokensFrame): string {
  if (pool.lowest === null || pool.lowest >= 0) return ''
  const at = pool.lowestAtMs === null ? '' : ` at ${inSeconds(pool.lowestAtMs)}`
  const empty = pool.emptyFetches > 0 ? `, ${plural(pool.emptyFetches, 'fetch', 'fetches')} found nothing` : ''
  return `lowest ${shortTokens(pool.lowest)}${at}${empty}`
}

/** The gauge in words. */
export function gaugeSays({ pool }: TokensFrame): string {
  if (pool.now === null) return 'No pool: without tokens nothing is handed out.'
  const start = pool.start === null ? '' : `, ${formatNumber(pool.start)} at the start of the period`
  const debt = pool.now < 0 ? ' It is overdrawn: nobody owns what is missing.' : ''
  const lowest = pool.lowest === null ? '' : `, ${formatNumber(pool.lowest)} at its lowest`
  return `Pool: ${formatNumber(pool.now)} tokens${start}${lowest}.${debt}`
}

/** The chart in words. */
export function chartSays(frame: TokensFrame): string {
  const { series, pool } = frame
  const known = series.pool.filter((v) => v !== null)
  if (known.length === 0) return 'Pool over time: nothing was measured.'
  const over = series.span === 'period' ? `period ${frame.epoch}` : 'the last minute'
  const debt = known.filter((v) => v < 0).length / known.length
  const below =
    debt > 0 ? ` It was below zero for ${formatNumber(debt * 100, 1)} % of the time.` : ' It never fell below zero.'
  return `Pool over ${over}: from ${formatNumber(known[0])} to ${formatNumber(known.at(-1))} tokens${
    pool.lowest === null ? '' : `, lowest ${formatNumber(pool.lowest)}`
  }.${below}`
}

/** Ticks of the time axis: quarters of a period, or of a minute. */
export function timeTicks(toMs: number): { ms: number; words: string }[] {
  const inMs = toMs < 100
  const divisor = inMs ? 1 : 1000
  return [0, 1, 2, 3, 4].map((i) => {
    const ms = (toMs * i) / 4
    const text = formatNumber(ms / divisor, Number.isInteger(ms / divisor) ? 0 : 2).replace(/(\.\d)0$/, '$1')
    return { ms, words: i === 0 || i === 4 ? `${text} ${inMs ? 'ms' : 's'}` : text }
  })
}

type Phase = TokensFrame['phases'][number]['kind']

/** What happens in a phase of the period (spec/haechi 5, 6, 7). */
export function phaseWords(kind: Phase, frame: Pick<TokensFrame, 'variant' | 'checkMs'>): string {
  const every = `${formatNumber(frame.checkMs, Number.isInteger(frame.checkMs) ? 0 : 1)} ms`
  switch (kind) {
    case 'dispatch':
      return 'dispatch reservations, set the pool'
    case 'wait':
      return 'wait for the first claim from the pool'
    case 'report':
      return frame.variant === 'haechi'
        ? `report every ${every}, convert what reservations leave unused`
        : `report every ${every}, nothing is converted`
    case 'end':
      return 'count, estimate capacity'
  }
}
