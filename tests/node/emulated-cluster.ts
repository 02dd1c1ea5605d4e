/** Monitored cluster for tests: the real emulator, history, audit and control loop, driven by virtual time. */
import type { ControllerName } from '#core/controllers/registry.ts'
import { NS_PER_S } from '#core/base/units.ts'
import type { Mode } from '#core/control/controller.ts'
import { MODEL_FENCES, type Fences } from '#core/control/fences.ts'
import { loopOptionsOf, parseScenario, type Scenario } from '#core/emulator/scenario.ts'
import type { ClusterSource, NodeConnection } from '#electron/base/connection.ts'
import { EmulatedSource, metadataSettingsOf } from '#electron/cluster/emulated-source.ts'
import { ClusterMonitor } from '#electron/cluster/monitor.ts'
import { allCollectors } from '#electron/cluster/all-planes.ts'
import { Audit, type AuditRecord } from '#electron/base/audit.ts'
import { parseWhileTimerExists } from '#electron/base/while-timer-exists.ts'
import type { LeaseStore } from '#electron/enforce/lease.ts'
import type { StopRecords } from '#electron/enforce/store-stops.ts'
import { History } from '#electron/history/history.ts'
import { demoScenario } from '#electron/files/resources.ts'
import { readScenario } from '#electron/host/scenario-file.ts'

export interface JobLine {
  readonly id: string
  readonly clients?: readonly number[]
  readonly processes?: number
  readonly pattern?: object
  readonly targets?: readonly string[]
  readonly stop_s?: number
  readonly in_slurm?: boolean
}

/** Two servers with one slow target each; quick to emulate. */
export function smallScenario(
  jobs: readonly JobLine[],
  more: { period_ms?: number; policy?: string; adaptbf?: object } = {},
): Scenario {
  const disk = { bandwidth_mb_s: 1000, per_op_us: 20_000, channels: 4 }
  const read = parseScenario(
    JSON.stringify({
      title: 'Two servers',
      cluster: 'small',
      policy: more.policy ?? 'tbf jobid',
      clients: { count: 4 },
      oss: [1, 2].map((n) => ({ name: `oss0${n}`, osts: [{ name: `small-OST000${n}`, disk }] })),
      control: { max_rate: 200, period_ms: more.period_ms ?? 100, adaptbf: more.adaptbf ?? {} },
      jobs: jobs.map((j) => ({
        clients: [1],
        processes: 8,
        op: 'write',
        size_kib: 64,
        pattern: { kind: 'continuous' },
        ...j,
      })),
    }),
  )
  if (!read.ok) throw new Error(`${read.error.what}: ${read.error.why}`)
  return read.value
}

export const twoJobs = (): Scenario =>
  smallScenario([{ id: '1.hog.u1' }, { id: '2.calm.u2', clients: [2, 3], processes: 2 }])

export function demo(): Scenario {
  const read = readScenario(demoScenario())
  if (!read.ok) throw new Error(read.error.what)
  return read.value
}

export interface Sent {
  readonly host: string
  readonly command: string
  readonly atNs: number
}

export interface Setup {
  /** LIVE: the monitor treats the emulator as a live cluster, without internal knowledge. */
  readonly kind?: 'LIVE' | 'EMULATED'
  /** Emulation that continues after its console was closed; by default a new one. */
  readonly source?: EmulatedSource
  readonly session?: string
  readonly mode?: Mode
  readonly controller?: ControllerName
  /** Fences; by default those of a model, so that the controller's own decisions are visible. */
  readonly fences?: Fences
  readonly seed?: number
  /** Wraps the connection to every node: to fail, or to run something first. */
  readonly around?: (node: NodeConnection, nowNs: () => number) => NodeConnection
  readonly history?: History
  /** Stops and leases of a data folder. */
  readonly stops?: StopRecords | undefined
  readonly leases?: LeaseStore | undefined
  /** Called before a record is written; may throw. */
  readonly onAudit?: (record: AuditRecord) => void
}

/** Cluster and monitor, with all commands sent and records written. */
export function emulatedCluster(scenario: Scenario, setup: Setup = {}) {
  const source = setup.source ?? new EmulatedSource(scenario, { seed: setup.seed, epochSeconds: scenario.epoch_s })
  const sent: Sent[] = []
  const records: AuditRecord[] = []
  const nodes = source.nodes.map((node): NodeConnection => {
    const inner = setup.around?.(node, () => source.nowNs()) ?? node
    return {
      host: node.host,
      roles: node.roles,
      timers: inner.timers,
      exec: (command) => {
        sent.push({ host: node.host, command, atNs: source.nowNs() })
        return inner.exec(command)
      },
    }
  })
  const seen: ClusterSource = {
    kind: setup.kind ?? source.kind,
    cluster: source.cluster,
    nodes,
    maxRate: source.maxRate,
    periodNs: source.periodNs,
    nowNs: () => source.nowNs(),
    toUnixMs: (ns) => source.toUnixMs(ns),
    ...(setup.kind === 'LIVE' ? {} : { inside: (target) => source.inside(target) }),
  }
  const opened = setup.history ? undefined : History.open(':memory:', 0)
  const history = setup.history ?? (opened?.ok ? opened.value : undefined)
  if (!history) throw new Error('no history')
  history.beginSource(seen.kind, source.cluster, '', source.toUnixMs(0))
  const audit = new Audit((r) => {
    setup.onAudit?.(r)
    records.push(r)
    history.recordAudit(r)
  }, history.lastAudit())
  const monitor = new ClusterMonitor({
    source: seen,
    history,
    audit,
    session: setup.session ?? 'test',
    mode: setup.mode ?? scenario.control.mode,
    controller: setup.controller ?? scenario.control.controller,
    options: loopOptionsOf(scenario),
    fences: setup.fences ?? MODEL_FENCES,
    metadata: metadataSettingsOf(scenario),
    planes: allCollectors,
    stops: setup.stops,
    leases: setup.leases,
  })
  return {
    source,
    monitor,
    history,
    audit,
    sent,
    records,
    /** Commands sent so far that write a parameter, without the timer check before each. */
    writes: (): Sent[] =>
      sent
        .map((s) => ({ ...s, command: parseWhileTimerExists(s.command)?.command ?? s.command }))
        .filter((s) => s.command.startsWith('lctl set_param')),
    /** Runs to a virtual second; `each` is called after every sample. */
    run: (toSecond: number, each?: (atNs: number) => void): Promise<void> =>
      source.runTo(toSecond * NS_PER_S, async (atNs) => {
        await monitor.tick(atNs)
        each?.(atNs)
      }),
    /** Current rules of a node in its printed form. */
    rules: (host: string): string =>
      source.emulator.node(host)?.exec('lctl get_param -n ost.OSS.ost_io.nrs_tbf_rule').stdout ?? '',
  }
}

export type Emulated = ReturnType<typeof emulatedCluster>

/** All jobs of the latest sample, busiest first: the query of the jobs view. */
export const jobsQuery = {
  at: null,
  windowMs: 10_000,
  target: '',
  sort: 'rpcs',
  descending: true,
  filter: '',
  offset: 0,
  limit: 200,
} as const
