/** First start of the window: shows a welcome until it is used or closed, and never again. */
import { defineStore } from 'pinia'
import { ref } from 'vue'

const KEY = 'sluice.first-run'

function isPast(): boolean {
  try {
    return localStorage.getItem(KEY) !== null
  } catch {
    return true // without storage the welcome would be shown at every start
  }
}

export const useFirstRunStore = defineStore('first-run', () => {
  const isFirst = ref(!isPast())
  /** Stores that the welcome was shown. */
  function used(): void {
    try {
      localStorage.setItem(KEY, 'past')
    } catch {
      // storage may be full: the welcome is then shown again
    }
  }
  function away(): void {
    used()
    isFirst.value = false
  }
  return { isFirst, used, away }
})
