/** Formatting of a frozen table: one unit, number of decimals and bar scale per column. */
import type { Cell } from '#core/api/incidents.ts'
import { formatNumber, formatSigned, rateUnit } from '../../../format/units.ts'

export type TableOf = Extract<Cell, { kind: 'table' }>

export interface ColumnFormat {
  readonly label: string
  readonly unit: string
  readonly isSigned: boolean
  readonly format: (value: number | null) => string
  /** Share of half a diverging bar, -1..1. */
  readonly share: (value: number | null) => number
}

export function columnFormats({ columns, rows }: Pick<TableOf, 'columns' | 'rows'>): ColumnFormat[] {
  return columns.map(({ label, unit, signed }, i) => {
    const values = rows.map((row) => row.values[i] ?? null)
    const most = values.reduce<number>((m, v) => Math.max(m, Math.abs(v ?? 0)), 0)
    const isBytes = unit === 'B/s'
    const isKilo = !isBytes && most >= 1e5
    const divisor = isBytes ? rateUnit().divisor : isKilo ? 1e3 : 1
    const isWhole = divisor === 1 && values.every((v) => v === null || Number.isInteger(v))
    const decimals = isWhole || most / divisor >= 1000 ? 0 : most / divisor >= 10 ? 1 : 2
    const shown = (value: number | null): number | null => (value === null ? null : value / divisor)
    return {
      label,
      unit: isBytes ? rateUnit().unit : isKilo ? (unit === '' ? 'k' : `${unit}, k`) : unit,
      isSigned: signed,
      format: (value) => (signed ? formatSigned(shown(value), decimals) : formatNumber(shown(value), decimals)),
      share: (value) => (most > 0 ? (value ?? 0) / most : 0),
    }
  })
}
