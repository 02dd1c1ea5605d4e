/** Layout of the topology picture: jobs on their clients left, servers in the middle, targets right. */
import type { Topology } from '#core/api/sandbox.ts'

export interface Placed {
  readonly key: string
  readonly name: string
  /** Description shown on hover. */
  readonly description: string
  readonly y: number
  readonly height: number
}
export interface PlacedJob extends Placed {
  readonly colour: number
  readonly note: string
}
export interface TopologyLayout {
  readonly height: number
  readonly jobs: readonly PlacedJob[]
  readonly servers: readonly (Placed & { readonly kind: string })[]
  readonly targets: readonly (Placed & { readonly server: string; readonly serverY: number; readonly jobs: number })[]
  /** Edges from jobs to targets; `fromY` and `toY` are the middles. */
  readonly edges: readonly {
    readonly job: string
    readonly target: string
    readonly colour: number
    readonly fromY: number
    readonly toY: number
  }[]
  readonly moreJobs: number
}

export const ROW = 22
const GAP = 8
const TOP = 6
const JOBS_MAX = 40
const EDGES_MAX = 600

export function layoutOf(topology: Topology): TopologyLayout {
  let y = TOP
  const servers: (Placed & { kind: string })[] = []
  const targets: TopologyLayout['targets'][number][] = []
  for (const server of topology.servers) {
    const height = Math.max(1, server.targets.length) * ROW
    const parts = [server.version, server.policy, `${server.cpts} CPT`, `${server.threads} threads`]
    servers.push({
      key: server.name,
      name: server.name,
      kind: server.kind,
      y,
      height,
      description: `${server.name}, ${server.kind}: ${parts.filter(Boolean).join(', ')}`,
    })
    server.targets.forEach((target, i) => {
      targets.push({
        key: target.name,
        name: target.name,
        server: server.name,
        y: y + i * ROW,
        height: ROW,
        jobs: target.jobs,
        serverY: y + height / 2,
        description: `${target.name} of ${server.name}: ${target.detail}${target.detail === '' ? '' : ', '}${target.jobs} jobs`,
      })
    })
    y += height + GAP
  }
  const shown = topology.jobs.slice(0, JOBS_MAX)
  const tall = Math.max(y, TOP + (shown.length + 1) * ROW + GAP)
  // Jobs are spread over the height of the servers, so that lines cross little.
  const step = shown.length === 0 ? ROW : Math.max(ROW, Math.min(2 * ROW, (tall - TOP - ROW) / shown.length))
  const jobs = shown.map((job, i): PlacedJob => ({
    key: job.jobId,
    name: job.jobId,
    y: TOP + i * step,
    height: ROW,
    colour: job.colour,
    note: `${job.clients} \u00D7 ${job.processes}`,
    description: `${job.jobId}: ${job.processes} processes on ${job.clients} clients, ${job.detail}, on ${job.targets.length === 0 ? 'all' : job.targets.length} targets`,
  }))
  const osts = topology.servers.flatMap((s) => (s.kind === 'oss' ? s.targets.map((t) => t.name) : []))
  const byTarget = new Map(targets.map((t) => [t.key, t]))
  const edges = shown.flatMap((job, i) =>
    // No targets means all OSTs.
    (job.targets.length > 0 ? job.targets : osts).flatMap((name) => {
      const target = byTarget.get(name)
      const placed = jobs[i]
      if (!target || !placed) return []
      return [
        { job: job.jobId, target: name, colour: placed.colour, fromY: placed.y + ROW / 2, toY: target.y + ROW / 2 },
      ]
    }),
  )
  return {
    height: tall,
    jobs,
    servers,
    targets,
    edges: edges.slice(0, EDGES_MAX),
    moreJobs: topology.moreJobs + topology.jobs.length - shown.length,
  }
}
