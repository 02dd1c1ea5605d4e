/**
 * Rows of a long table that are in view. The host sends only a slice of them: `slice` is the range to request, slightly
 * larger than the view and moved in steps, so that a click of the wheel causes no new request.
 */
import { useVirtualizer } from '@tanstack/vue-virtual'
import { computed, ref, watch, type Ref } from 'vue'

const STEP = 10
const SPARE = 10
/** Largest slice in the contract, rows. */
const MOST = 200

export interface Slice {
  readonly offset: number
  readonly limit: number
}
/** Slice requested before the table has been measured. */
export const firstSlice: Slice = { offset: 0, limit: 60 }

/** Slice around the rows `first`..`last`. */
export function sliceAround(first: number, last: number): Slice {
  const offset = Math.max(0, Math.floor((first - SPARE) / STEP) * STEP)
  const rows = Math.ceil((last + 1 + SPARE - offset) / STEP) * STEP
  return { offset, limit: Math.min(MOST, Math.max(40, rows)) }
}

export function useSlice(options: {
  scroller: Readonly<Ref<HTMLElement | null>>
  /** Number of rows. */
  count: () => number
  rowHeight: () => number
  /** Height of the sticky head and foot that cover rows, px. */
  coveredPx: number
  onSlice: (slice: Slice) => void
}) {
  const virtualizer = useVirtualizer(
    computed(() => ({
      count: options.count(),
      getScrollElement: () => options.scroller.value,
      estimateSize: options.rowHeight,
      overscan: 2,
      scrollPaddingEnd: options.coveredPx,
    })),
  )
  watch(options.rowHeight, () => virtualizer.value.measure())
  const items = computed(() => virtualizer.value.getVirtualItems())
  const requested = ref('')
  watch(items, (now) => {
    const slice = sliceAround(now[0]?.index ?? 0, now.at(-1)?.index ?? 0)
    const name = JSON.stringify(slice)
    if (name === requested.value) return
    requested.value = name
    options.onSlice(slice)
  })
  return {
    items,
    start: computed(() => items.value[0]?.start ?? 0),
    height: computed(() => virtualizer.value.getTotalSize()),
    /** First visible row. */
    firstSeen: (): number => virtualizer.value.range?.startIndex ?? 0,
    scrollTo: (index: number): void => virtualizer.value.scrollToIndex(index, { align: 'auto' }),
  }
}
