/** Formatter and parser of token counts. A token is one I/O of one period, so counts are whole. */
import { formatNumber, NOTHING } from '../../format/units.ts'

export interface TokenUnit {
  readonly divisor: number
  readonly word: 'tokens' | 'k tokens'
  /** Decimals of counts that are not small: 1 if adjacent counts may differ by less than 1 %. */
  readonly digits: 0 | 1
}

/** Returns the unit of a group of values: thousands from 10 000 on. */
export const tokenUnit = (largest: number): TokenUnit =>
  largest >= 10_000
    ? { divisor: 1000, word: 'k tokens', digits: largest < 99_950 ? 1 : 0 }
    : { divisor: 1, word: 'tokens', digits: 0 }

/**
 * Formats a count in a unit: small thousands keep one decimal.
 *
 * @param isFixed  always one decimal, for columns.
 */
export function inTokens(unit: TokenUnit, tokens: number | null | undefined, isFixed = false): string {
  if (tokens === null || tokens === undefined) return NOTHING
  if (unit.divisor === 1) return formatNumber(tokens)
  if (!isFixed && tokens === 0) return '0'
  if (tokens > 0 && tokens < 50) return '<0.1'
  return formatNumber(tokens / unit.divisor, isFixed || Math.abs(tokens) < 9950 ? 1 : unit.digits)
}

/** Formats a single count with its own unit: `8.4 k`, `−12.6 k`, `314 k`, `12.1 M`. */
export function shortTokens(tokens: number | null | undefined): string {
  if (tokens === null || tokens === undefined || !Number.isFinite(tokens)) return NOTHING
  const size = Math.abs(tokens)
  if (size < 999.5) return formatNumber(tokens)
  if (size < 99_950) return `${formatNumber(tokens / 1e3, 1)} k`
  if (size < 9_999_500) return `${formatNumber(tokens / 1e3)} k`
  return `${formatNumber(tokens / 1e6, 1)} M`
}

/** Formats a count more shortly, for labels of a gauge: millions from 1 M on. */
export const gaugeTokens = (tokens: number): string =>
  Math.abs(tokens) < 999_500 ? shortTokens(tokens) : `${formatNumber(tokens / 1e6, 1)} M`

/** Formats a round count, as of a tick or a batch, without `.0`. */
export const roundTokens = (tokens: number): string => gaugeTokens(tokens).replace(/\.0(?= |$)/, '')

/** Formats a time in a period: `0.962 s`. */
export const inSeconds = (ms: number | null | undefined): string =>
  ms === null || ms === undefined ? NOTHING : `${formatNumber(ms / 1000, 3)} s`

/** Formats the wait of a request: `870 µs`, `4.2 ms`, `1.30 s`. */
export function inMicros(us: number | null | undefined): string {
  if (us === null || us === undefined) return NOTHING
  if (us < 999.5) return `${formatNumber(us)} \u00B5s`
  return us < 999_500 ? `${formatNumber(us / 1000, 1)} ms` : `${formatNumber(us / 1e6, 2)} s`
}

export type ReadTokens = { readonly tokens: number | null } | { readonly fault: string }

const factors: Readonly<Record<string, bigint>> = { '': 1n, k: 1_000n, m: 1_000_000n, g: 1_000_000_000n }
const SHAPE = /^([+-]?)(\d+)(?:\.(\d+))?\s*([kmg]?)$/i

/**
 * Parses R or L as typed: `220000`, `220 000`, `220k`, `1.5M`; exact, never rounded.
 *
 * @returns `tokens` is null for an empty text, which is "none" for a limit.
 */
export function readTokens(text: string): ReadTokens {
  const bare = text.replace(/[\s_\u00A0\u2009\u202F]/g, '').replace(/\u2212/g, '-')
  if (bare === '') return { tokens: null }
  if (bare.includes(',')) return { fault: 'a comma is ambiguous: enter 1500 or 1.5k' }
  const found = SHAPE.exec(bare)
  if (!found) return { fault: 'a whole number of tokens, for example 220000 or 220k' }
  const [, sign = '', integer = '', fraction = '', suffix = ''] = found
  const factor = factors[suffix.toLowerCase()] ?? 1n
  const scale = 10n ** BigInt(fraction.length)
  const parts = BigInt(integer + fraction) * factor
  if (parts === 0n) return { tokens: 0 }
  if (sign === '-') return { fault: 'tokens cannot be negative' }
  if (parts % scale !== 0n) return { fault: 'must be a whole number: a token is one I/O' }
  const tokens = parts / scale
  if (tokens > BigInt(Number.MAX_SAFE_INTEGER))
    return { fault: 'more than can be counted exactly (9 007 199 254 740 991)' }
  return { tokens: Number(tokens) }
}

/** Formats a count so that `readTokens` reads it exactly. */
export const typedTokens = (tokens: number | null): string => (tokens === null ? '' : formatNumber(tokens))
