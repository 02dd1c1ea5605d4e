/**
 * Workloads of the benchmark on the simulated cluster, whose costs are those of the paper's machines, and the published ratios.
 */
import { DLM_BASIC, DLM_DATATYPE, DLM_LUSTRE, type DlmPolicy } from '#core/seqdlm/policy.ts'
import { Cluster } from '#core/seqdlm/model/cluster.ts'
import { bytesOf, type BenchPlan } from './run.ts'
import { operationsOf, type WorkloadName } from './workloads.ts'

/** Published bandwidth of SeqDLM over another lock manager; the settings of the paper are larger than those of a laptop. */
export interface PublishedRatio {
  readonly workload: WorkloadName
  readonly over: DlmPolicy
  readonly ratio: string
  readonly source: string
}

export const PUBLISHED: readonly PublishedRatio[] = [
  {
    workload: 'n-1-segmented',
    over: DLM_BASIC,
    ratio: '0.98',
    source: 'Table III: 33.2 against 33.8 GB/s, 16 clients',
  },
  {
    workload: 'n-1-segmented',
    over: DLM_LUSTRE,
    ratio: '0.99',
    source: 'Table III: 33.2 against 33.7 GB/s, 16 clients',
  },
  {
    workload: 'n-1-strided',
    over: DLM_BASIC,
    ratio: 'up to 18.1',
    source: 'V-C1, 64 KB to 1 MB, 16 clients, one stripe',
  },
  { workload: 'tile', over: DLM_DATATYPE, ratio: '51.0 to 4.1', source: 'Fig. 23, 96 clients, 1 to 16 stripes' },
  {
    workload: 'checkpoint',
    over: DLM_LUSTRE,
    ratio: '1.5 to 34.8',
    source: 'Fig. 24, 1,280 processes, 256 KB and 1 MB, 1 and 16 stripes',
  },
]

/** Modeled bandwidth of a workload, 10^6 bytes/s while writing. */
export function modeled(plan: BenchPlan, workload: WorkloadName, policy: DlmPolicy): number {
  const { size, stripes, stripeSize, servers } = plan
  const cluster = new Cluster({ policy, clients: size.clients, servers, seed: 1, pages: 'cold' })
  let first = Infinity
  let last = 0
  let bytes = 0
  for (const [writer, client] of cluster.clients.entries()) {
    const base = workload === 'n-n' ? writer * stripes : 0
    const file = { base, stripes, stripeSize }
    const operations = operationsOf(workload, writer, size)
    bytes += bytesOf(workload, writer, size)
    let i = 0
    const next = (): void => {
      const operation = operations[i++]
      const [extent] = operation ?? []
      if (operation === undefined || extent === undefined) {
        last = Math.max(last, cluster.sim.now)
        return
      }
      const length = operation.reduce((n, { start, end }) => n + end - start, 0)
      if (operation.length === 1) client.write(file, extent.start, length, {}, next)
      else client.writeAtomic(file, operation, length, {}, next)
    }
    const at = cluster.skew()
    first = Math.min(first, at)
    cluster.sim.at(at, next)
  }
  cluster.sim.runUntil(Infinity)
  return bytes / 1e6 / ((last - first) / 1e9)
}
