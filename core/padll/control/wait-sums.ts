/** How long the operations of each job have waited since a controller met it, by scope; bounded however many jobs come by. */
import type { Scope } from '../vocabulary.ts'
import { bounded } from './stage-record.ts'

/** Jobs that are gone whose sums are remembered all the same. */
const GONE_MAX = 1000

export class WaitSums {
  readonly ns = new Map<Scope, Map<string, number>>()

  /** @param stages  those that are there: no fewer than jobs. @param isPresent  whether a job is there. */
  add(scope: Scope, job: string, ns: number, stages: number, isPresent: (job: string) => boolean): void {
    if (!(ns > 0)) return
    let jobs = this.ns.get(scope)
    if (!jobs) this.ns.set(scope, (jobs = new Map<string, number>()))
    if (jobs.size > stages + GONE_MAX) for (const one of jobs.keys()) if (!isPresent(one)) jobs.delete(one)
    jobs.set(job, (jobs.get(job) ?? 0) + bounded(ns))
  }
}
