/**
 * Throttled value: updates at most once per `intervalMs()`, for charts and sparklines beside numbers that change
 * faster.
 */
import { onScopeDispose, shallowRef, watch, type ShallowRef } from 'vue'
import { EXTRA_DELAY_MS, NEARLY } from './animation-frame.ts'

/** Update interval of charts and sparklines: still readable, at a quarter of the cost of painting each frame. */
export const THROTTLE_MS = 1000

export function useThrottled<T>(value: () => T, intervalMs: () => number): Readonly<ShallowRef<T>> {
  const throttled = shallowRef(value()) as ShallowRef<T>
  let lastMs = performance.now()
  let timer: ReturnType<typeof setTimeout> | undefined
  const take = (): void => {
    timer = undefined
    lastMs = performance.now()
    throttled.value = value()
  }
  watch(value, (next, before) => {
    // The first non-null value is never delayed.
    const every = intervalMs()
    const since = before === null ? Infinity : performance.now() - lastMs
    if (since >= every * NEARLY) {
      clearTimeout(timer)
      take()
    } else timer ??= setTimeout(take, every + EXTRA_DELAY_MS - since)
  })
  onScopeDispose(() => clearTimeout(timer))
  return throttled
}
