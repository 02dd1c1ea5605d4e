/** Layouts of tables in the browser's storage: order, widths and visibility of columns. */
import type { TableLayouts } from '../widgets/table-services.ts'

const KEY = 'sluice.tables'

function stored(): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}')
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {}
  } catch {
    return {} // storage may be off or hold something else: the columns are then as designed
  }
}

export function storedLayouts(): TableLayouts {
  const layouts = new Map(Object.entries(stored()))
  return {
    read: (tableId) => layouts.get(tableId),
    write(tableId, layout) {
      if (layout === null) layouts.delete(tableId)
      else layouts.set(tableId, layout)
      try {
        localStorage.setItem(KEY, JSON.stringify(Object.fromEntries(layouts)))
      } catch {
        // storage may be full or off: the layout then lasts for this visit
      }
    },
  }
}
