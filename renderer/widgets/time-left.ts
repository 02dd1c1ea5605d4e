/** Estimated time left of a task, from its pace so far; null until that is reliable. */
import { ref, watch, type Ref } from 'vue'

/** Progress, and duration, below which the pace is not reliable. */
const LEAST_SHARE = 0.03
const LEAST_MS = 700

/** @param share  0..1; null: unknown. A decreasing share starts again. */
export function useTimeLeft(
  share: () => number | null,
  now: () => number = () => performance.now(),
): Ref<number | null> {
  const left = ref<number | null>(null)
  let first: { share: number; ms: number } | null = null
  watch(
    share,
    (value, before) => {
      if (value === null || (before !== undefined && before !== null && value < before)) first = null
      if (value === null) return void (left.value = null)
      first ??= { share: value, ms: now() }
      const done = value - first.share
      const ms = now() - first.ms
      left.value = done < LEAST_SHARE || ms < LEAST_MS ? null : Math.max(0, ((1 - value) / done) * ms)
    },
    { immediate: true },
  )
  return left
}
