/** Time axis shared by all plots of a range: ms from its start, between the same margins. */
import { formatNumber } from '../../format/units.ts'

export interface Plot {
  readonly width: number
  /** Left margin for names and ticks, px. */
  readonly left: number
  readonly spanMs: number
  /** Start of the known part, ms; the part before it is drawn as a gap. */
  readonly knownFrom?: number
}
export const RIGHT_PX = 14

export const plotX = ({ width, left, spanMs }: Plot, t: number): number =>
  left + (t / spanMs) * Math.max(1, width - left - RIGHT_PX)

/** Converts a pixel to a time, clamped to the range. */
export const plotTime = ({ width, left, spanMs }: Plot, x: number): number =>
  Math.max(0, Math.min(spanMs, ((x - left) / Math.max(1, width - left - RIGHT_PX)) * spanMs))

const STEPS = [1, 2, 2.5, 5, 10]

/** Returns a round step that divides `range` into at most `parts`. */
export function roundStep(range: number, parts: number): number {
  const least = range / parts
  const power = 10 ** Math.floor(Math.log10(least))
  return (STEPS.find((step) => step * power >= least * 0.9999) ?? 10) * power
}

/** Ticks of the time axis with their labels; the first includes the unit. */
export function timeTicks(spanMs: number, parts = 6): { at: number; text: string }[] {
  const step = roundStep(spanMs, parts)
  const [unit, name] = spanMs >= 1000 ? [1000, 's'] : spanMs < 1 ? [0.001, '\u00B5s'] : [1, 'ms']
  const decimals = Number.isInteger(step / unit) ? 0 : Number.isInteger((step / unit) * 10) ? 1 : 2
  return Array.from({ length: Math.floor(spanMs / step + 1e-6) + 1 }, (_, i) => ({
    at: i * step,
    text: i === 0 ? `0 ${name}` : formatNumber((i * step) / unit, decimals),
  }))
}

/** Decimals for times of a range: three significant digits of its length. */
export const timeDecimals = (spanMs: number): number => Math.max(0, Math.min(3, 2 - Math.floor(Math.log10(spanMs))))

/** Formats a time of the range as `31.4 ms`. */
export const timeText = (t: number, spanMs: number): string => `${formatNumber(t, timeDecimals(spanMs))} ms`

/** Formats a duration by its size: `38 \u00B5s`, `6.9 ms`, `180 ms`. */
export function waitText(ms: number): string {
  if (ms < 1) return `${formatNumber(ms * 1000)} \u00B5s`
  return `${formatNumber(ms, ms < 100 ? 1 : 0)} ms`
}
