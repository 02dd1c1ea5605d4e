/**
 * What the metadata loop knows after a sample: the console as PADLL's global controller, metadata servers as its local ones,
 * their TBF rules in the place of stages. Plain data for the views. Rates are op/s, times Unix ms.
 */
import type { Failure } from '#core/base/result.ts'
import type { Algorithm } from '#core/padll/algorithms/algorithm.ts'
import type { Scope } from '#core/padll/vocabulary.ts'

/** The services of an MDS whose rules the loop writes. */
export type MetadataService = 'mdt' | 'mdt_readpage'

/** What an operator chooses. Without a limit and without policies nothing is written. */
export interface MetadataSettings {
  readonly algorithm: Algorithm
  readonly epsilon: number
  /** Divisor of `uniform`; null: the number of jobs. */
  readonly slots: number | null
  /** Most that all jobs with a policy together may do, by scope. */
  readonly limits: readonly { readonly scope: Scope; readonly rate: number }[]
  /** The policy file as it was given, text or YAML; empty: none. */
  readonly policies: string
  /** When second 0 of the policy file was; null without policies. */
  readonly startedMs: number | null
  /** Length of one control cycle. */
  readonly intervalMs: number
}

/** One line of the policies as it stands. */
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
  /** What its policies say; null without one. */
  readonly demand: number | null
  readonly limit: number | null
  /** No parameter of a server tells what waits by job: always null. */
  readonly asked: null
  /** Operations of the scope over the last cycle, as job_stats of all MDTs counted them; null in a gap. */
  readonly measured: number | null
  /** What the algorithm gives it now; null where nothing limits it. */
  readonly allocated: number | null
  /** Whether it did any metadata operation of late. */
  readonly isActive: boolean
  /** Rules that hold it, and those of them that ran at their rate over the last cycle. */
  readonly rules: number
  readonly atLimit: number
}

/** One rule of ours on one server. */
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
  /** Operations that those opcodes carry, in words. */
  readonly operations: string
  /** As it is sent, for example `jobid={4690.*}&opcode={ldlm_enqueue}`. */
  readonly conditions: string
  /** RPC/s per class, as it stands in the rule. */
  readonly rate: number
  /** What that comes to over the classes and CPTs of the server. */
  readonly limit: number
  /** Operations that it let through over the last cycle; null in a gap. */
  readonly measured: number | null
  readonly atLimit: boolean
  /** Whether the server printed it with this rate when it was last read. */
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
  /** RPCs that wait in both services. */
  readonly queued: number
  /** When the timer fires that removes our rules there; null without one. */
  readonly leaseUntilMs: number | null
  readonly rules: readonly MetadataRule[]
}

/** What the rules cannot do of a policy, with its line; 0: of a limit, or of a server as a whole. */
export interface Unexpressed {
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

/** Everything of one control cycle. */
export interface MetadataState {
  /** Sample of the recent past (`Recent.raw`) at which the cycle ended, and its instant. */
  readonly sample: number
  readonly atMs: number
  /** Cycles so far; what the last one took from reading to the last answer, ms of wall time. */
  readonly cycle: number
  readonly cycleMs: number | null
  readonly settings: MetadataSettings
  /** Scopes with a limit or a policy, `meta_op` first. */
  readonly scopes: readonly Scope[]
  readonly jobs: readonly MetadataJob[]
  /** Metadata servers in the order of the source. */
  readonly servers: readonly MetadataServer[]
  readonly steps: readonly MetadataStep[]
  /** Until the next step is due, s; null: none is waiting. */
  readonly nextInS: number | null
  readonly unexpressed: readonly Unexpressed[]
  readonly failures: readonly Failure[]
  /** The last ones, oldest first. */
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

/** What is changed of the settings; what is not named stays. */
export interface MetadataChange {
  readonly algorithm?: Algorithm
  readonly epsilon?: number
  readonly slots?: number | null
  /** Rate null takes the limit of the scope away. */
  readonly limit?: { readonly scope: string; readonly rate: number | null }
  readonly policies?: string
}

/** What a policy text would do, before it is applied. */
export interface MetadataPreview {
  readonly steps: readonly MetadataStep[]
  readonly unexpressed: readonly Unexpressed[]
  /** Literal commands by server, as they would be sent now. */
  readonly commands: readonly { readonly host: string; readonly commands: readonly string[] }[]
}
