/** What a list of known jobs has that no sample changes: taken from them once, for as long as the same list is known. */
import type { JobRead } from '../../cluster/viewed.ts'

export interface KnownFacts {
  /** NaN where the batch system does not know the job. */
  readonly nodes: Float64Array
  readonly unmapped: number
  /** Jobs by account; those without one are left out. */
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
