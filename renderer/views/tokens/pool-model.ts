/** Display model of the pool for gauge and chart: one scale with a stable zero, and texts. */
import type { TokensFrame } from '#core/api/tokens.ts'
import { niceMax, tickStep } from '../../charts/scale.ts'
import { formatNumber, plural } from '../../format/units.ts'
import { inSeconds, shortTokens } from './token-unit.ts'

export interface PoolEnds {
  /** Lower end, below zero: room for debt. */
  readonly min: number
  readonly max: number
  readonly step: number
}
/** Least and largest share of the scale that is below zero, for debt; so the zero line seldom moves. */
const LEAST_DEBT = 0.15
const MOST_DEBT = 0.5

/** Extent that the scale must hold, above and below zero, tokens. */
export function poolExtent(frame: TokensFrame): { high: number; debt: number } {
  const { pool, series, batch } = frame
  let high = Math.max(pool.start ?? 0, pool.now ?? 0)
  let low = Math.min(0, pool.lowest ?? 0, pool.now ?? 0)
  for (const values of [series.pool, series.unconverted])
    for (const v of values) {
      if (v !== null && v > high) high = v
      if (v !== null && v < low && values === series.pool) low = v
    }
  // The scale of an empty pool is one batch.
  return { high: Math.max(high, batch ?? 1, 1), debt: Math.abs(low) }
}

/**
 * Ends of a scale that holds an extent. The scale `before` is kept unless the extent does not fit or would fill less than half
 * of it. Unbounded debt (no conversion, all clients claim again and again) is cut at half of the scale.
 */
export function poolEnds(before: PoolEnds | null, { high, debt }: { high: number; debt: number }): PoolEnds {
  const isReused = before !== null && high <= before.max && high >= before.max * 0.5
  const max = isReused ? before.max : high * 1.08
  const debtHeight = Math.min(MOST_DEBT * max, Math.max(LEAST_DEBT * max, niceMax(debt)))
  const below = isReused ? Math.max(-before.min, debtHeight) : debtHeight
  return { min: -Math.min(below, MOST_DEBT * max), max, step: tickStep(niceMax(max)) }
}

/** Formats the lowest mark: `lowest −12.6 k at 0.929 s, 13 empty fetches`; empty if the pool never fell below zero. */
export function lowestText({ pool }: TokensFrame): string {
  if (pool.lowest === null || pool.lowest >= 0) return ''
  const at = pool.lowestAtMs === null ? '' : ` at ${inSeconds(pool.lowestAtMs)}`
  const empty =
    (pool.emptyFetches ?? 0) > 0 ? `, ${plural(pool.emptyFetches ?? 0, 'empty fetch', 'empty fetches')}` : ''
  return `lowest ${shortTokens(pool.lowest)}${at}${empty}`
}

/** Describes the gauge as text. */
export function describeGauge({ pool }: TokensFrame): string {
  if (pool.now === null) return 'No pool: this variant hands out no tokens.'
  const start = pool.start === null ? '' : `, ${formatNumber(pool.start)} at the start of the period`
  const debt = pool.now < 0 ? ' It is below zero (overclaimed): no client has to return the deficit.' : ''
  const lowest = pool.lowest === null ? '' : `, ${formatNumber(pool.lowest)} at its lowest`
  return `Pool: ${formatNumber(pool.now)} tokens${start}${lowest}.${debt}`
}

/** Describes the chart as text. */
export function describePoolChart(frame: TokensFrame): string {
  const { series, pool } = frame
  const known = series.pool.filter((v) => v !== null)
  if (known.length === 0) return 'Pool over time: no data.'
  const over = series.span === 'period' ? `period ${frame.epoch}` : 'the last minute'
  const debt = known.filter((v) => v < 0).length / known.length
  const below =
    debt > 0 ? ` It was below zero for ${formatNumber(debt * 100, 1)} % of the time.` : ' It never fell below zero.'
  return `Pool over ${over}: from ${formatNumber(known[0])} to ${formatNumber(known.at(-1))} tokens${
    pool.lowest === null ? '' : `, lowest ${formatNumber(pool.lowest)}`
  }.${below}`
}

/** Ticks of the time axis, at quarters of a period or of a minute. */
export function timeTicks(toMs: number): { ms: number; text: string }[] {
  const inMs = toMs < 100
  const divisor = inMs ? 1 : 1000
  return [0, 1, 2, 3, 4].map((i) => {
    const ms = (toMs * i) / 4
    const number = formatNumber(ms / divisor, Number.isInteger(ms / divisor) ? 0 : 2).replace(/(\.\d)0$/, '$1')
    return { ms, text: i === 0 || i === 4 ? `${number} ${inMs ? 'ms' : 's'}` : number }
  })
}

type Phase = TokensFrame['phases'][number]['kind']

/** Describes a phase of the period (spec/haechi 5, 6, 7). */
export function phaseText(kind: Phase, frame: Pick<TokensFrame, 'variant' | 'checkMs'>): string {
  const { checkMs } = frame
  const every = checkMs === null ? 'check' : `${formatNumber(checkMs, Number.isInteger(checkMs) ? 0 : 1)} ms`
  switch (kind) {
    case 'dispatch':
      return 'dispatch reservations, set the pool'
    case 'wait':
      return 'wait for the first claim from the pool'
    case 'report':
      return frame.variant === 'haechi'
        ? `report every ${every}, convert unused reservations`
        : `report every ${every}, nothing is converted`
    case 'end':
      return 'count, estimate capacity'
  }
}
