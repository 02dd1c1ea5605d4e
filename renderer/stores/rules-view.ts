/** What the Rules view stands on and what floats over it; kept while another view is on screen. */
import { defineStore } from 'pinia'
import { ref, watch } from 'vue'
import type { ServiceName } from '#core/api/rule-edits.ts'

export const useRulesViewStore = defineStore('rules-view', () => {
  const service = ref<ServiceName>('ost_io')
  /** Empty = all nodes, merged. */
  const node = ref('')
  const queue = ref<'reg' | 'hp'>('reg')
  /** Rule that was chosen elsewhere, by its name, until the list has brought it into view. */
  const sought = ref('')
  /** Hides rows of the list, nothing of what is staged. */
  const filter = ref('')
  const tab = ref<'staged' | 'plans'>('plans')
  const isUndoOpen = ref(false)
  const isReviewOpen = ref(false)
  /** The drawer over the list, where the window has no room for it beside the list. */
  const isDrawerOver = ref(false)

  // A rule that was chosen elsewhere is meant to be seen.
  watch(sought, (name) => name !== '' && (filter.value = ''), { flush: 'sync' })
  /** Services have servers of their own, so the choice of a node ends with it. */
  function show(next: ServiceName): void {
    if (next !== service.value) node.value = ''
    service.value = next
  }
  return { service, node, queue, sought, filter, tab, isUndoOpen, isReviewOpen, isDrawerOver, show }
})
