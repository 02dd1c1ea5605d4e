/**
 * Staged rendering of costly items: one more after each painted frame, so that the first appears at once and none
 * blocks a key.
 */
import { computed, onScopeDispose, ref, watch, type Ref } from 'vue'
import { afterPaint } from './after-paint.ts'

/** Switch for tests of a view that do not need the staging. */
export const revealing = { atOnce: false }

/**
 * @param what   a change starts again at 0; the same value keeps the items shown.
 * @param count  number of items.
 */
export function useRevealed(what: () => unknown, count: () => number): Readonly<Ref<number>> {
  if (revealing.atOnce) return computed(count)
  const shown = ref(0)
  let stop: (() => void) | undefined
  function more(): void {
    stop = undefined
    if (shown.value >= count()) return
    shown.value++
    stop = afterPaint(more)
  }
  watch(
    [what, count],
    ([next], before) => {
      if (next !== before[0]) shown.value = 0
      stop ??= afterPaint(more)
    },
    { immediate: true },
  )
  onScopeDispose(() => stop?.())
  return shown
}
