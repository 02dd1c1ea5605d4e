/** The one selected job of the window: every view marks it, until Esc. And whether the inspector stands beside the view. */
import { defineStore } from 'pinia'
import { ref } from 'vue'

export const useSelectionStore = defineStore('selection', () => {
  const jobId = ref<string | null>(null)
  const inspectorOpen = ref(false)

  function select(id: string, options: { inspect?: boolean } = {}): void {
    jobId.value = id
    if (options.inspect) inspectorOpen.value = true
  }
  /** Esc: first the inspector and the selection, both at once, because the inspector shows the selection. */
  function clear(): void {
    jobId.value = null
    inspectorOpen.value = false
  }
  return { jobId, inspectorOpen, select, clear }
})
