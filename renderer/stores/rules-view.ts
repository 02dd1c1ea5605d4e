/** What the Rules view stands on and what floats over it; kept while another view is on screen. */
import { defineStore } from 'pinia'
import { ref } from 'vue'
import type { ServiceName } from '#core/api/rule-edits.ts'

export const useRulesViewStore = defineStore('rules-view', () => {
  const service = ref<ServiceName>('ost_io')
  /** Empty = all nodes, merged. */
  const node = ref('')
  const queue = ref<'reg' | 'hp'>('reg')
  const tab = ref<'staged' | 'plans'>('plans')
  const isUndoOpen = ref(false)
  const isReviewOpen = ref(false)
  /** The drawer over the list, where the window has no room for it beside the list. */
  const isDrawerOver = ref(false)

  /** Services have servers of their own, so the choice of a node ends with it. */
  function show(next: ServiceName): void {
    if (next !== service.value) node.value = ''
    service.value = next
  }
  return { service, node, queue, tab, isUndoOpen, isReviewOpen, isDrawerOver, show }
})
