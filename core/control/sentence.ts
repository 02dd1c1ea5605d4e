/**
 * Sentences with figures. Figures stay numbers until display, so that a window can group and highlight them, and a terminal can print the
 * same text.
 */

/** A number with its unit. */
export interface Figure {
  readonly value: number
  /** Unit, for example `RPC/s`; empty for a bare number. */
  readonly unit: string
  /** Decimals; none by default. */
  readonly digits?: number
}

export type Sentence = readonly (string | Figure)[]

/** Groups digits by thousands from five digits on, separated by narrow no-break spaces: `19 200`. */
export function grouped(value: number, digits = 0): string {
  const [whole = '', rest] = value.toFixed(digits).split('.')
  const isLong = whole.replace('-', '').length > 4
  const threes = isLong ? whole.replace(/\B(?=(\d{3})+$)/g, '\u202f') : whole
  return rest === undefined ? threes : `${threes}.${rest}`
}

const print = (f: Figure, group: typeof grouped): string =>
  group(f.value, f.digits ?? 0) + (f.unit === '' ? '' : ` ${f.unit}`)

/** Formats a sentence as plain text. */
export const formatSentence = (sentence: Sentence, group: typeof grouped = grouped): string =>
  sentence.map((part) => (typeof part === 'string' ? part : print(part, group))).join('')

/** Formats a sentence as spans; the strong ones are its figures with their units. */
export const spans = (sentence: Sentence, group: typeof grouped = grouped): { text: string; strong: boolean }[] =>
  sentence.map((part) =>
    typeof part === 'string' ? { text: part, strong: false } : { text: print(part, group), strong: true },
  )

/** `1 job`, `41 jobs`. */
export const counted = (n: number, noun: string, plural = `${noun}s`): string =>
  `${grouped(n)} ${n === 1 ? noun : plural}`

/** Formats a list of names: all of them up to `most`, else the first ones and the number of the rest. */
export function listed(names: readonly string[], most = 4): string {
  if (names.length <= most) return names.join(', ')
  return `${names.slice(0, most - 1).join(', ')} and ${grouped(names.length - most + 1)} more`
}

const BYTE_RATES = ['B/s', 'kB/s', 'MB/s', 'GB/s', 'TB/s'] as const

/** Formats bytes per second in decimal units, to two or three digits: 5.0 GB/s, 157 MB/s. */
export function byteRate(bytesPerSec: number): Figure {
  let value = bytesPerSec
  let i = 0
  while (value >= 999.5 && i < BYTE_RATES.length - 1) {
    value /= 1000
    i++
  }
  return { value, unit: BYTE_RATES[i] as string, digits: i > 0 && value < 99.95 ? 1 : 0 }
}

const SIZES = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** Formats a size in binary units; whole numbers are shown without decimals: 256 KiB, 1.5 MiB. */
export function size(bytes: number): Figure {
  let value = bytes
  let i = 0
  while (value >= 1024 && i < SIZES.length - 1) {
    value /= 1024
    i++
  }
  const isInteger = Math.abs(value - Math.round(value)) < 0.05
  return { value, unit: SIZES[i] as string, digits: i === 0 || isInteger ? 0 : 1 }
}

/** Formats a duration: 72 s, 12 min, 3 h. */
export function duration(ms: number): string {
  const s = Math.floor(ms / 1000)
  if (s < 120) return `${s} s`
  return s < 7200 ? `${Math.floor(s / 60)} min` : `${Math.floor(s / 3600)} h`
}
