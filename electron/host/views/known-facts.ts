/** Columns of a list of known jobs that do not depend on the sample: computed once per list. */
import type { JobRead } from '../../cluster/cluster-view.ts'

export interface KnownFacts {
  /** NaN if the batch system does not know the job. */
  readonly nodes: Float64Array
  readonly unmapped: number
  /** Jobs by account; those without one are omitted. */
  readonly accounts: ReadonlyMap<string, number>
}

const known = new WeakMap<readonly JobRead[], KnownFacts>()

export function factsOf(jobs: readonly JobRead[]): KnownFacts {
  let facts = known.get(jobs)
  if (!facts) {
    const nodes = new Float64Array(jobs.length)
    const accounts = new Map<string, number>()
    let unmapped = 0
    for (let i = 0; i < jobs.length; i++) {
      const job = jobs[i]!
      nodes[i] = job.nodes ?? NaN
      if (job.nodes === undefined) unmapped++
      if (job.account !== '') accounts.set(job.account, (accounts.get(job.account) ?? 0) + 1)
    }
    known.set(jobs, (facts = { nodes, unmapped, accounts }))
  }
  return facts
}
