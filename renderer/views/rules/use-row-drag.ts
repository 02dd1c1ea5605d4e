/**
 * Drag and drop of a row. The caller keeps the order unchanged while dragging; `gap` is the row above which it would be
 * dropped.
 */
import { useEventListener } from '@vueuse/core'
import { computed, ref, type Ref } from 'vue'

/** Distance to an edge within which the list scrolls. */
const EDGE_PX = 28
const SCROLL_PX = 12

export function useRowDrag(options: {
  scroller: Readonly<Ref<HTMLElement | null>>
  rowHeight: number
  headHeight: number
  count: () => number
  onDrop: (index: number, gap: number) => void
}) {
  const index = ref<number | null>(null)
  const gap = ref(0)
  const isDragging = computed(() => index.value !== null)

  function begin(at: number, event: PointerEvent): void {
    if (event.button !== 0) return
    event.preventDefault() // no text selection, and the focus stays in the list
    index.value = at
    gap.value = at
  }
  function follow(event: PointerEvent): void {
    const box = options.scroller.value
    if (index.value === null || box === null) return
    const { top, bottom } = box.getBoundingClientRect()
    if (event.clientY < top + options.headHeight + EDGE_PX) box.scrollTop -= SCROLL_PX
    else if (event.clientY > bottom - EDGE_PX) box.scrollTop += SCROLL_PX
    const y = event.clientY - top - options.headHeight + box.scrollTop
    gap.value = Math.max(0, Math.min(options.count(), Math.round(y / options.rowHeight)))
  }
  function end(): void {
    // Before the drag ends: the caller may reorder its rows then.
    if (index.value !== null) options.onDrop(index.value, gap.value)
    index.value = null
  }
  const cancel = (): void => {
    index.value = null
  }
  useEventListener(window, 'pointermove', follow)
  useEventListener(window, 'pointerup', end)
  useEventListener(window, 'pointercancel', cancel)
  useEventListener(
    window,
    'keydown',
    (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || index.value === null) return
      event.preventDefault()
      cancel()
    },
    { capture: true },
  )
  return { isDragging, index, gap, begin }
}
