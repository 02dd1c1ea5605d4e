/**
 * Size of an element's content, px, as it changes. It is delivered with the browser's own layout and drawn in the same
 * frame; measuring during mount would force a layout per caller.
 */
import { useResizeObserver, type MaybeComputedElementRef } from '@vueuse/core'
import { ref, type Ref } from 'vue'

export interface BoxSize {
  readonly width: Readonly<Ref<number>>
  readonly height: Readonly<Ref<number>>
}

/** `first` is the size until it is measured. */
export function useBoxSize(target: MaybeComputedElementRef, first = { width: 0, height: 0 }): BoxSize {
  const width = ref(first.width)
  const height = ref(first.height)
  useResizeObserver(target, (entries) => {
    const { contentRect } = entries.at(-1) ?? {}
    if (!contentRect) return
    width.value = contentRect.width
    height.value = contentRect.height
  })
  return { width, height }
}
