/** The jobs of the table by what they have in common: who runs them, what they run, or the servers they are on. */
import type { JobGroupBy, JobsFrame } from '#core/api/frames.ts'
import { byCodeUnit } from '#core/base/order.ts'
import type { Viewed } from '../../cluster/viewed.ts'
import type { JobTable } from './job-rows.ts'
import { orZero, rateSamples } from './position.ts'

type Groups = NonNullable<JobsFrame['groups']>
/** Groups that are sent, those with most RPCs. */
const GROUPS = 200

/** What runs, by the usual forms of a job id: `4690.python.u1021`, `python.1021`, `python`. */
export function programOf(jobId: string): string {
  const parts = jobId.split('.')
  const first = /^\d+(?:[_[].*)?$/.test(parts[0] ?? '') && parts.length > 1 ? 1 : 0
  const last = parts.length - first > 1 && /^u?\d+$/.test(parts.at(-1) ?? '') ? -1 : undefined
  return parts.slice(first, last).join('.') || jobId
}

interface Sum {
  readonly name: string
  count: number
  nodes: number
  rpcs: number
  readBps: number | null
  writeBps: number | null
  mdops: number | null
  throttled: number
  busy: number
  record: number
}

function sumsOf(table: JobTable, shown: Uint32Array, keysOf: (i: number) => readonly string[]): Map<string, Sum> {
  const sums = new Map<string, Sum>()
  for (const i of shown) {
    for (const name of keysOf(i)) {
      let sum = sums.get(name)
      if (!sum) {
        sum = {
          ...{ name, count: 0, nodes: 0, rpcs: 0, readBps: 0, writeBps: 0 },
          mdops: 0,
          throttled: 0,
          busy: 0,
          record: 0,
        }
        sums.set(name, sum)
      }
      const rpcs = table.rpcs[i] as number
      sum.count++
      sum.nodes += table.jobs[i]?.nodes ?? 1
      sum.rpcs += rpcs
      sum.readBps = (sum.readBps ?? 0) + (table.readBps[i] as number)
      sum.writeBps = (sum.writeBps ?? 0) + (table.writeBps[i] as number)
      sum.mdops = (sum.mdops ?? 0) + (table.mdops[i] as number)
      sum.record += orZero(table.record[i] as number)
      if (rpcs === 0) continue
      sum.busy++
      sum.throttled += table.throttled[i] as number
    }
  }
  return sums
}

/** Of a server its own RPCs are told: what a job reads and writes is not known server by server. */
function onServers(viewed: Viewed, sample: number, sums: Map<string, Sum>): void {
  for (const sum of sums.values()) {
    sum.readBps = sum.writeBps = sum.mdops = null
    sum.rpcs = 0
    for (const { target, node } of viewed.targets)
      if (node === sum.name) sum.rpcs += orZero(viewed.recent.raw.targets.mean(target, 0, sample, rateSamples(viewed)))
  }
}

/** @param shown  jobs that pass the filter. */
export function groupsOf(
  viewed: Viewed,
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
  const all = [...sums.values()].sort((a, b) => b.rpcs - a.rpcs || byCodeUnit(a.name, b.name))
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
    throttled: sent.map((s) => (s.busy === 0 ? 0 : s.throttled / s.busy)),
    record: sent.map((s) => s.record),
  }
}
