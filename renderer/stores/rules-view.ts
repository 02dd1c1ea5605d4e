/** State of the Rules view and of its overlays; kept while another view is shown. */
import { defineStore } from 'pinia'
import { ref, watch } from 'vue'
import type { ServiceName } from '#core/api/rule-edits.ts'

export const useRulesViewStore = defineStore('rules-view', () => {
  const service = ref<ServiceName>('ost_io')
  /** Empty = all nodes, merged. */
  const node = ref('')
  const queue = ref<'reg' | 'hp'>('reg')
  /** Name of a rule selected elsewhere, until the list has scrolled to it. */
  const sought = ref('')
  /** Filters the rows of the list, not the staged changes. */
  const filter = ref('')
  const tab = ref<'staged' | 'plans'>('plans')
  const isUndoOpen = ref(false)
  const isReviewOpen = ref(false)
  /** Drawer is open in a window that is too narrow to show it always. */
  const isDrawerOver = ref(false)

  // A rule selected elsewhere must be visible: clears the filter if necessary.
  watch(sought, (name) => name !== '' && (filter.value = ''), { flush: 'sync' })
  /** Each service has its own servers, so the selected node is cleared. */
  function show(next: ServiceName): void {
    if (next !== service.value) node.value = ''
    service.value = next
  }
  return { service, node, queue, sought, filter, tab, isUndoOpen, isReviewOpen, isDrawerOver, show }
})
