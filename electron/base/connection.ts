/** How a cluster is reached, and whose clock its samples carry. */
import type { Result } from '#core/base/result.ts'
import type { EmulatedDataNode } from '#core/emulator/data-node.ts'
import type { JobIdSetting } from '#core/lustre/job-owner.ts'
import type { LockWorld } from '#core/seqdlm/trace/trace.ts'

/**
 * A node is a shell. Nothing above this interface knows whether an SSH session or an emulated node answers.
 */
export interface ExecResult {
  /** Byte text: one char code 0..255 per byte, so that nothing of a job id is lost. */
  readonly stdout: string
  readonly stderr: string
  readonly code: number
}

/**
 * How a rule's expiry is kept on a server: by a transient systemd timer, by a detached POSIX sh, by the helper that sudoers
 * allows, or not at all.
 */
export type TimerKind = 'systemd' | 'shell' | 'helper' | 'none'

/** controller: where the global controller of PADLL's stages runs. */
export type NodeRole = 'oss' | 'mds' | 'scheduler' | 'controller'

export interface NodeConnection {
  /** Name of the server, whatever it serves as: there is one connection a server. */
  readonly host: string
  readonly roles: readonly NodeRole[]
  /**
   * Runs one command line. A command that ran is a result with its exit code, whatever that is.
   *
   * Failures: those of the SSH session (ssh/failures.ts); NODE_SILENT of an emulated server; NODE_READ_ONLY and
   * REMOTE_COMMAND_REFUSED, with which a command is not sent; of a server that is not read, why. It rejects for none of them: an
   * exception is a fault of the program.
   */
  exec(command: string): Promise<Result<ExecResult>>
  /** The text that a command becomes on the server, where that is another one: with sudo, and absolute paths. */
  literal?(command: string): string
  /** systemd where nothing else is said. */
  readonly timers?: TimerKind | undefined
}

/** Whether it serves data or metadata. */
export const isLustreServer = ({ roles }: Pick<NodeConnection, 'roles'>): boolean =>
  roles.includes('oss') || roles.includes('mds')

/** Commands as they are sent to a node. */
export const literals = (node: NodeConnection | undefined, commands: readonly string[]): string[] =>
  commands.map((c) => node?.literal?.(c) ?? c)

/** How job ids are made, by server; undefined: the server does not tell. */
export type JobIdSettings = ReadonlyMap<string, JobIdSetting | undefined>

/** Counters of one target since the source's start. */
export interface TargetInside {
  readonly flow: ReadonlyMap<string, { readonly arrived: number; readonly dispatched: number }>
  /** Time in which the device was at work, ns. */
  readonly busyNs: number
}

/** Where samples come from, and whose clock they carry. */
export interface ClusterSource {
  readonly kind: 'LIVE' | 'EMULATED'
  readonly cluster: string
  readonly nodes: readonly NodeConnection[]
  /** Token rate T of one target, RPC/s: the controllers' budget. */
  readonly maxRate: number
  /** Between two samples, as it is run now. */
  readonly periodNs: number
  /** Runs another period from the next sample on; a source without it samples as it was set. */
  setPeriodNs?(ns: number): void
  /** Share of one core of a server that reading it may take, where that was set. */
  readonly coreShare?: number | undefined
  /** `jobid_name` of the cluster's clients, where it is known: how job ids are made. */
  readonly jobIdName?: string | undefined
  /** How job ids are made, as each server said when it was looked at; absent: it is read. */
  jobIdSettings?(): JobIdSettings
  /** What only a source that owns its servers can tell of a target; a live cluster has none of it. */
  inside?(target: string): TargetInside | undefined
  /** A lock manager that tells every step; a live cluster has none. */
  readonly locks?: LockWorld | undefined
  /** Data nodes that hand out tokens; there are none outside the emulator. */
  readonly dataNodes?: readonly EmulatedDataNode[] | undefined
  /** The source's clock now: ns since its start, and Unix ms. */
  nowNs(): number
  toUnixMs(ns: number): number
}
