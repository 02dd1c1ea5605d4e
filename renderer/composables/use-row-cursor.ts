/**
 * Keyboard cursor of a table. The table keeps the focus and names the row (`aria-activedescendant`), so that reordering
 * or a row scrolled out of view does not lose the focus. Arrow keys, Page keys, Home and End move; Enter opens.
 */
import { computed, ref, useId, watch } from 'vue'

const PAGE_ROWS = 10

export function useRowCursor(options: {
  /** Ids of the rows in order. */
  ids: () => readonly string[]
  /** Row selected elsewhere, if it is in this table: the cursor continues from there. */
  chosen?: () => string | null
  /** True if a row is rendered; of a long table only those in view are. */
  isDrawn?: (index: number) => boolean
  reveal: (index: number, id: string) => void
  onMove?: (id: string) => void
  onEnter: (id: string) => void
}) {
  const base = useId()
  const id = ref<string | null>(null)
  const index = computed(() => (id.value === null ? -1 : options.ids().indexOf(id.value)))
  const rowId = (at: number): string => `${base}-${at}`
  const active = computed(() =>
    index.value >= 0 && (options.isDrawn?.(index.value) ?? true) ? rowId(index.value) : undefined,
  )
  /** Moves the cursor to a row, as a click does. */
  function stand(row: string): void {
    id.value = row
  }
  function moveTo(at: number): void {
    const row = options.ids()[at]
    if (row === undefined) return
    id.value = row
    options.reveal(at, rowId(at))
    options.onMove?.(row)
  }
  function onKey(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return
    const at = index.value
    const last = options.ids().length - 1
    const to = {
      ArrowDown: at + 1,
      ArrowUp: at < 0 ? 0 : at - 1,
      Home: 0,
      End: last,
      PageDown: Math.max(0, at) + PAGE_ROWS,
      PageUp: at - PAGE_ROWS,
    }[event.key]
    if (to !== undefined && last >= 0) {
      event.preventDefault()
      moveTo(Math.max(0, Math.min(last, to)))
    } else if (event.key === 'Enter' && at >= 0) {
      event.preventDefault()
      options.onEnter(options.ids()[at] ?? '')
    }
  }
  watch(
    () => options.chosen?.() ?? null,
    (chosen) => {
      if (chosen !== null && options.ids().includes(chosen)) id.value = chosen
    },
    { immediate: true },
  )
  return { index, active, rowId, stand, onKey }
}

/** Scrolls a rendered row into view. */
export const revealRow = (_index: number, rowId: string): void =>
  document.getElementById(rowId)?.scrollIntoView({ block: 'nearest' })
