/**
 * Times as text, UTC: the source's clock, the same on every console. Plain arithmetic on Unix ms (proleptic Gregorian calendar); reads no
 * clock and no time zone.
 */
import { NOTHING } from './figure-text.ts'

const DAY_MS = 86_400_000
const two = (value: number): string => String(value).padStart(2, '0')
/** Modulo with a non-negative result. */
const mod = (a: number, n: number): number => a - n * Math.floor(a / n)

/** Returns year, month (0 to 11), day of the month and day of the week (0: Sunday) of a time. */
export function dateOf(atMs: number): {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly weekday: number
} {
  const days = Math.floor(atMs / DAY_MS)
  // Days since 1 March of year 0, so that the leap day is the last of its year; then eras of 400 years.
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const fromMarch = Math.floor((5 * dayOfYear + 2) / 153)
  const month = (fromMarch + 2) % 12
  return {
    year: yearOfEra + era * 400 + (month < 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1,
    weekday: mod(days + 4, 7),
  }
}

/**
 * `14:32:07`.
 *
 * @param decimals  decimals of the second, for sub-second samples.
 */
export function formatClock(atMs: number | null | undefined, seconds = true, decimals = 0): string {
  if (atMs === null || atMs === undefined) return '--:--:--'
  const ofDay = mod(Math.trunc(atMs), DAY_MS)
  const minutes = `${two(Math.floor(ofDay / 3_600_000))}:${two(Math.floor(ofDay / 60_000) % 60)}`
  const fraction =
    decimals > 0
      ? `.${String(ofDay % 1000)
          .padStart(3, '0')
          .slice(0, decimals)}`
      : ''
  return seconds ? `${minutes}:${two(Math.floor(ofDay / 1000) % 60)}${fraction}` : minutes
}

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** `Thu 19 Nov`. */
export function formatDate(atMs: number | null | undefined): string {
  if (atMs === null || atMs === undefined) return NOTHING
  const { month, day, weekday } = dateOf(atMs)
  return `${DAYS[weekday] ?? ''} ${day} ${MONTHS[month] ?? ''}`
}

/** `2026-11-19 14:32:07`. */
export function formatInstant(atMs: number): string {
  const { year, month, day } = dateOf(atMs)
  return `${String(year).padStart(4, '0')}-${two(month + 1)}-${two(day)} ${formatClock(atMs)}`
}
