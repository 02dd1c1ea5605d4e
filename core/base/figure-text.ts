/**
 * Number formatting: thin spaces between thousands, U+2212 for minus, decimals fixed by the caller so that columns do not jitter. Data
 * rates are decimal (MB/s = 10^6) and sizes binary (MiB) unless the operator chooses another base in the window; files and bundles always
 * use these. Independent of locale.
 */
const THIN = '\u202F'
const MINUS = '\u2212'
/** Shown for missing measurements. */
export const NOTHING = '\u2013'

/** `-18420` -> `−18 420`; null -> an en dash. */
export function formatNumber(value: number | null | undefined, decimals = 0): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NOTHING
  const text = Math.abs(value).toFixed(decimals)
  const [whole = '0', fraction] = text.split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, THIN)
  const isZero = !/[1-9]/.test(text) // avoids "-0.0", a minus sign without meaning
  return (value < 0 && !isZero ? MINUS : '') + (fraction === undefined ? grouped : `${grouped}.${fraction}`)
}

/** The same with a plus sign for positive values. */
export function formatSigned(value: number | null | undefined, decimals = 0): string {
  const text = formatNumber(value, decimals)
  return value !== null && value !== undefined && value > 0 && /[1-9]/.test(text) ? `+${text}` : text
}

/** Formats a share 0..1 as whole percent, with a thin space. */
export function formatPercent(share: number | null | undefined, decimals = 0): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return NOTHING
  return `${formatNumber(share * 100, decimals)}${THIN}%`
}

/** Value and unit separately, for tiles and legends that style them differently. */
export interface Measure {
  readonly text: string
  readonly unit: string
  /** Divisor used, so that a delta beside it can be scaled the same. */
  readonly divisor: number
  readonly decimals: number
}

const measure = (value: number | null, divisor: number, decimals: number, unit: string): Measure => ({
  text: formatNumber(value === null ? null : value / divisor, decimals),
  unit,
  divisor,
  decimals,
})

/** Base of byte units: 1000 or 1024. */
export type ByteBase = 'decimal' | 'binary'

/** Fixed unit of a byte rate for a column or an axis: mega or giga. */
export interface RateUnit {
  readonly unit: string
  readonly divisor: number
}
const rateUnits: Readonly<Record<ByteBase, { readonly mega: RateUnit; readonly giga: RateUnit }>> = {
  decimal: { mega: { unit: 'MB/s', divisor: 1e6 }, giga: { unit: 'GB/s', divisor: 1e9 } },
  binary: { mega: { unit: 'MiB/s', divisor: 2 ** 20 }, giga: { unit: 'GiB/s', divisor: 2 ** 30 } },
}
export const rateUnitIn = (base: ByteBase, isGiga = false): RateUnit => rateUnits[base][isGiga ? 'giga' : 'mega']

/** Formats bytes per second: MB/s, and GB/s from 10 GB/s on; MiB/s and GiB/s in the binary base. */
export function rateIn(base: ByteBase, bytesPerSec: number | null): Measure {
  const size = Math.abs(bytesPerSec ?? 0)
  const { mega, giga } = rateUnits[base]
  if (size >= 10 * giga.divisor) return measure(bytesPerSec, giga.divisor, 1, giga.unit)
  return measure(bytesPerSec, mega.divisor, size >= giga.divisor ? 0 : 1, mega.unit)
}
export const formatRate = (bytesPerSec: number | null): Measure => rateIn('decimal', bytesPerSec)

/** Formats counts per second: plain up to 9 999, then thousands with one decimal. */
export function formatCount(value: number | null, unit: string, kiloUnit: string): Measure {
  return Math.abs(value ?? 0) >= 1e4 ? measure(value, 1e3, 1, kiloUnit) : measure(value, 1, 0, unit)
}

const sizeUnits: Readonly<Record<ByteBase, { readonly step: number; readonly units: readonly string[] }>> = {
  decimal: { step: 1000, units: ['B', 'kB', 'MB', 'GB', 'TB'] },
  binary: { step: 1024, units: ['B', 'KiB', 'MiB', 'GiB', 'TiB'] },
}

/** Formats a size in bytes: `256 KiB`, `1.5 MiB`; `262 kB`, `1.6 MB` in the decimal base. */
export function bytesIn(base: ByteBase, bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined || !Number.isFinite(bytes)) return NOTHING
  const { step, units } = sizeUnits[base]
  let value = bytes
  let unit = 0
  while (value >= step && unit < units.length - 1) {
    value /= step
    unit++
  }
  const decimals = unit > 0 && value < 10 && !Number.isInteger(value) ? 1 : 0
  return `${formatNumber(value, decimals)} ${units[unit] ?? ''}`
}
export const formatBytes = (bytes: number | null | undefined): string => bytesIn('binary', bytes)

/** Formats a size on a dense axis: `256 K`, `4 M`; always binary, because the bins are powers of two. */
export const formatBin = (bytes: number): string => formatBytes(bytes).replace('iB', '')

/** Formats axis labels: `25 k`, `1.5 M`; as short as the value allows. */
export function formatTick(value: number): string {
  if (!Number.isFinite(value)) return NOTHING
  const size = Math.abs(value)
  const [divisor, unit] = size >= 1e9 ? [1e9, ' G'] : size >= 1e6 ? [1e6, ' M'] : size >= 1e4 ? [1e3, ' k'] : [1, '']
  const scaled = value / divisor
  return formatNumber(scaled, Number.isInteger(scaled) ? 0 : Number.isInteger(scaled * 10) ? 1 : 2) + unit
}

const two = (value: number): string => String(value).padStart(2, '0')

/** Formats a countdown: `03:19`, `1:04:10`; never below zero. */
export function formatCountdown(ms: number): string {
  if (!Number.isFinite(ms)) return NOTHING
  const total = Math.max(0, Math.round(ms / 1000))
  const hours = Math.floor(total / 3600)
  const rest = `${two(Math.floor(total / 60) % 60)}:${two(total % 60)}`
  return hours > 0 ? `${hours}:${rest}` : rest
}

/** Formats a duration: `12 s`, `4 min 23 s`, `2 h 5 min`. */
export function formatSpan(ms: number): string {
  if (!Number.isFinite(ms)) return NOTHING
  const total = Math.max(0, Math.round(ms / 1000))
  if (total < 60) return `${total} s`
  const minutes = Math.floor(total / 60)
  if (minutes < 60) return total % 60 === 0 ? `${minutes} min` : `${minutes} min ${total % 60} s`
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** Formats a timeout: `250 ms`, `1 s`, `7.5 s`. */
export const formatTimeout = (ms: number): string =>
  ms < 1000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 100) / 10} s`

/** `1 job`, `10 jobs`. */
export const plural = (count: number | null, one: string, many = `${one}s`): string =>
  `${formatNumber(count)} ${count === 1 ? one : many}`
