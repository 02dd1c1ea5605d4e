/** Comparison: instant A, which is fixed while the cursor, B, moves. */
import { defineStore } from 'pinia'
import { computed, ref } from 'vue'
import { useTimeStore } from './time.ts'

export const useCompareStore = defineStore('compare', () => {
  const time = useTimeStore()
  const aMs = ref<number | null>(null)
  const isOn = computed(() => aMs.value !== null)
  /** Sets A to the cursor; again: moves it there. */
  function pin(): void {
    aMs.value = time.atMs
  }
  /** Sets A to one instant and the cursor, B, to another. */
  function range(fromMs: number, toMs: number): void {
    aMs.value = fromMs
    time.goToTime(toMs)
  }
  function clear(): void {
    aMs.value = null
  }
  return { aMs, isOn, pin, range, clear }
})
