/** What is left of a task, from how fast it was so far; null until that says something. */
import { ref, watch, type Ref } from 'vue'

/** Before this much is done, and before this long, the pace is chance. */
const LEAST_SHARE = 0.03
const LEAST_MS = 700

/** @param share  0..1; null: not known. A share that falls begins anew. */
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
      const [done, ms] = [value - first.share, now() - first.ms]
      left.value = done < LEAST_SHARE || ms < LEAST_MS ? null : Math.max(0, ((1 - value) / done) * ms)
    },
    { immediate: true },
  )
  return left
}
