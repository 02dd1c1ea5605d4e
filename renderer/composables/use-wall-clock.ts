/**
 * Wall time in ms, updated once a second: for ages and countdowns that advance without frames. One shared clock,
 * updated with frames where they arrive: a tick of its own would cost a layout and a paint.
 */
import { createSharedComposable, tryOnScopeDispose, useIntervalFn } from '@vueuse/core'
import { ref, type Ref } from 'vue'
import { NEARLY, withEachPass } from './animation-frame.ts'

const EVERY_MS = 1000

export const useWallClock = createSharedComposable((): Readonly<Ref<number>> => {
  const now = ref(Date.now())
  const tick = (): void => void (now.value = Date.now())
  const { pause, resume } = useIntervalFn(tick, EVERY_MS)
  tryOnScopeDispose(
    withEachPass(() => {
      if (Date.now() - now.value < EVERY_MS * NEARLY) return
      pause()
      tick()
      resume()
    }),
  )
  return now
})
