/** State of the jobs table: filter, sort order, target of the records. Kept while another view is shown. */
import { defineStore } from 'pinia'
import { ref, shallowRef } from 'vue'
import type { JobColumn, JobGroupBy } from '#core/api/frames.ts'
import { useUndoStore } from './undo.ts'

export const useJobsTableStore = defineStore('jobs-table', () => {
  const undo = useUndoStore()
  const filter = ref('')
  const sort = ref<JobColumn>('rpcs')
  const descending = ref(true)
  /** Target whose records are shown, here and in the inspector; empty = all. */
  const target = ref('')

  /** First rows that fit into the table: requested first when the view is reopened. */
  const topSlice = shallowRef({ offset: 0, limit: 60 })

  /** Grouping of jobs; null: none. */
  const groupBy = ref<JobGroupBy | null>(null)

  /** Sorts by a column; again: reverses the order. Text columns start ascending, numbers descending. */
  function sortBy(column: JobColumn): void {
    if (sort.value === column) descending.value = !descending.value
    else {
      sort.value = column
      descending.value = !['jobId', 'account', 'rule'].includes(column)
    }
  }
  /** Shows the jobs of one group by a filter: one undo entry for two changes. */
  function openGroup(name: string, itsFilter: string): void {
    const by = groupBy.value
    const was = filter.value
    function show(group: JobGroupBy | null, text: string): void {
      groupBy.value = group
      filter.value = text
    }
    undo.quietly(() => show(null, itsFilter))
    undo.push({
      area: 'jobs',
      label: `opening of ${name}`,
      undo: () => show(by, was),
      redo: () => show(null, itsFilter),
    })
  }
  return { filter, sort, descending, target, topSlice, groupBy, sortBy, openGroup }
})
