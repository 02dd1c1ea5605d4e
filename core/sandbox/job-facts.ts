/** What a scenario says of its jobs that the result of a comparison needs. */
import { isData } from '../emulator/operations.ts'
import type { Scenario } from '../emulator/scenario.ts'

export interface JobFacts {
  readonly jobId: string
  readonly user: string
  /** Compute nodes: what its share is weighted by. */
  readonly nodes: number
  /** It reads or writes: what it is served comes from OSTs. */
  readonly isData: boolean
}

export const jobFacts = (scenario: Pick<Scenario, 'jobs'>): Map<string, JobFacts> =>
  new Map(
    scenario.jobs.map((j) => [
      j.id,
      {
        ...{ jobId: j.id, user: j.user, nodes: Math.max(1, new Set(j.clients).size) },
        isData: j.op.some(isData),
      },
    ]),
  )
