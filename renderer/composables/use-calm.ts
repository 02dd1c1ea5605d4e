/** The same value, at most once per `intervalMs()`: charts and sparklines beside numbers that change faster. */
import { onScopeDispose, shallowRef, watch, type ShallowRef } from 'vue'
import { NEARLY } from './animation-frame.ts'

/** Pace of charts and sparklines: what the eye follows, at a quarter of what painting each frame would cost. */
export const CALM_MS = 1000

/** What the last value waits longer, ms: while more come, each change goes with one of them, and not into a picture of its own. */
const PATIENCE_MS = 1200

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
    const [every, since] = [intervalMs(), before === null ? Infinity : performance.now() - lastMs]
    if (since >= every * NEARLY) {
      clearTimeout(timer)
      take()
    } else timer ??= setTimeout(take, every + PATIENCE_MS - since)
  })
  onScopeDispose(() => clearTimeout(timer))
  return calm
}
