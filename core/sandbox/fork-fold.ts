/**
 * Folding of a fork's jobs: the largest stay separate; the rest, and jobs without a valid id, are summed by account.
 */
import { JOB_ID_MAX } from '../lustre/job-id.ts'
import type { ForkJob } from './fork-inputs.ts'
import { weightOf } from './fork-jobs.ts'
import { sum } from './fork-series.ts'

/** Maximum number of accounts among the summed jobs; the rest is one. */
export const ACCOUNTS_MAX = 200

export interface Folded {
  /** Largest first; summed jobs last. */
  readonly jobs: readonly ForkJob[]
  /** Number of jobs without activity, which are omitted. */
  readonly idle: number
  /** Number of jobs with a valid id that are summed by account. */
  readonly summed: number
  /** Number of jobs with an id that no server could have printed; summed by account, too. */
  readonly invalid: number
}

/** True for a job id that a scenario accepts: bytes, at least one, none of them 0. */
export const isJobId = (id: string): boolean => id.length <= JOB_ID_MAX && /^[\u0001-\u00ff]+$/.test(id)

/**
 * Sums the smaller jobs by account.
 *
 * @param most  number of jobs that stay separate.
 */
export function fold(all: readonly ForkJob[], most: number): Folded {
  const active = all.filter((j) => weightOf(j) > 0)
  const named = active.filter((j) => isJobId(j.jobId)).sort((a, b) => weightOf(b) - weightOf(a))
  const invalid = active.filter((j) => !isJobId(j.jobId))
  const separate = named.slice(0, most)
  const rest = [...named.slice(most), ...invalid]
  const byAccount = new Map<string, ForkJob[]>()
  for (const j of rest) {
    const list = byAccount.get(j.account)
    if (list) list.push(j)
    else byAccount.set(j.account, [j])
  }
  if (byAccount.size > ACCOUNTS_MAX) {
    const sizes = [...byAccount].map(([account, jobs]) => ({
      account,
      rate: jobs.reduce((n, j) => n + weightOf(j), 0),
    }))
    sizes.sort((a, b) => b.rate - a.rate)
    const small = sizes.slice(ACCOUNTS_MAX - 1).map((s) => s.account)
    const jobs = small.flatMap((account) => byAccount.get(account) ?? [])
    for (const account of small) byAccount.delete(account)
    byAccount.set('', [...(byAccount.get('') ?? []), ...jobs])
  }
  const taken = new Set(separate.map((j) => j.jobId))
  const sums = [...byAccount].map(([account, jobs]) => addUp(account, jobs, taken))
  return {
    jobs: [...separate, ...sums],
    idle: all.length - active.length,
    summed: named.length - separate.length,
    invalid: invalid.length,
  }
}

function addUp(account: string, jobs: readonly ForkJob[], taken: Set<string>): ForkJob {
  const plain = account.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 20)
  let id = plain === '' ? 'other' : `other.${plain}`
  for (let n = 2; taken.has(id); n++) id = `other.${plain.slice(0, 16)}.${n}`
  taken.add(id)
  const column = (of: (j: ForkJob) => readonly number[]): number[] => sum(jobs.map(of))
  const ops = new Map<string, number>()
  for (const j of jobs) for (const [op, n] of j.ops) ops.set(op, (ops.get(op) ?? 0) + n)
  const weights = jobs.map(weightOf)
  const all = weights.reduce((a, b) => a + b, 0)
  const nodes = jobs.reduce((n, j) => n + (j.nodes ?? 0), 0)
  return {
    jobId: id,
    user: '',
    account,
    nodes: nodes === 0 ? null : nodes,
    hosts: [],
    rpcs: column((j) => j.rpcs),
    readBps: column((j) => j.readBps),
    writeBps: column((j) => j.writeBps),
    mdops: column((j) => j.mdops),
    throttled: all > 0 ? jobs.reduce((n, j, i) => n + j.throttled * (weights[i] as number), 0) / all : 0,
    targets: jobs.some((j) => j.targets.length === 0) ? [] : [...new Set(jobs.flatMap((j) => j.targets))],
    ops,
  }
}
