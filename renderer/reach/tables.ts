/**
 * Tables as the keyboard sees them, read from the page: tables, rows, the targeted row and its cells. A DataTable moves,
 * sorts and copies by its handle. Lists with other markup use `data-table` and `data-row`; a sortable header has its
 * letter in `data-sort-key`.
 */
import { tableHandleOf } from '../composables/table-handles.ts'
import { plainFigure } from '../format/table-text.ts'
import { closestTarget, keyTargets, focusedElement, pointedElement } from './key-target.ts'

export const TABLE = '[role="table"], [role="grid"], [role="tree"], table, [data-table]'
const ROW = '[role="row"], [role="treeitem"], tr, [data-row]'
const HEAD = '[role="columnheader"], th'
const CELL = '[role="cell"], [role="gridcell"], td, [data-cell]'

const isHead = (row: Element): boolean => row.querySelector(HEAD) !== null && row.querySelector(CELL) === null
/** Rendered rows in order; of a long table those in view. */
export const rowsOf = (table: Element): HTMLElement[] =>
  [...table.querySelectorAll<HTMLElement>(ROW)].filter(
    (row) => !isHead(row) && row.closest('[role="presentation"][aria-hidden="true"], tfoot, .foot, .head') === null,
  )

/** Table with the focus or under the pointer; null if neither is in one. */
export const closestTable = (): HTMLElement | null => closestTarget(TABLE)
/** Table that table keys act on. */
export function targetTable(): HTMLElement | null {
  const view = document.querySelector('.view') ?? document.body
  return (
    closestTable() ?? view.querySelector<HTMLElement>('[data-main-table]') ?? view.querySelector<HTMLElement>(TABLE)
  )
}
/** A targeted table takes the letters that otherwise belong to a chart of the view. */
export const isTableTargeted = (): boolean => closestTable() !== null

const isMarked = (row: Element): boolean =>
  row.getAttribute('aria-selected') === 'true' || row.classList.contains('sel') || row.hasAttribute('data-cursor')
/** Targeted row: the focused one, else the selected one; the one under the pointer if that was moved last. */
export function targetRow(table: Element): HTMLElement | null {
  const rows = rowsOf(table)
  const around = (element: Element | null): HTMLElement | undefined =>
    element === null ? undefined : rows.find((row) => row.contains(element))
  const chosen = around(focusedElement()) ?? rows.find((row) => row.classList.contains('cursor')) ?? rows.find(isMarked)
  const pointed = around(pointedElement())
  return (keyTargets()[0] === pointedElement() ? (pointed ?? chosen) : (chosen ?? pointed)) ?? null
}

export { plainFigure }
const textOf = (cell: Element): string => {
  const copy = cell.cloneNode(true) as Element
  for (const hidden of copy.querySelectorAll('[aria-hidden="true"], button, .sr')) {
    if (!hidden.matches('button') || hidden.closest(HEAD) === null) hidden.remove()
  }
  return plainFigure(cell.matches(HEAD) ? (cell.textContent ?? '') : (copy.textContent ?? ''))
}
const cellsOf = (row: Element, selector: string): string[] =>
  [...row.querySelectorAll(selector)].filter((cell) => cell.closest(ROW) === row).map(textOf)

/** Multi-selected rows as tab-separated text with a header line; null if there are none. */
export const selectionText = (table: Element): string | null => tableHandleOf(table)?.selectionText() ?? null

/** A row as tab-separated text with a header line, if the table has headers. */
export function rowText(table: Element, row: Element): string {
  const own = tableHandleOf(table)?.rowText(row)
  if (typeof own === 'string') return own
  const cells = cellsOf(row, CELL)
  const headRow = [...table.querySelectorAll(ROW)].find(isHead)
  const heads = headRow ? cellsOf(headRow, HEAD) : []
  const line = (cells.length > 0 ? cells : [plainFigure(row.textContent ?? '')]).join('\t')
  return heads.length === cells.length && heads.length > 0 ? `${heads.join('\t')}\n${line}\n` : `${line}\n`
}

/** Sorts by the column with a letter, as a click on its header does. @returns true if the table has one */
export function sortByKey(table: Element, key: string): boolean {
  const handle = tableHandleOf(table)
  if (handle) return handle.sortByKey(key)
  const head = table.querySelector<HTMLElement>(`[data-sort-key~="${key}"]`)
  head?.click()
  return head !== null
}

/** Moves the row mark of a table without its own selection, and clicks the row if that selects it. */
export function stepRow(table: Element, by: 1 | -1): boolean {
  const rows = rowsOf(table)
  if (rows.length === 0) return false
  const handle = tableHandleOf(table)
  if (handle) {
    handle.move(by)
    return true
  }
  const meant = targetRow(table)
  const at = meant === null ? -1 : rows.indexOf(meant)
  const next = rows[at < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, at + by))]
  for (const row of rows) row.removeAttribute('data-cursor')
  next?.setAttribute('data-cursor', '')
  next?.scrollIntoView({ block: 'nearest' })
  next?.click()
  return true
}
