/** Tables by their element, for the keys common to all tables. A table registers itself when it is mounted. */

export interface TableHandle {
  /** Moves the current row. */
  move: (by: number) => void
  /** Text of a rendered row, with headers, as TSV; null if the element is not a row of the table. */
  rowText: (row: Element) => string | null
  /** Text of the multi-selection, as TSV; null if no rows are in it. */
  selectionText: () => string | null
  /** Sorts by the column with this letter, shown or hidden. @returns false if there is none */
  sortByKey: (letter: string) => boolean
}

const handles = new WeakMap<Element, TableHandle>()

export const registerTable = (element: Element, handle: TableHandle): unknown => handles.set(element, handle)
/** Handle of a table; undefined for tables with their own markup. */
export const tableHandleOf = (element: Element): TableHandle | undefined => handles.get(element)
