/** The same value, at most once per `intervalMs()`: charts and sparklines beside numbers that change faster. */
import { onScopeDispose, shallowRef, watch, type ShallowRef } from 'vue'

/** Pace of charts and sparklines: what the eye follows, at a quarter of what painting each frame would cost. */
export const CALM_MS = 1000

export function useCalm<T>(value: () => T, intervalMs: () => number): Readonly<ShallowRef<T>> {
  const calm = shallowRef(value()) as ShallowRef<T>
  let lastMs = performance.now()
  let timer: ReturnType<typeof setTimeout> | undefined
  const take = (): void => {
    timer = undefined
    lastMs = performance.now()
    calm.value = value()
  }
  watch(value, (next, before) => {
    // Out of nothing to something is never delayed.
    const wait = before === null ? 0 : lastMs + intervalMs() - performance.now()
    if (wait <= 0) {
      clearTimeout(timer)
      take()
    } else timer ??= setTimeout(take, wait)
  })
  onScopeDispose(() => clearTimeout(timer))
  return calm
}
