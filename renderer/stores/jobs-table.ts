/** How the jobs table is filtered and sorted, and whose records it shows; kept while another view is on screen. */
import { defineStore } from 'pinia'
import { ref } from 'vue'
import type { JobColumn, JobGroupBy } from '#core/api/frames.ts'

export const useJobsTableStore = defineStore('jobs-table', () => {
  const filter = ref('')
  const sort = ref<JobColumn>('rpcs')
  const descending = ref(true)
  /** Target whose records are shown, here and in the inspector; empty = all. */
  const target = ref('')

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
  return { filter, sort, descending, target, groupBy, sortBy }
})
