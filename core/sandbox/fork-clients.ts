/** Compute nodes as client numbers: jobs that share nodes share clients. */
import type { ForkJob } from './fork-inputs.ts'

/** Most clients of a scenario; beyond it jobs share them. */
const CLIENTS_MAX = 10_000

export interface ClientNumbers {
  readonly of: ReadonlyMap<string, readonly number[]>
  readonly count: number
}

/** @param least  clients that are there in any case. */
export function clientNumbers(jobs: readonly ForkJob[], least: number): ClientNumbers {
  const byHost = new Map<string, number>()
  const of = new Map<string, readonly number[]>()
  let count = 0
  const next = (): number => (count++ % CLIENTS_MAX) + 1
  for (const j of jobs) {
    const n = Math.min(CLIENTS_MAX, Math.max(1, j.nodes ?? 1))
    const hosts = [...new Set(j.hosts)]
    if (hosts.length !== n) {
      of.set(j.jobId, Array.from({ length: n }, next))
      continue
    }
    const numbers = hosts.map((h) => {
      let known = byHost.get(h)
      if (known === undefined) byHost.set(h, (known = next()))
      return known
    })
    of.set(j.jobId, [...new Set(numbers)])
  }
  return { of, count: Math.min(CLIENTS_MAX, Math.max(1, least, count)) }
}
