/** Units of rates in this view, operations or bytes per second: one unit per group of values, by the largest. */
import { BYTE_SCOPES } from '#core/api/padll.ts'
import { formatNumber, rateUnit } from '../../format/units.ts'

export interface OpUnit {
  readonly divisor: number
  readonly decimals: number
  /** `op/s`, `k op/s`, `B/s`, `MB/s` or `MiB/s`. */
  readonly word: string
}
const PLAIN: OpUnit = { divisor: 1, decimals: 0, word: 'op/s' }
const KILO: OpUnit = { divisor: 1000, decimals: 1, word: 'k op/s' }

const BYTES: OpUnit = { divisor: 1, decimals: 0, word: 'B/s' }
const megabytes = (): OpUnit => {
  const { divisor, unit } = rateUnit()
  return { divisor, decimals: 1, word: unit }
}

/** Unit of the rates of a scope. */
export const perSecond = (scope: string): 'op/s' | 'B/s' => (BYTE_SCOPES.has(scope) ? 'B/s' : 'op/s')

/** @param largest  largest value, op/s, or byte/s if the scope counts bytes. */
export function opUnit(largest: number, scope: string): OpUnit {
  if (perSecond(scope) === 'B/s') return largest >= 10_000 ? megabytes() : BYTES
  return largest >= 10_000 ? KILO : PLAIN
}

/** Formats a value in a unit; a value above 0 never reads as 0. */
export function inUnit({ divisor, decimals }: OpUnit, value: number | null | undefined): string {
  const text = formatNumber(value === null || value === undefined ? null : value / divisor, decimals)
  return value && value > 0 && !/[1-9]/.test(text)
    ? `<${decimals > 0 ? (10 ** -decimals).toFixed(decimals) : '1'}`
    : text
}

/** Formats value and unit for a sentence: `110.0 k op/s`, `940 op/s`. */
export function opRate(value: number | null): string {
  const unit = opUnit(value ?? 0, '')
  return `${inUnit(unit, value)} ${unit.word}`
}

export type ReadRate = { readonly rate: number | null } | { readonly fault: string }

/**
 * Parses a limit as typed: `110`, `110 k`, `110k op/s`, `1.2M`, `110 000 op/s`; of bytes `500 MB/s`, `2G`, `500 MiB/s`; empty
 * removes the limit.
 *
 * @param unit  unit of a bare number.
 */
export function readRate(text: string, unit: OpUnit): ReadRate {
  const bare = text.replace(/[\s\u202F\u00A0_]/g, '')
  if (bare === '' || bare === 'none') return { rate: null }
  const isBytes = unit.word.endsWith('B/s')
  const shape = isBytes ? /^(\d+(?:\.\d+)?|\.\d+)([kMG]i?|Ki)?(B\/s)?$/ : /^(\d+(?:\.\d+)?|\.\d+)([kM]?)(op\/s)?$/
  const m = shape.exec(bare)
  const [what, example] = isBytes ? ['B/s', '500M'] : ['op/s', '110k']
  if (!m) return { fault: `a number of ${what}, for example ${example}; empty removes the limit` }
  const [, digits = '', scale = '', word] = m
  const scales: Readonly<Record<string, number>> = {
    k: 1e3,
    M: 1e6,
    G: 1e9,
    ki: 2 ** 10,
    Ki: 2 ** 10,
    Mi: 2 ** 20,
    Gi: 2 ** 30,
  }
  const factor = scales[scale] ?? (word === undefined ? unit.divisor : 1)
  const rate = Math.round(Number(digits) * factor * 1e6) / 1e6
  return rate >= 1 ? { rate } : { fault: `at least 1 ${what}; empty removes the limit` }
}
