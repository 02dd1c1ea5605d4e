/**
 * Size of an element's content, px, as it changes. It comes with the layout that the browser makes anyway and is drawn in the
 * same picture; asking for it while a view is being mounted would make a layout for each asker.
 */
import { useResizeObserver, type MaybeComputedElementRef } from '@vueuse/core'
import { ref, type Ref } from 'vue'

export interface BoxSize {
  readonly width: Readonly<Ref<number>>
  readonly height: Readonly<Ref<number>>
}

/** `first` is the size until one is measured. */
export function useBoxSize(target: MaybeComputedElementRef, first = { width: 0, height: 0 }): BoxSize {
  const [width, height] = [ref(first.width), ref(first.height)]
  useResizeObserver(target, (entries) => {
    const { contentRect } = entries.at(-1) ?? {}
    if (!contentRect) return
    width.value = contentRect.width
    height.value = contentRect.height
  })
  return { width, height }
}
