/** Replays the messages of a range: moves the cursor from message to message; all plots follow it. */
import { useMediaQuery } from '@vueuse/core'
import { computed, onScopeDispose, reactive, ref, watch, type UnwrapNestedRefs } from 'vue'
import { useLocksStore } from '../../stores/locks.ts'
import { messageAt, messagesOf, stayMs, type Pace } from './replay.ts'
import type { RangeCursor, Resource } from './use-range-cursor.ts'

/** Times closer than this belong to the same message, because of rounding to Unix ms. */
const SAME_MS = 0.002

export function useReplay(cursor: RangeCursor, resource: () => Resource) {
  const view = useLocksStore()
  const isMotionReduced = useMediaQuery('(prefers-reduced-motion: reduce)')
  const messages = computed(() => messagesOf(resource().messages, resource().clients, cursor.lives))
  const index = ref(-1)
  const isPlaying = ref(false)
  const chosen = ref<Pace>(1000)
  /** Pace in use: even steps with reduced motion. */
  const pace = computed<Pace>(() => (isMotionReduced.value ? 'step' : chosen.value))
  let timer: ReturnType<typeof setTimeout> | undefined

  watch(
    [() => cursor.t, messages],
    ([t, list]) => {
      const here = list[index.value]
      if (!here || Math.abs(here.sent - t) > SAME_MS) index.value = messageAt(list, t)
    },
    { immediate: true },
  )
  function goTo(next: number): void {
    const message = messages.value[next]
    if (!message) return
    index.value = next
    cursor.put(message.sent)
  }
  function pause(): void {
    clearTimeout(timer)
    isPlaying.value = false
  }
  function beat(): void {
    clearTimeout(timer)
    timer = setTimeout(
      () => {
        if (index.value >= messages.value.length - 1) return pause()
        goTo(index.value + 1)
        beat()
      },
      index.value < 0 ? 0 : stayMs(messages.value, index.value, pace.value),
    )
  }
  function play(): void {
    if (messages.value.length === 0) return
    if (index.value >= messages.value.length - 1) goTo(0)
    else goTo(Math.max(0, index.value)) // pins this range
    isPlaying.value = true
    beat()
  }
  const toggle = (): void => (isPlaying.value ? pause() : play())
  function step(by: number): void {
    pause()
    goTo(Math.max(0, Math.min(messages.value.length - 1, index.value + by)))
  }
  watch(pace, () => isPlaying.value && beat())
  watch(
    () => resource().key,
    () => pause(),
  )
  // Releasing the pinned range stops the replay.
  watch(
    () => view.moment,
    (now) => now === null && pause(),
  )
  onScopeDispose(pause)
  const current = computed(() => messages.value[index.value] ?? null)
  return reactive({
    messages,
    index,
    current,
    isPlaying,
    isMotionReduced,
    chosen,
    pace,
    goTo,
    toggle,
    pause,
    step,
  })
}
export type Replay = UnwrapNestedRefs<ReturnType<typeof useReplay>>
