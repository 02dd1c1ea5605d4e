/**
 * Parameters of ptlrpc services: scheduler, threads, buffers and counters.
 *
 * Source: spec/lustre 0.1, 3, 6.1, 6.7; places by release from the listings of running nodes.
 */
import { fail, type Result } from '../../base/result.ts'
import type { Errno } from '../../lustre/errno.ts'
import { formatServiceTimeouts } from '../../lustre/service-timeouts.ts'
import type { Nodemaps } from '../../tbf/nodemaps.ts'
import { OST_IO_POLICIES, OTHER_POLICIES } from '../../tbf/policy-command.ts'
import { NrsService } from '../../tbf/nrs-service.ts'
import type { ScheduledRequest } from '../../tbf/scheduler.ts'
import type { TbfModule } from '../../tbf/tbf-module.ts'
import { CounterTable } from '../live-counter.ts'
import type { Parameter } from '../parameter.ts'
import type { ServiceEstimate } from '../service-estimate.ts'
import { file, storedNumber, kernelNumber, line, numberLine, text, written, type FileOps } from './file.ts'
import type { NodeState } from './node.ts'
import { RPC_OPCODES } from '../../tbf/rpc-opcodes.ts'
import { statsFile, type CounterKind, type StatsSource } from './stats-file.ts'

/** Scheduler state that parameters read and write. */
type SchedulerView = Pick<
  NrsService<ScheduledRequest>,
  | 'readPolicies'
  | 'writePolicies'
  | 'readRules'
  | 'writeRule'
  | 'policyParameters'
  | 'readPolicyParameter'
  | 'writePolicyParameter'
  | 'highPriorityRatio'
>

/** Interface of a service to its parameters. */
export interface ServiceView {
  /** Directories above its files: `ost`, `OSS`, `ost_io`. */
  readonly path: readonly [string, string, string]
  readonly nrs: SchedulerView
  readonly stats: StatsSource
  /** Threads of all CPTs; all are started with the service and persist. */
  readonly threads: number
  /** Service time estimate of each CPT. Absent on an idle service. */
  readonly estimates?: readonly ServiceEstimate[]
  /** Makes the threads poll again after a change of rules or policies. */
  readonly kick: () => void
}

export interface ServiceKind {
  readonly path: readonly [string, string, string]
  /** True if it has a high-priority queue. */
  readonly hp: boolean
  /** True if `orr` and `trr` are registered. */
  readonly isOstIo: boolean
}

const kind = (group: readonly [string, string], name: string, hp = false): ServiceKind => ({
  path: [...group, name],
  hp,
  isOstIo: name === 'ost_io',
})

const OSS = ['ost', 'OSS'] as const
const MDS = ['mds', 'MDS'] as const
const LDLM = ['ldlm', 'services'] as const

/** Services of a node by role. */
export const SERVICES = {
  oss: [
    kind(OSS, 'ost', true),
    kind(OSS, 'ost_create'),
    kind(OSS, 'ost_io', true),
    kind(OSS, 'ost_out'),
    kind(OSS, 'ost_seq'),
  ],
  mds: [
    kind(MDS, 'mdt', true),
    kind(MDS, 'mdt_fld'),
    kind(MDS, 'mdt_io', true),
    kind(MDS, 'mdt_out'),
    kind(MDS, 'mdt_readpage'),
    kind(MDS, 'mdt_seqm'),
    kind(MDS, 'mdt_seqs'),
  ],
  /** Also on clients. */
  ldlm: [kind(LDLM, 'ldlm_canceld', true), kind(LDLM, 'ldlm_cbd')],
  mgs: [kind(['mgs', 'MGS'], 'mgs')],
} as const satisfies Record<string, readonly ServiceKind[]>

/** State shared by the services of a node. */
export interface ServiceSide {
  readonly module: TbfModule
  readonly nodemaps?: Nodemaps
}

/** Service that receives no RPCs from emulated clients: its scheduler can be configured, but no RPC ever waits in it. */
export function idleService(of: ServiceKind, node: NodeState, side: ServiceSide): ServiceView {
  return {
    path: of.path,
    nrs: new NrsService<ScheduledRequest>({
      cpts: node.cpts,
      hp: of.hp,
      policies: of.isOstIo ? OST_IO_POLICIES : OTHER_POLICIES,
      profile: node.profile,
      ...side,
    }),
    stats: new CounterTable(node.clock()),
    threads: 2 * node.cpts,
    kick: () => undefined,
  }
}

