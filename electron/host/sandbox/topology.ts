/** Topology of a scenario: its clients, its servers with their targets, and its jobs, largest first. */
import type * as z from 'zod'
import type { topology } from '#core/api/sandbox.ts'
import type { Scenario } from '#core/emulator/scenario.ts'
import { isData } from '#core/emulator/operations.ts'
import { estimateDemands, type JobDemandEstimate } from '#core/sandbox/demand.ts'

export type Topology = z.infer<typeof topology>
type Server = Topology['servers'][number]

/** Most jobs listed by name. */
const JOBS_MAX = 40

const figure = (n: number): string => Math.round(n).toLocaleString('en')
const sized = (kib: number): string => (kib % 1024 === 0 ? `${kib / 1024} MiB` : `${kib} KiB`)

/** Short description of a job: `write 1 MiB, 16 × 4 in flight`. */
function aboutJob({ job }: JobDemandEstimate): string {
  const { pattern, op, size_kib, processes, outstanding } = job
  const what = [...new Set(op)].slice(0, 4).join(', ')
  const size = op.some(isData) ? ` ${sized(size_kib)}` : ''
  const pace =
    pattern.kind === 'bursts'
      ? `bursts of ${figure(pattern.rpcs * processes)} every ${pattern.every_s} s`
      : pattern.kind === 'poisson'
        ? `${figure(pattern.rate * processes)} RPC/s`
        : pattern.kind === 'phases'
          ? `${pattern.phases.length} phases`
          : `${figure(processes * outstanding)} in flight`
  return `${what}${size}, ${pace}`
}

function lustreServers(s: Scenario, jobs: readonly JobDemandEstimate[]): Server[] {
  const users = new Map<string, number>()
  const names = (of: 'oss' | 'mds'): string[] =>
    of === 'oss' ? s.oss.flatMap((o) => o.osts.map((t) => t.name)) : s.mds.flatMap((m) => m.mdts.map((t) => t.name))
  const all = { oss: names('oss'), mds: names('mds') }
  const known = new Map([...all.oss.map((n) => [n, 'oss'] as const), ...all.mds.map((n) => [n, 'mds'] as const)])
  for (const { job, data } of jobs) {
    for (const kind of ['oss', 'mds'] as const) {
      if (kind === 'oss' ? data === 0 : data === 1) continue
      const ownTargets = job.targets.length === 0 ? all[kind] : job.targets.filter((t) => known.get(t) === kind)
      for (const t of ownTargets) users.set(t, (users.get(t) ?? 0) + 1)
    }
  }
  const jobsOn = (t: string): number => users.get(t) ?? 0
  return [
    ...s.oss.map((o): Server => ({
      name: o.name,
      kind: 'oss',
      version: o.version,
      policy: o.policy ?? s.policy,
      cpts: o.cpts,
      threads: o.threads,
      targets: o.osts.map(({ name, disk }) => ({
        name,
        detail: `${figure(disk.bandwidth_mb_s)} MB/s, ${figure(disk.per_op_us)} µs per operation, ${disk.channels} at once`,
        jobs: jobsOn(name),
      })),
    })),
    ...s.mds.map((m): Server => ({
      name: m.name,
      kind: 'mds',
      version: m.version,
      policy: m.policy ?? s.policy,
      cpts: m.cpts,
      threads: m.threads,
      targets: m.mdts.map((t) => ({
        name: t.name,
        detail: `${figure(t.per_op_us)} µs per operation, ${t.channels} at once`,
        jobs: jobsOn(t.name),
      })),
    })),
  ]
}

function otherServers(s: Scenario): Server[] {
  const { ccpfs, haechi, padll } = s
  const plain = { version: '', cpts: 1, threads: 0 } as const
  const lockJobs = new Set(ccpfs?.workloads.map((w) => w.job)).size
  return [
    ...(ccpfs?.servers ?? []).map((name): Server => {
      const device = ccpfs?.costs.device_mb_s
      const detail = `lock service, device${device === undefined ? '' : ` ${figure(device)} MB/s`}`
      return {
        ...plain,
        name,
        kind: 'ccpfs',
        policy: ccpfs?.manager ?? '',
        targets: [{ name, detail, jobs: lockJobs }],
      }
    }),
    ...haechi.map((n): Server => {
      const jobs = new Set(n.clients.map((c) => c.job).filter((j) => j !== '')).size
      const detail = `${figure(n.global_iops)} I/O/s, ${n.clients.length} clients`
      return { ...plain, name: n.name, kind: 'data node', policy: n.variant, targets: [{ name: n.name, detail, jobs }] }
    }),
    ...(padll ? [padll] : []).map((p): Server => ({
      ...plain,
      name: p.controller_node,
      kind: 'controller',
      policy: p.algorithm,
      targets: [],
    })),
  ]
}

export function topologyOf(s: Scenario): Topology {
  const all = estimateDemands(s)
  const listed = [...all].sort((a, b) => b.rpcs - a.rpcs).slice(0, JOBS_MAX)
  return {
    clients: s.clients.count + s.clients.mounted_on.length,
    servers: [...lustreServers(s, all), ...otherServers(s)],
    jobs: listed.map((w) => ({
      jobId: w.job.id,
      // Assigned by the cluster.
      colour: 0,
      clients: w.job.clients.length,
      detail: aboutJob(w),
      targets: [...w.job.targets],
      processes: w.job.processes,
    })),
    moreJobs: all.length - listed.length,
  }
}
