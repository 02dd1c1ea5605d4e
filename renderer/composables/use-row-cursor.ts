/**
 * The row that the keyboard stands on. The table keeps the focus and names the row (`aria-activedescendant`), so that a new order
 * or a row that is scrolled away takes no focus with it. Arrows, pages, Home and End move; Enter opens.
 */
import { computed, ref, useId, watch } from 'vue'

const PAGE_ROWS = 10

export function useRowCursor(options: {
  /** Rows in their order. */
  ids: () => readonly string[]
  /** The row that is chosen elsewhere, if it is one of these: the keyboard goes on from there. */
  chosen?: () => string | null
  /** Whether a row is on the page; of a long table only those in view are. */
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
  /** Puts the keyboard on a row, as a press of it does. */
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
    const [at, last] = [index.value, options.ids().length - 1]
    const to = {
      ...{ ArrowDown: at + 1, ArrowUp: at < 0 ? 0 : at - 1, Home: 0, End: last },
      ...{ PageDown: Math.max(0, at) + PAGE_ROWS, PageUp: at - PAGE_ROWS },
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

/** Brings a row that is on the page into sight. */
export const revealRow = (_index: number, rowId: string): void =>
  document.getElementById(rowId)?.scrollIntoView({ block: 'nearest' })
