/**
 * Roving tab stop for the events of a lane: the last visited or the newest; arrow keys, Home and End move between them.
 */
import { computed, ref, type Ref } from 'vue'

/** @param lane  contains one button per event, in order. */
export function useMarkWalk(lane: Readonly<Ref<HTMLElement | null>>, count: () => number) {
  const focused = ref<number | null>(null)
  const stop = computed(() => Math.min(focused.value ?? Infinity, count() - 1))
  function walk(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return
    const to = { ArrowLeft: stop.value - 1, ArrowRight: stop.value + 1, Home: 0, End: count() - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    lane.value?.querySelectorAll<HTMLElement>('button')[Math.max(0, Math.min(count() - 1, to))]?.focus()
  }
  return { focused, stop, walk }
}
