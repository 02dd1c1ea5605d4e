/** How many of several costly things are on the page: one more a task, so that none of them makes a task long. */
import { onScopeDispose, ref, watch, type Ref } from 'vue'

/**
 * @param what   another value begins anew; the same one keeps what is shown.
 * @param count  of the things.
 */
export function useRevealed(what: () => unknown, count: () => number): Readonly<Ref<number>> {
  const shown = ref(0)
  let timer: ReturnType<typeof setTimeout> | undefined
  function more(): void {
    timer = undefined
    if (shown.value >= count()) return
    shown.value++
    timer = setTimeout(more)
  }
  watch(
    [what, count],
    ([next], before) => {
      if (next !== before[0]) shown.value = 0
      timer ??= setTimeout(more)
    },
    { immediate: true },
  )
  onScopeDispose(() => clearTimeout(timer))
  return shown
}
