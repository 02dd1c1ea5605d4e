/** Table of values at the cursor, sorted by any column: gaps last in both directions, equal values in their order. */
import { cursorAt } from './cursor.ts'
import { el, scrollBox, setText } from './elements.ts'

export interface Field<R> {
  readonly title: string
  readonly unit: string
  readonly value: (row: R, i: number) => number | null
  /** Value of the last row, which stands for all others; none for a measure of one. */
  readonly ofOthers?: ((i: number) => number | null) | undefined
  readonly text: (value: number | null) => string
}

export interface RankedTable<R> {
  /** Titles of the columns of names. */
  readonly heads: readonly string[]
  readonly rows: readonly R[]
  /** Cells of a row's names, the first of which is its heading. */
  readonly cells: (row: R) => readonly HTMLElement[]
  /** Cells of the last row, which stands for all others; undefined if there are none. */
  readonly others?: readonly HTMLElement[] | undefined
  readonly fields: readonly Field<R>[]
  /** Field that sorts at first; its values do not depend on the time. */
  readonly first: Field<R>
  readonly label: string
  readonly nothing: string
}

export interface RankedTableElement<R> {
  readonly element: HTMLElement
  readonly show: (i: number) => void
  /** Shows the rows that pass; without a filter, also the row of the others. */
  readonly filter: (passes: ((row: R) => boolean) | undefined) => void
}

export function rankedTable<R>(of: RankedTable<R>): RankedTableElement<R> {
  const { fields } = of
  let sorted = of.first
  let isUp = false
  let passes: ((row: R) => boolean) | undefined
  let order: readonly Element[] = []
  const rows = of.rows.map((row) => {
    const values = fields.map(() => el('td'))
    return { of: row, values, element: el('tr', {}, ...of.cells(row), ...values) }
  })
  const otherValues = fields.map(() => el('td'))
  const last = of.others && el('tr', { class: 'other' }, ...of.others, ...otherValues)
  const body = el('tbody')
  const heads = fields.map((field) => {
    const button = el(
      'button',
      { type: 'button', click: () => sortBy(field) },
      field.title,
      el('small', {}, field.unit),
    )
    return el('th', { scope: 'col' }, button)
  })
  const names = of.heads.map((text, k) => el('th', k === 0 ? { scope: 'col' } : { scope: 'col', class: 'word' }, text))
  const table = el('table', { class: 'jobs' }, el('thead', {}, el('tr', {}, ...names, ...heads)), body)
  const nothing = el('p', { class: 't3 pad', hidden: true }, of.nothing)

  function sortBy(field: Field<R>): void {
    isUp = sorted === field ? !isUp : false
    sorted = field
    arrange(cursorAt())
  }
  function arrange(i: number): void {
    const shown = rows.filter((row) => passes?.(row.of) ?? true)
    shown.sort((a, b) => {
      const x = sorted.value(a.of, i)
      const y = sorted.value(b.of, i)
      if (x === null || y === null) return (x === null ? 1 : 0) - (y === null ? 1 : 0)
      return isUp ? x - y : y - x
    })
    const next: Element[] = shown.map(({ element }) => element)
    if (last && !passes) next.push(last)
    if (next.length !== order.length || next.some((row, k) => row !== order[k])) body.replaceChildren(...next)
    order = next
    nothing.hidden = shown.length > 0
    heads.forEach((th, k) => {
      if (fields[k] === sorted) th.setAttribute('aria-sort', isUp ? 'ascending' : 'descending')
      else th.removeAttribute('aria-sort')
    })
  }
  function show(i: number): void {
    fields.forEach(({ value, ofOthers, text }, k) => {
      for (const row of rows) if (row.values[k]) setText(row.values[k], text(value(row.of, i)))
      if (ofOthers && otherValues[k]) setText(otherValues[k], text(ofOthers(i)))
    })
    if (sorted !== of.first) arrange(i)
  }
  arrange(0)
  return {
    element: scrollBox(of.label, 'tall', table, nothing),
    show,
    filter: (next) => {
      passes = next
      arrange(cursorAt())
    },
  }
}
