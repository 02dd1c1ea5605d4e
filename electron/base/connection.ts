/** Connection to a cluster's nodes, and the source of its samples with its clock. */
import { HELPER_ROLES, isHelperRole, type ServerRole } from '#core/api/clusters.ts'
import type { Result } from '#core/base/result.ts'
import type { DataNode } from '#core/haechi/data-node.ts'
import type { CounterReading } from '#core/lustre/counter-stream.ts'
import type { JobIdSetting } from '#core/lustre/job-owner.ts'
import type { LockWorld } from '#core/seqdlm/trace/trace.ts'

/** Result of a shell command on a node. Callers do not know whether an SSH session or an emulated node ran it. */
export interface ExecResult {
  /** Byte text: one char code 0..255 per byte, so that job ids are preserved exactly. */
  readonly stdout: string
  readonly stderr: string
  readonly code: number
}

/**
 * Mechanism that ends a rule on a server at its expiry: a transient systemd timer, a detached POSIX sh, the helper that
 * sudoers allows, or none.
 */
export type TimerKind = 'systemd' | 'shell' | 'helper' | 'none'

/** Roles that the console uses. */
export type NodeRole = Exclude<ServerRole, 'mgs'>

export interface NodeConnection {
  /** Host name of the server; there is one connection per server, whatever its roles. */
  readonly host: string
  readonly roles: readonly NodeRole[]
  /**
   * Runs one command line. A command that ran is a result with its exit code, whatever that is.
   *
   * Failures: those of the SSH session (ssh/failures.ts); NODE_SILENT of an emulated server; NODE_READ_ONLY and
   * REMOTE_COMMAND_REFUSED if the command was not sent; for a server that is not read, the reason. Never rejects for
   * these: an exception is a defect of the program.
   */
  exec(command: string): Promise<Result<ExecResult>>
  /** Text that a command becomes on the server if it differs: with sudo, and absolute paths. */
  literal?(command: string): string
  /** undefined: readings are commands. */
  readonly counters?: CounterSource | undefined
  /** @default systemd */
  readonly timers?: TimerKind | undefined
}

/** Reader of a server's counters that is one process for the session, instead of a command per reading. */
export interface CounterSource {
  /**
   * Reads parameters by the names of lctl, all targets of a kind at once. `absent` names those that have to be read by lctl.
   *
   * Failures: STREAM_UNAVAILABLE with the reason, STREAM_BROKEN, those of the session. Whoever reads then uses lctl.
   */
  read(names: readonly string[]): Promise<Result<CounterReading>>
}

/** True if the node serves data or metadata. */
export const isLustreServer = ({ roles }: Pick<NodeConnection, 'roles'>): boolean =>
  roles.includes('oss') || roles.includes('mds')

/** True if the node alone makes a cluster that can be sampled: a Lustre server, a data node with tokens, a node of ccPFS. */
export const isSampled = (node: Pick<NodeConnection, 'roles'>): boolean =>
  isLustreServer(node) || node.roles.some((role) => isHelperRole(role) && HELPER_ROLES[role].isSampled)

/** Commands as they are sent to a node, with sudo and absolute paths. */
export const literals = (node: NodeConnection | undefined, commands: readonly string[]): string[] =>
  commands.map((c) => node?.literal?.(c) ?? c)

/** Job id settings by server; undefined if the server does not report them. */
export type JobIdSettings = ReadonlyMap<string, JobIdSetting | undefined>

/** Counters of one target since the source's start. */
export interface TargetCounters {
  readonly flow: ReadonlyMap<string, { readonly arrived: number; readonly dispatched: number }>
  /** Time that the device was busy, ns. */
  readonly busyNs: number
}

/** Source of samples, with its clock. */
export interface ClusterSource {
  readonly kind: 'LIVE' | 'EMULATED'
  readonly cluster: string
  readonly nodes: readonly NodeConnection[]
  /** Token rate T of one target, RPC/s: the controllers' budget. */
  readonly maxRate: number
  /** `maxRate` was not set by anyone. */
  readonly isRateGuessed?: boolean | undefined
  /** Current sampling period. */
  readonly periodNs: number
  /** Sets the period from the next sample on; a source without it has a fixed period. */
  setPeriodNs?(ns: number): void
  /** Set control period of servers with their own clocks; absent: servers are controlled with the samples. */
  readonly controlNs?: number | undefined
  /** Share of one server core that monitoring may use, if set. */
  readonly coreShare?: number | undefined
  /** `jobid_name` of the cluster's clients, if known: the format of job ids. */
  readonly jobIdName?: string | undefined
  /** Job id settings that each server reported when it was probed; absent: they are read from the node. */
  jobIdSettings?(): JobIdSettings
  /** Internal counters that only a source which owns its servers has; undefined for a live cluster. */
  inside?(target: string): TargetCounters | undefined
  /** Lock manager that traces every step; a live cluster has none. */
  readonly locks?: LockWorld | undefined
  /** Emulated Haechi data nodes; those of a live cluster are read by the monitor. */
  readonly dataNodes?: readonly DataNode[] | undefined
  /** Current time of the source: ns since its start, and Unix ms. */
  nowNs(): number
  toUnixMs(ns: number): number
}
