/** Text formatting of alerts. Names come from users: they are shown as one bounded line of plain text. */
import { withoutControls } from '../base/plain-text.ts'

const NAME_MAX = 120

/** Returns a name as one line without control characters, truncated if long. */
export function named(text: string): string {
  const line = withoutControls(text)
  return line.length <= NAME_MAX ? line : `${line.slice(0, NAME_MAX - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}

/** `0.4`, `12`, `412`, `9949`, `39.6 k`, `124 k`, `1.2 M`. */
export function amount(n: number): string {
  const v = Math.abs(n)
  if (v < 10_000) return n.toFixed(v < 9.95 && !Number.isInteger(n) ? 1 : 0)
  const [value, unit] = v >= 999_500 ? [n / 1e6, 'M'] : [n / 1e3, 'k']
  return `${value.toFixed(Math.abs(value) < 99.95 ? 1 : 0)} ${unit}`
}

/** `9.9 k of 10.2 k`: thousands of a large whole are abbreviated, too. */
export function amountOf(part: number, whole: number): string {
  const isPlain = Math.abs(whole) < 10_000 || Math.abs(part) >= 10_000 || Math.abs(part) < 1_000
  return `${isPlain ? amount(part) : `${(part / 1e3).toFixed(1)} k`} of ${amount(whole)}`
}

/** `×8.1`, `×41`. */
export const times = (n: number): string => `×${n < 10 ? n.toFixed(1) : amount(Math.round(n))}`

/** `12 s`, `4 min 51 s`, `2 h 5 min`. */
export function formatDuration(ms: number): string {
  const s = Math.max(0, Math.round(ms / 1000))
  if (s < 60) return `${s} s`
  if (s < 3_600) return s % 60 === 0 ? `${s / 60} min` : `${Math.floor(s / 60)} min ${s % 60} s`
  const min = Math.round(s / 60)
  return min % 60 === 0 ? `${min / 60} h` : `${Math.floor(min / 60)} h ${min % 60} min`
}
