/** UTC calendar fields from Unix seconds; the model uses neither a system clock nor a system calendar. */

const two = (n: number): string => String(n).padStart(2, '0')
const WEEKDAYS = ['Thu', 'Fri', 'Sat', 'Sun', 'Mon', 'Tue', 'Wed'] as const
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const

export interface Calendar {
  /** `Fri` and `Nov`. */
  readonly weekday: string
  readonly monthName: string
  /** Day of the month, from 1. */
  readonly day: number
  /** `2025-11-21` and `13:30:00`. */
  readonly date: string
  readonly time: string
}

/**
 * Source: Hinnant, "chrono-compatible low-level date algorithms", civil_from_days: years begin in March, so that the leap day is last.
 *
 * @param unixSeconds  whole, 0 or later.
 */
export function utc(unixSeconds: number): Calendar {
  const days = Math.floor(unixSeconds / 86_400)
  const second = unixSeconds % 86_400
  const z = days + 719_468
  const era = Math.floor(z / 146_097)
  const ofEra = z % 146_097
  const year = Math.floor(
    (ofEra - Math.floor(ofEra / 1460) + Math.floor(ofEra / 36_524) - Math.floor(ofEra / 146_096)) / 365,
  )
  const ofYear = ofEra - (365 * year + Math.floor(year / 4) - Math.floor(year / 100))
  const march = Math.floor((5 * ofYear + 2) / 153)
  const day = ofYear - Math.floor((153 * march + 2) / 5) + 1
  const month = march < 10 ? march + 3 : march - 9
  const years = year + era * 400 + (month <= 2 ? 1 : 0)
  return {
    weekday: WEEKDAYS[days % 7] ?? '',
    monthName: MONTHS[month - 1] ?? '',
    day,
    date: `${String(years).padStart(4, '0')}-${two(month)}-${two(day)}`,
    time: [second / 3600, (second % 3600) / 60, second % 60].map((n) => two(Math.floor(n))).join(':'),
  }
}
