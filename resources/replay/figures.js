/** Number and time formats of the product (core/base/figure-text.ts): thin spaces, U+2212, an en dash for no value. */
const THIN = '\u202F'
const MINUS = '\u2212'
export const NOTHING = '\u2013'

/**
 * @param {number | null | undefined} value
 * @param {number} [decimals]
 */
export function number(value, decimals = 0) {
  if (value === null || value === undefined || !Number.isFinite(value)) return NOTHING
  const text = Math.abs(value).toFixed(decimals)
  const [whole = '0', fraction] = text.split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, THIN)
  const isZero = !/[1-9]/.test(text)
  return (value < 0 && !isZero ? MINUS : '') + (fraction === undefined ? grouped : `${grouped}.${fraction}`)
}

/**
 * Axis labels: `25 k`, `1.5 M`.
 *
 * @param {number} value
 */
export function tick(value) {
  const size = Math.abs(value)
  const [divisor, unit] = size >= 1e9 ? [1e9, ' G'] : size >= 1e6 ? [1e6, ' M'] : size >= 1e4 ? [1e3, ' k'] : [1, '']
  const scaled = value / divisor
  return number(scaled, Number.isInteger(scaled) ? 0 : Number.isInteger(scaled * 10) ? 1 : 2) + unit
}

/**
 * Format for the values of a series, chosen by its largest one so that digits do not jitter.
 *
 * @typedef {{ divisor: number, decimals: number, unit: string }} Scale
 * @param {number} most
 * @param {'count' | 'bytes' | 'ms' | 'plain'} of
 * @param {string} unit
 * @returns {Scale}
 */
export function scaleOf(most, of, unit) {
  if (of === 'bytes') {
    if (most >= 1e10) return { divisor: 1e9, decimals: 1, unit: 'GB/s' }
    return { divisor: 1e6, decimals: most >= 1e9 ? 0 : 1, unit: 'MB/s' }
  }
  if (of === 'ms') return { divisor: 1, decimals: most >= 100 ? 0 : most >= 10 ? 1 : 2, unit }
  if (of === 'count' && most >= 1e5) return { divisor: 1e3, decimals: 1, unit: `k ${unit}`.trim() }
  return { divisor: 1, decimals: 0, unit }
}

/**
 * @param {number | null | undefined} value
 * @param {Scale} scale
 */
export const scaled = (value, scale) =>
  number(value === null || value === undefined ? null : value / scale.divisor, scale.decimals)

/** @param {number} value */
const two = (value) => String(value).padStart(2, '0')

/**
 * `14:32:07`, UTC.
 *
 * @param {number} ms
 * @param {boolean} [seconds]
 * @param {number} [decimals]
 */
export function clock(ms, seconds = true, decimals = 0) {
  const t = new Date(ms)
  const minutes = `${two(t.getUTCHours())}:${two(t.getUTCMinutes())}`
  const fraction = decimals > 0 ? `.${String(t.getUTCMilliseconds()).padStart(3, '0').slice(0, decimals)}` : ''
  return seconds ? `${minutes}:${two(t.getUTCSeconds())}${fraction}` : minutes
}

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** @param {number} ms */
export function day(ms) {
  const t = new Date(ms)
  return `${DAYS[t.getUTCDay()] ?? ''} ${t.getUTCDate()} ${MONTHS[t.getUTCMonth()] ?? ''}`
}

/**
 * Time in the reader's time zone: `16:32:07 GMT+2`; empty if that is UTC.
 *
 * @param {number} ms
 */
export function local(ms) {
  const t = new Date(ms)
  const offset = -t.getTimezoneOffset()
  if (offset === 0) return ''
  const hours = `${offset < 0 ? MINUS : '+'}${Math.floor(Math.abs(offset) / 60)}`
  const minutes = Math.abs(offset) % 60 === 0 ? '' : `:${two(Math.abs(offset) % 60)}`
  return `${two(t.getHours())}:${two(t.getMinutes())}:${two(t.getSeconds())} UTC${hours}${minutes}`
}

/**
 * Duration: `12 s`, `4 min 23 s`, `2 h 5 min`; fractions of a second below a minute.
 *
 * @param {number} ms
 */
export function lengthOf(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`
  const total = Math.round(ms / 1000)
  if (total < 60) return ms % 1000 === 0 ? `${total} s` : `${number(ms / 1000, 1)} s`
  const minutes = Math.floor(total / 60)
  const seconds = total % 60
  if (minutes < 60) return seconds === 0 ? `${minutes} min` : `${minutes} min ${seconds} s`
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
