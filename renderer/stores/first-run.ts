/** Whether this is the first start of the window: it greets once, until it was used or put away, and never again. */
import { defineStore } from 'pinia'
import { ref } from 'vue'

const KEY = 'sluice.first-run'

function isPast(): boolean {
  try {
    return localStorage.getItem(KEY) !== null
  } catch {
    return true // where nothing can be kept, it would greet for ever
  }
}

export const useFirstRunStore = defineStore('first-run', () => {
  const isFirst = ref(!isPast())
  /** The next start is no first one. */
  function used(): void {
    try {
      localStorage.setItem(KEY, 'past')
    } catch {
      // storage may be full: it greets once more
    }
  }
  function away(): void {
    used()
    isFirst.value = false
  }
  return { isFirst, used, away }
})
