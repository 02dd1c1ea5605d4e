/** Wraps an action so that it does not start again while it is running. */
import { ref, type Ref } from 'vue'

export function useOneAtATime(verb: () => Promise<void>): {
  isBusy: Readonly<Ref<boolean>>
  start: () => Promise<void>
} {
  const isBusy = ref(false)
  async function start(): Promise<void> {
    if (isBusy.value) return
    isBusy.value = true
    try {
      await verb()
    } finally {
      isBusy.value = false
    }
  }
  return { isBusy, start }
}
