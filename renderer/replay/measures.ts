/** Formats of the page's values: one scale for a whole series, so that digits do not jitter as the cursor moves. */
import { formatClock } from '#core/base/clock-text.ts'
import { formatNumber, formatRate } from '#core/base/figure-text.ts'

/** Kind of a measure; counts are shortened from 100,000 on, plain values never. */
export type Kind = 'count' | 'bytes' | 'ms' | 'plain'

export interface Scale {
  readonly divisor: number
  readonly decimals: number
  readonly unit: string
}

/** Scale of a series by its largest value. */
export function scaleOf(most: number, kind: Kind, unit: string): Scale {
  if (kind === 'bytes') return formatRate(most)
  if (kind === 'ms') return { divisor: 1, decimals: most >= 100 ? 0 : most >= 10 ? 1 : 2, unit }
  if (kind === 'count' && most >= 1e5) return { divisor: 1e3, decimals: 1, unit: `k ${unit}`.trim() }
  return { divisor: 1, decimals: 0, unit }
}

export const scaled = (value: number | null | undefined, { divisor, decimals }: Scale): string =>
  formatNumber(value === null || value === undefined ? null : value / divisor, decimals)

const two = (value: number): string => String(value).padStart(2, '0')

/** Time in the reader's time zone: `16:32:07 UTC+2`; empty if that is UTC. */
export function localClock(ms: number): string {
  const offset = -new Date(ms).getTimezoneOffset()
  if (offset === 0) return ''
  const size = Math.abs(offset)
  const minutes = size % 60 === 0 ? '' : `:${two(size % 60)}`
  return `${formatClock(ms + offset * 60_000)} UTC${offset < 0 ? '\u2212' : '+'}${Math.floor(size / 60)}${minutes}`
}
