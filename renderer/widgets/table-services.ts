/** Services that the window provides to its tables: storage of column layouts, and the clipboard. */
import type { InjectionKey } from 'vue'

/** Changes of the operator to the columns of a table. */
export interface TableLayout {
  readonly order: readonly string[]
  /** Widths by column id, px. */
  readonly widths: Readonly<Record<string, number>>
  /** Columns that were shown or hidden by hand. */
  readonly shown: Readonly<Record<string, boolean>>
}
/** Storage of layouts by table id. */
export interface TableLayouts {
  /** The stored layout, not yet validated. */
  read: (tableId: string) => unknown
  /** Stores a layout; null removes it. */
  write: (tableId: string, layout: TableLayout | null) => void
}
export const tableLayouts: InjectionKey<TableLayouts> = Symbol('tableLayouts')

const memory = new Map<string, TableLayout>()
/** Layouts for the lifetime of the window. */
export const memoryLayouts: TableLayouts = {
  read: (tableId) => memory.get(tableId),
  write: (tableId, layout) => void (layout === null ? memory.delete(tableId) : memory.set(tableId, layout)),
}

/** Greatest width to which a column can be resized, px. */
export const MOST_PX = 2000

const entriesOf = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null ? Object.entries(value) : []

/** Reads a stored layout; parts that are not valid are dropped. */
export function layoutOf(stored: unknown): TableLayout {
  const { order, widths, shown } = Object.fromEntries(entriesOf(stored))
  const isWidth = (entry: [string, unknown]): entry is [string, number] =>
    typeof entry[1] === 'number' && entry[1] > 0 && entry[1] <= MOST_PX
  const isChoice = (entry: [string, unknown]): entry is [string, boolean] => typeof entry[1] === 'boolean'
  return {
    order: Array.isArray(order) ? order.filter((id) => typeof id === 'string') : [],
    widths: Object.fromEntries(entriesOf(widths).filter(isWidth)),
    shown: Object.fromEntries(entriesOf(shown).filter(isChoice)),
  }
}

/** Copies text; `refused` if the browser denies access to the clipboard. */
export type CopyText = (text: string) => Promise<'copied' | 'saved' | 'refused'>
export const tableClipboard: InjectionKey<CopyText> = Symbol('tableClipboard')

export const browserClipboard: CopyText = (text) =>
  navigator.clipboard.writeText(text).then(
    () => 'copied',
    () => 'refused',
  )
