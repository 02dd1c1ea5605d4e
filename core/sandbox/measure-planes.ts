/** Figures of what runs beside the OSTs: metadata under PADLL, locks of the ccPFS, reservations of data nodes. */
import { NS_PER_MS } from '../base/units.ts'
import type { EmulatedCluster } from '../emulator/cluster.ts'
import { processesOf } from '../emulator/scenario-ccpfs.ts'
import { Tally } from '../sim/statistics.ts'
import type { PlaneFigure } from './run-report.ts'

/**
 * @param seconds  of the simulation so far.
 *
 * Figures: `metadata` served, op/s of all MDTs, and the p95 of what PADLL's stages held operations back, ms; `locks` written and
 * read, bytes/s, and the part of the processes' time that requests of locks waited at the servers; `tokens` completed, I/O/s,
 * and the part of the I/Os promised by reservations that were done in their periods. A client that asks for less than its
 * reservation is promised what it asks for.
 */
export function planeFigures(cluster: EmulatedCluster, seconds: number): PlaneFigure[] {
  return [...metadata(cluster, seconds), ...locks(cluster, seconds), ...tokens(cluster, seconds)]
}

function metadata({ mds, jobs, padll }: EmulatedCluster, seconds: number): PlaneFigure[] {
  const served = mds.flatMap((m) => m.mdts).reduce((n, t) => n + t.servedRpcs, 0)
  const figures: PlaneFigure[] = []
  if (mds.length > 0) figures.push({ plane: 'metadata', what: 'served', unit: 'op/s', value: served / seconds })
  if (!padll) return figures
  const held = new Tally()
  for (const j of jobs) held.merge(j.held)
  const value = held.count === 0 ? NaN : held.quantile(0.95) / NS_PER_MS
  return [...figures, { plane: 'metadata', what: 'held back by PADLL, p95', unit: 'ms', value }]
}

function locks({ ccpfs, scenario }: EmulatedCluster, seconds: number): PlaneFigure[] {
  if (!ccpfs || !scenario.ccpfs) return []
  const { total } = ccpfs.run
  const processes = scenario.ccpfs.workloads.reduce((n, w) => n + processesOf(w), 0)
  return [
    { plane: 'locks', what: 'written', unit: 'B/s', value: total.writtenBytes / seconds },
    { plane: 'locks', what: 'read', unit: 'B/s', value: total.readBytes / seconds },
    { plane: 'locks', what: 'waiting for locks', unit: 'part', value: ccpfs.waitedNs / 1e9 / (seconds * processes) },
  ]
}

function tokens({ dataNodes, sim }: EmulatedCluster, seconds: number): PlaneFigure[] {
  if (dataNodes.length === 0) return []
  let [completed, promised, kept] = [0, 0, 0]
  for (const d of dataNodes) {
    const run = d.run(sim.now)
    if (!run) continue
    for (const { completed: by } of run.node.periods.items) {
      run.clients.forEach((c, i) => {
        const n = by[i] ?? 0
        completed += n
        if (c.outside || c.reservation === 0 || run.node.client(i)?.state !== 'active') return
        const due = Math.min(c.reservation, askedOf(c, d.scenario.period_ms))
        promised += due
        kept += Math.min(n, due)
      })
    }
  }
  return [
    { plane: 'tokens', what: 'completed', unit: 'I/O/s', value: completed / seconds },
    { plane: 'tokens', what: 'reservations kept', unit: 'part', value: promised === 0 ? NaN : kept / promised },
  ]
}

/** I/Os that a client asks for in a period, as far as its workload says; Infinity where it asks for all it gets. */
function askedOf(
  { workload: w }: EmulatedCluster['scenario']['haechi'][number]['clients'][number],
  periodMs: number,
): number {
  if (w.kind === 'burst' || w.kind === 'constant') return w.per_period
  if (w.kind === 'backlogged') return Infinity
  const part = w.kind === 'on-off' ? w.on_ms / (w.on_ms + w.off_ms) : 1
  // What arrives at random is now and then less than its mean: two deviations below it still count.
  const mean = (w.per_s * part * periodMs) / 1000
  return Math.max(0, Math.floor(mean - 2 * Math.sqrt(mean)))
}
