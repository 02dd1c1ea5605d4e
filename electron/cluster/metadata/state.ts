/**
 * State of the metadata loop after a sample: the console as PADLL's global controller, metadata servers as its local
 * ones, their TBF rules in place of stages. Plain data for the views. Rates are op/s, times Unix ms.
 */
import type { MetadataSettings } from '#core/api/padll.ts'
import type { Failure } from '#core/base/result.ts'
import type { Algorithm } from '#core/padll/algorithms/algorithm.ts'
import type { Scope } from '#core/padll/vocabulary.ts'

/** Services of an MDS whose rules the loop writes. */
export type MetadataService = 'mdt' | 'mdt_readpage'

/** State of one line of the policies. */
export interface MetadataStep {
  readonly line: number
  readonly rule: number
  /** Seconds after the start of the policy file. */
  readonly atS: number
  readonly kind: string
  readonly job: string
  readonly scope: string
  readonly value: number
  /** unknown-job: in force, but no such job was seen; ignored: a kind that is read and not enforced. */
  readonly state: 'waiting' | 'active' | 'replaced' | 'unknown-job' | 'ignored'
}

/** One job in one scope. */
export interface MetadataJob {
  readonly job: string
  readonly scope: Scope
  /** Demand by its policies; null without one. */
  readonly demand: number | null
  readonly limit: number | null
  /** No parameter of a server shows waiting operations by job: always null. */
  readonly asked: null
  /** Operations of the scope over the last cycle, as counted by job_stats of all MDTs; null in a gap. */
  readonly measured: number | null
  /** Current allocation of the algorithm; null if unlimited. */
  readonly allocated: number | null
  /** Set if it recently did any metadata operation. */
  readonly isActive: boolean
  /** Rules that match it, and those of them that ran at their rate over the last cycle. */
  readonly rules: number
  readonly atLimit: number
}

/** One rule of Sluice on one server. */
export interface MetadataRule {
  /** Unique over all servers: host, service and name. */
  readonly key: string
  readonly host: string
  readonly service: MetadataService
  readonly name: string
  readonly job: string
  /** Scopes of the policies that it serves, broadest last; `open`, or `open` and `meta_op`. */
  readonly scopes: readonly Scope[]
  /** RPC opcodes that it matches; empty: all of the service (TBF type without opcode). */
  readonly opcodes: readonly string[]
  /** Operations carried by those opcodes, as text. */
  readonly operations: string
  /** As sent, for example `jobid={4690.*}&opcode={ldlm_enqueue}`. */
  readonly conditions: string
  /** RPC/s per class, as in the rule. */
  readonly rate: number
  /** Total over the classes and CPTs of the server. */
  readonly limit: number
  /** Operations that it let through over the last cycle; null in a gap. */
  readonly measured: number | null
  readonly atLimit: boolean
  /** Set if the server printed it with this rate when it was last read. */
  readonly inForce: boolean
}

export interface MetadataServer {
  readonly host: string
  readonly state: 'ok' | 'silent'
  readonly lastSeenMs: number | null
  readonly why: string
  readonly cpts: number
  /** Running policy by service, as the server names it: `tbf jobid+opcode`, `fifo`. */
  readonly policies: Readonly<Record<MetadataService, string>>
  /** Metadata operations of all jobs over the last cycle; null in a gap. */
  readonly measured: number | null
  /** RPCs waiting in both services. */
  readonly queued: number
  /** Time at which the timer fires that removes Sluice's rules there; null without one. */
  readonly leaseUntilMs: number | null
  readonly rules: readonly MetadataRule[]
}

/** Part of a policy that rules cannot express, with its line; 0: of a limit, or of a server as a whole. */
export interface UnsupportedPolicy {
  readonly line: number
  readonly text: string
}

export interface MetadataEvent {
  readonly seq: number
  readonly atMs: number
  readonly kind: 'join' | 'leave' | 'policy' | 'lost' | 'controller'
  readonly text: string
  readonly where: string
}

/** State of one control cycle. */
export interface MetadataState {
  /** Sample of the recent history (`Recent.raw`) at which the cycle ended, and its time. */
  readonly sample: number
  readonly atMs: number
  /** Number of cycles, and the duration of the last one from reading to the last answer, ms of wall time. */
  readonly cycle: number
  readonly cycleMs: number | null
  readonly settings: MetadataSettings
  /** Scopes with a limit or a policy, `meta_op` first. */
  readonly scopes: readonly Scope[]
  readonly jobs: readonly MetadataJob[]
  /** Metadata servers in the order of the source. */
  readonly servers: readonly MetadataServer[]
  readonly steps: readonly MetadataStep[]
  /** Time until the next step, s; null if none is waiting. */
  readonly nextInS: number | null
  readonly unexpressed: readonly UnsupportedPolicy[]
  readonly failures: readonly Failure[]
  /** Last events, oldest first. */
  readonly events: readonly MetadataEvent[]
}

/**
 * Series of one job in one scope in `MetadataLoop.series` (`SeriesTable`, sample numbers as in `Recent.raw`): op/s served over
 * the second before the sample, what was allocated, and the system limit of the scope. NaN is a gap, or none.
 */
export const METADATA_COLUMNS = ['measured', 'allocated', 'limit'] as const
export const metadataColumn = (m: (typeof METADATA_COLUMNS)[number]): number => METADATA_COLUMNS.indexOf(m)
/** Name of the series of a job in a scope; of the scope as a whole with an empty job. */
export const metadataSeries = (job: string, scope: string): string => `${job}\u0000${scope}`

/** Changes of the settings; an omitted field is unchanged. */
export interface MetadataChange {
  readonly algorithm?: Algorithm
  readonly epsilon?: number
  readonly slots?: number | null
  /** Rate null removes the limit of the scope. */
  readonly limit?: { readonly scope: string; readonly rate: number | null }
  readonly policies?: string
}

/** Effect of a policy text before it is applied. */
export interface MetadataPreview {
  readonly steps: readonly MetadataStep[]
  readonly unexpressed: readonly UnsupportedPolicy[]
  /** Literal commands by server that would be sent now. */
  readonly commands: readonly { readonly host: string; readonly commands: readonly string[] }[]
}
