/** Jobs of the table grouped by user, account, program or server. */
import type { JobGroupBy, JobsFrame } from '#core/api/frames.ts'
import { byCodeUnit } from '#core/base/order.ts'
import type { ClusterView } from '../../../cluster/cluster-view.ts'
import { fixedJobColors, type JobColors } from '#core/series/job-colors.ts'
import type { StackOf } from '../stack.ts'
import type { JobTable } from './job-rows.ts'
import { orZero, rateSamples } from '../../position.ts'

/** Series of jobs without a known owner. */
const NO_OWNER = 'unknown'

type Groups = NonNullable<JobsFrame['groups']>
/** Most groups sent, those with most RPCs. */
const GROUPS = 200

/** Program name in the usual forms of a job id: `4690.python.u1021`, `python.1021`, `python`. */
export function programOf(jobId: string): string {
  const parts = jobId.split('.')
  const first = /^\d+(?:[_[].*)?$/.test(parts[0] ?? '') && parts.length > 1 ? 1 : 0
  const last = parts.length - first > 1 && /^u?\d+$/.test(parts.at(-1) ?? '') ? -1 : undefined
  return parts.slice(first, last).join('.') || jobId
}

/** Colors of groups, which are stable while the console runs, by cluster. */
const colors = new WeakMap<JobColors, Map<JobGroupBy, JobColors>>()

/** Group of a job by its owner or its program, and the colors of groups. */
export function groupKeys(viewed: ClusterView, by: Exclude<JobGroupBy, 'node'>): NonNullable<StackOf['groups']> {
  const { jobs } = viewed
  const known = colors.get(jobs.jobColors) ?? new Map<JobGroupBy, JobColors>()
  colors.set(jobs.jobColors, known)
  const own = known.get(by) ?? fixedJobColors()
  known.set(by, own)
  return {
    of: (jobId) => {
      if (by === 'exe') return programOf(jobId)
      const job = jobs.find(jobId)
      return (by === 'user' ? job?.user : job?.account) || NO_OWNER
    },
    colors: (names) => own.colors(names),
  }
}

interface Sum {
  readonly name: string
  count: number
  nodes: number
  /** null: none of its jobs was measured. */
  rpcs: number | null
  readBps: number | null
  writeBps: number | null
  mdops: number | null
  throttled: number
  busy: number
  isPartial: boolean
  record: number
}

/** Sum over known values. */
const plus = (sum: number | null, v: number): number | null => (Number.isNaN(v) ? sum : (sum ?? 0) + v)

function sumsOf(table: JobTable, shown: Uint32Array, keysOf: (i: number) => readonly string[]): Map<string, Sum> {
  const sums = new Map<string, Sum>()
  for (const i of shown) {
    for (const name of keysOf(i)) {
      let sum = sums.get(name)
      if (!sum) {
        sum = {
          name,
          count: 0,
          nodes: 0,
          rpcs: null,
          readBps: null,
          writeBps: null,
          mdops: null,
          throttled: 0,
          busy: 0,
          isPartial: false,
          record: 0,
        }
        sums.set(name, sum)
      }
      const rpcs = table.rpcs[i] as number
      sum.count++
      sum.nodes += table.jobs[i]?.nodes ?? 1
      sum.rpcs = plus(sum.rpcs, rpcs)
      sum.readBps = plus(sum.readBps, table.readBps[i] as number)
      sum.writeBps = plus(sum.writeBps, table.writeBps[i] as number)
      sum.mdops = plus(sum.mdops, table.mdops[i] as number)
      sum.isPartial ||= Number.isNaN(rpcs) || table.partial[i] === 1
      sum.record += orZero(table.record[i] as number)
      if (!(rpcs > 0) || Number.isNaN(table.throttled[i])) continue
      sum.busy++
      sum.throttled += table.throttled[i] as number
    }
  }
  return sums
}

/** A server group has the server's own RPCs only: reads and writes of a job are not known per server. */
function onServers(viewed: ClusterView, sample: number, sums: Map<string, Sum>): void {
  for (const sum of sums.values()) {
    sum.readBps = sum.writeBps = sum.mdops = null
    const nodeTargets = viewed.targets.filter(({ node }) => node === sum.name)
    const rates = nodeTargets.map(({ target }) =>
      viewed.recent.raw.targets.mean(target, 0, sample, rateSamples(viewed)),
    )
    sum.rpcs = nodeTargets.length === 0 ? 0 : rates.reduce<number | null>(plus, null)
    sum.isPartial = rates.some(Number.isNaN)
  }
}

const isLowerBound = (s: Sum): boolean => s.isPartial && s.rpcs !== null

/** @param shown  jobs that pass the filter. */
export function groupsOf(
  viewed: ClusterView,
  { table, shown, sample }: { readonly table: JobTable; readonly shown: Uint32Array; readonly sample: number },
  by: JobGroupBy,
): Groups {
  const keysOf = (i: number): readonly string[] => {
    const job = table.jobs[i]!
    if (by === 'user') return [job.user]
    if (by === 'account') return [job.account]
    if (by === 'exe') return [programOf(job.jobId)]
    const nodes = table.servers(i)
    return nodes.length === 0 ? [''] : nodes
  }
  const sums = sumsOf(table, shown, keysOf)
  if (by === 'node') onServers(viewed, sample, sums)
  const all = [...sums.values()].sort((a, b) => (b.rpcs ?? -1) - (a.rpcs ?? -1) || byCodeUnit(a.name, b.name))
  const sent = all.slice(0, GROUPS)
  return {
    by,
    known: all.length,
    name: sent.map((s) => s.name),
    count: sent.map((s) => s.count),
    nodes: sent.map((s) => s.nodes),
    rpcs: sent.map((s) => s.rpcs),
    readBps: sent.map((s) => s.readBps),
    writeBps: sent.map((s) => s.writeBps),
    mdops: sent.map((s) => s.mdops),
    throttled: sent.map((s) => (s.rpcs === null ? null : s.busy === 0 ? 0 : s.throttled / s.busy)),
    ...(sent.some(isLowerBound) ? { partial: sent.map(isLowerBound) } : {}),
    record: sent.map((s) => s.record),
  }
}
