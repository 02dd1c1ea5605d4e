/** How the jobs table is filtered and sorted, and whose records it shows; kept while another view is on screen. */
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

  /** Rows that the table's height shows from the top: the first that the view asks for when it comes back. */
  const topSlice = shallowRef({ offset: 0, limit: 60 })

  /** What jobs are summed by; null: job by job. */
  const groupBy = ref<JobGroupBy | null>(null)

  /** Sorts by a column; a second time turns the order. Words start upwards, numbers with the largest. */
  function sortBy(column: JobColumn): void {
    if (sort.value === column) descending.value = !descending.value
    else {
      sort.value = column
      descending.value = !['jobId', 'account', 'rule'].includes(column)
    }
  }
  /** The jobs of one group, by a filter that chooses them: one edit, though two things change. */
  function openGroup(name: string, itsFilter: string): void {
    const [by, was] = [groupBy.value, filter.value]
    function show(group: JobGroupBy | null, text: string): void {
      groupBy.value = group
      filter.value = text
    }
    undo.quietly(() => show(null, itsFilter))
    undo.push({
      ...{ room: 'jobs', words: `opening of ${name}` },
      ...{ undo: () => show(by, was), redo: () => show(null, itsFilter) },
    })
  }
  return { filter, sort, descending, target, topSlice, groupBy, sortBy, openGroup }
})
