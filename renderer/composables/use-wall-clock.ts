/** Wall time in ms, renewed twice a second: for ages and countdowns that move without a frame. One clock for all: they move at once. */
import { createSharedComposable, useIntervalFn } from '@vueuse/core'
import { ref, type Ref } from 'vue'

const EVERY_MS = 500

export const useWallClock = createSharedComposable((): Readonly<Ref<number>> => {
  const now = ref(Date.now())
  useIntervalFn(() => (now.value = Date.now()), EVERY_MS)
  return now
})
