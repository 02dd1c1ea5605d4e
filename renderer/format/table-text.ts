/**
 * Text of table rows for the clipboard: TSV for pasting, CSV (RFC 4180) and JSON. Text cells are never formulas; figures
 * have no thin spaces and an ASCII minus.
 */
import { csvCell, guardedText } from '#core/base/csv-cell.ts'

export type TableFormat = 'tsv' | 'csv' | 'json'

/** Column as it is copied. */
export interface TextColumn<Row> {
  readonly id: string
  readonly title: string
  readonly isNumber: boolean
  text(row: Row): string
  /** Value for JSON; without it, the text. */
  value?(row: Row): string | number | null
}

/** Text of a cell for pasting: one line, digits without thin spaces, ASCII minus. */
export const plainFigure = (text: string): string =>
  text
    .replaceAll(/(?<=\d)[\u2009\u202F](?=\d)/g, '')
    .replaceAll('\u2212', '-')
    .replaceAll(/\s+/g, ' ')
    .trim()

/** A figure needs no guard: a spreadsheet reads it as the number that it is. */
const FIGURE = /^[+-]?\d+(?:\.\d+)?$/

function cellOf<Row>(column: TextColumn<Row>, row: Row): { readonly text: string; readonly isFigure: boolean } {
  const text = plainFigure(column.text(row))
  return { text, isFigure: column.isNumber && FIGURE.test(text) }
}

function jsonOf<Row>(columns: readonly TextColumn<Row>[], rows: readonly Row[]): string {
  const records = rows.map((row) =>
    Object.fromEntries(
      columns.map((column) => [column.id, column.value ? column.value(row) : cellOf(column, row).text]),
    ),
  )
  return `${JSON.stringify(records, null, 2)}\n`
}

/** Rows with a header line, or as JSON records keyed by column id. */
export function tableText<Row>(format: TableFormat, columns: readonly TextColumn<Row>[], rows: readonly Row[]): string {
  if (format === 'json') return jsonOf(columns, rows)
  const isCsv = format === 'csv'
  const quoted = isCsv ? csvCell : guardedText
  const lines = [
    columns.map(({ title }) => quoted(plainFigure(title))),
    ...rows.map((row) =>
      columns.map((column) => {
        const { text, isFigure } = cellOf(column, row)
        return isFigure ? text : quoted(text)
      }),
    ),
  ]
  const end = isCsv ? '\r\n' : '\n'
  return lines.map((cells) => `${cells.join(isCsv ? ',' : '\t')}${end}`).join('')
}
