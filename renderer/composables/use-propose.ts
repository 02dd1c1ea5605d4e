/** Proposes limits for a job: the selected one, else the busiest on screen. Nothing is staged or sent. */
import { useProposeStore } from '../stores/propose.ts'
import { useSelectionStore } from '../stores/selection.ts'
import { onScreenJobs, type OnScreenJob } from './on-screen-jobs.ts'

export const busiest = (jobs: readonly OnScreenJob[]): OnScreenJob | undefined =>
  jobs.reduce<OnScreenJob | undefined>(
    (most, job) => (most && (most.rpcs ?? -1) >= (job.rpcs ?? -1) ? most : job),
    undefined,
  )

/** @returns  opens the proposal; false if there is no job. */
export function useProposal(): () => boolean {
  const selection = useSelectionStore()
  const propose = useProposeStore()
  return () => {
    const id = selection.jobId ?? busiest(onScreenJobs.value)?.id
    if (id === undefined) return false
    propose.open(id)
    return true
  }
}