/** Services of a role: the emulated ones, and idle ones for the rest. */
export const servicesOf = (
  kinds: readonly ServiceKind[],
  played: readonly ServiceView[],
  node: NodeState,
  side: ServiceSide,
): ServiceView[] => kinds.map((k) => played.find((s) => s.path.join() === k.path.join()) ?? idleService(k, node, side))

/** Counters that every service registers before those of its RPCs. */
const SERVICE_COUNTERS: readonly CounterKind[] = [
  { name: 'req_waittime', unit: 'usecs' },
  { name: 'req_qdepth', unit: 'reqs' },
  { name: 'req_active', unit: 'reqs' },
  { name: 'req_timeout', unit: 'secs' },
  { name: 'reqbuf_avail', unit: 'bufs' },
  // RPCs that carry another operation are counted first by that operation, each as one.
  ...['glimpse', 'plain', 'extent', 'flock', 'ibits'].map((l) => ({ name: `ldlm_${l}_enqueue`, unit: 'reqs' })),
  ...['setattr', 'create', 'link', 'unlink', 'rename', 'open', 'setxattr', 'resync'].map((r) => ({
    name: `mds_reint_${r}`,
    unit: 'reqs',
  })),
  ...['read_bytes', 'write_bytes'].map((name) => ({ name, unit: 'bytes' })),
]

/** Rows of a service's table in output order; RPCs by opcode number. */
const SERVICE_ROWS: readonly CounterKind[] = [
  ...SERVICE_COUNTERS,
  ...[...RPC_OPCODES].sort(([, a], [, b]) => a - b).map(([name]) => ({ name, unit: 'usecs' })),
]

function threadFiles(service: ServiceView): Readonly<Record<string, FileOps>> {
  // All threads start with the service, as on a server with a configured thread count.
  let least = service.threads
  let most = service.threads
  const bounded =
    (min: () => number, max: () => number, set: (n: number) => void) =>
    (value: string): Result<undefined, Errno> => {
      const n = kernelNumber(value)
      if (n === undefined) return fail('EINVAL')
      if (n < min() || n > max()) return fail('ERANGE')
      set(n)
      return written
    }
  return {
    threads_max: line(
      () => most,
      bounded(
        () => least,
        () => 2 ** 31 - 1,
        (n) => {
          most = n
        },
      ),
    ),
    threads_min: line(
      () => least,
      bounded(
        () => 2,
        () => most,
        (n) => {
          least = n
        },
      ),
    ),
    threads_started: line(() => service.threads),
  }
}

const timeoutsFile = (node: NodeState, estimates: readonly ServiceEstimate[]): FileOps =>
  text(() =>
    formatServiceTimeouts(
      estimates.map(({ current, worst, worstNs, parts }) => ({
        name: 'service',
        current,
        worst,
        worstAt: node.unixSecondsAt(worstNs),
        ago: node.unixSecondsAt(node.clock()) - node.unixSecondsAt(worstNs),
        quarters: parts,
      })),
    ),
  )

/** Files of one service. */
export function serviceParameters(node: NodeState, service: ServiceView): Parameter[] {
  const { nrs, path, kick } = service
  const kicked = (write: (value: string) => Result<undefined, Errno>) => (value: string) => {
    const done = write(value)
    // Even a failed write may have changed the queues before the one that failed.
    kick()
    return done
  }
  const at = (place: 'sysfs' | 'debugfs', name: string, ops: FileOps): Parameter => file(place, [...path, name], ops)
  return [
    at(
      'sysfs',
      'high_priority_ratio',
      numberLine(
        () => nrs.highPriorityRatio,
        (n) => {
          nrs.highPriorityRatio = n
        },
      ),
    ),
    ...Object.entries(threadFiles(service)).map(([name, ops]) => at('sysfs', name, ops)),
    file(node.debugfsThenSysfs, [...path, 'req_buffers_max'], storedNumber(0)),
    at('debugfs', 'nrs_policies', {
      read: () => nrs.readPolicies(),
      write: kicked((v) => nrs.writePolicies(v)),
    }),
    at('debugfs', 'nrs_tbf_rule', { read: () => nrs.readRules(), write: kicked((v) => nrs.writeRule(v)) }),
    ...nrs.policyParameters.map((name) =>
      at('debugfs', name, {
        read: () => nrs.readPolicyParameter(name),
        write: kicked((v) => nrs.writePolicyParameter(name, v)),
      }),
    ),
    at('debugfs', 'stats', statsFile(node, service.stats, SERVICE_ROWS)),
    ...(service.estimates ? [at('debugfs', 'timeouts', timeoutsFile(node, service.estimates))] : []),
  ]
}
