/**
 * How many of several costly things are on the page: one more after each picture, so that the first of them is seen at once and
 * none of them holds up a key.
 */
import { computed, onScopeDispose, ref, watch, type Ref } from 'vue'
import { afterPicture } from './after-picture.ts'

/** For those who look at a view and not at how it comes. */
export const revealing = { atOnce: false }

/**
 * @param what   another value begins anew; the same one keeps what is shown.
 * @param count  of the things.
 */
export function useRevealed(what: () => unknown, count: () => number): Readonly<Ref<number>> {
  if (revealing.atOnce) return computed(count)
  const shown = ref(0)
  let stop: (() => void) | undefined
  function more(): void {
    stop = undefined
    if (shown.value >= count()) return
    shown.value++
    stop = afterPicture(more)
  }
  watch(
    [what, count],
    ([next], before) => {
      if (next !== before[0]) shown.value = 0
      stop ??= afterPicture(more)
    },
    { immediate: true },
  )
  onScopeDispose(() => stop?.())
  return shown
}
