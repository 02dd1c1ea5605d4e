/** Formats spans and lengths by the clock shown, and computes the zoom of a day. Days are UTC days, as stored. */
import type { Span } from '#core/api/history.ts'
import { clockShift, formatClock, formatDate, formatDay, formatSpan } from '../../format/units.ts'

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS
export const QUARTER_MS = 15 * MINUTE_MS

export const dayOf = (atMs: number): number => Math.floor(atMs / DAY_MS) * DAY_MS

/** Formats a day as `Thu 19`. */
export const shortDay = (atMs: number): string => formatDate(atMs).split(' ').slice(0, 2).join(' ')

/** Formats a span as `02:30–02:50`; with its day if it is not `dayMs`, with seconds if they are not 0. */
export function rangeText(span: Span, dayMs: number): string {
  const hasSeconds = span.fromMs % MINUTE_MS !== 0 || span.toMs % MINUTE_MS !== 0
  const isFullDay = clockShift(span.toMs) === 0 && span.toMs === dayOf(span.fromMs) + DAY_MS && !hasSeconds
  const end = isFullDay ? '24:00' : formatClock(span.toMs, hasSeconds)
  const day = formatDate(span.fromMs)
  const lastDay = formatDate(span.toMs - 1)
  const clock = `${formatClock(span.fromMs, hasSeconds)}\u2013${lastDay === day ? '' : `${shortDay(span.toMs - 1)} `}${end}`
  return day === formatDay(dayMs) ? clock : `${shortDay(span.fromMs)} ${clock}`
}

/** Formats a retention: `1 h`, `30 d`, `2 years`. */
export function lengthText(ms: number): string {
  if (ms < 2 * DAY_MS && ms % DAY_MS !== 0) return formatSpan(ms)
  const days = ms / DAY_MS
  if (days >= 730 && days % 365 === 0) return `${days / 365} years`
  const hours = Math.round((ms % DAY_MS) / HOUR_MS)
  return hours === 0 || days >= 10 ? `${Math.round(days)} d` : `${Math.floor(days)} d ${hours} h`
}

/** Multiple to which the start of a zoom is rounded down, ms. */
const START_STEP_MS = 10_000
/** Lengths of a zoom, ms. */
const LENGTHS_MS = [1, 2, 5, 15, 30, 60, 120, 240, 480].map((minutes) => minutes * MINUTE_MS)

/** Default zoom: the whole day, or a round length around its data if that is short, so that its ends seldom move. */
export function defaultZoom(day: Span, kept: Span | null): Span {
  if (kept === null) return day
  const fromMs = Math.max(day.fromMs, Math.floor(kept.fromMs / START_STEP_MS) * START_STEP_MS)
  const toMs = Math.min(day.toMs, kept.toMs)
  if (toMs <= fromMs) return day
  const length = LENGTHS_MS.find((ms) => ms >= toMs - fromMs)
  if (length === undefined) return day
  const from = Math.min(fromMs, day.toMs - length)
  return { fromMs: from, toMs: from + length }
}

/** Zooms the shown range by `factor` around its middle; null: the whole day. */
export function zoomed(day: Span, now: Span, factor: number): Span | null {
  const length = Math.max(MINUTE_MS, Math.round(((now.toMs - now.fromMs) * factor) / 1000) * 1000)
  if (length >= day.toMs - day.fromMs) return null
  return shifted(day, { fromMs: Math.round((now.fromMs + now.toMs - length) / 2000) * 1000, toMs: 0 }, length, 0)
}

/** Moves the shown range by `share` of its length, within the day. */
export const panned = (day: Span, now: Span, share: number): Span =>
  shifted(day, now, now.toMs - now.fromMs, share * (now.toMs - now.fromMs))

function shifted(day: Span, now: Span, length: number, byMs: number): Span {
  const fromMs = Math.max(day.fromMs, Math.min(day.toMs - length, now.fromMs + byMs))
  return { fromMs, toMs: fromMs + length }
}
