/** Wall time in ms, renewed every `intervalMs`: for ages and countdowns that move without a frame. */
import { useIntervalFn } from '@vueuse/core'
import { ref, type Ref } from 'vue'

export function useWallClock(intervalMs = 500): Readonly<Ref<number>> {
  const now = ref(Date.now())
  useIntervalFn(() => (now.value = Date.now()), intervalMs)
  return now
}
