/** A value at two instants, A and B, as text with its change; and the column of a table that shows it. */
import { NOTHING } from '../format/units.ts'
import type { Comparison, TableColumn } from '../widgets/data-table.ts'

export interface Compared {
  readonly a: string
  readonly b: string
  readonly delta: string
  /** Sign of the change; null: not known at A or B. */
  readonly sign: number | null
}

/**
 * Formats A, B and the change.
 *
 * @param step  precision of the text: a change below half of it counts as none.
 */
export function comparedValue(
  a: number | null,
  b: number | null,
  format: (value: number | null) => string,
  step: number,
): Compared {
  const delta = a === null || b === null ? null : b - a
  const sign = delta === null ? null : Math.abs(delta) < step / 2 ? 0 : Math.sign(delta)
  const text = sign === 0 ? '0' : format(delta)
  return { a: format(a), b: format(b), sign, delta: sign === 1 && !text.startsWith('+') ? `+${text}` : text }
}

/** Describes A, B and the change, for a title. */
export const comparedText = ({ a, b, delta }: Compared): string => `A ${a}, B ${b}, ${delta}`

const NONE: Compared = { a: NOTHING, b: NOTHING, delta: NOTHING, sign: null }

/**
 * Column that shows B and the change, and unless it is short, A.
 *
 * @param of  undefined: not compared.
 */
export function asCompared<Row>(
  plain: TableColumn<Row>,
  of: (row: Row) => Compared | undefined,
  { isShort, width }: { readonly isShort: boolean; readonly width: number },
): TableColumn<Row> {
  const figure = (row: Row): Compared => of(row) ?? NONE
  const compared: Comparison<Row> = {
    isShort,
    parts: (row) => {
      const { a, b, delta } = figure(row)
      return [a, b, delta]
    },
    sign: (row) => figure(row).sign,
  }
  return { ...plain, width, compared, cellAttributes: (row) => ({ title: comparedText(figure(row)) }) }
}
