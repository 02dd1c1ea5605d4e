/**
 * Observations of a cluster as input of a fork: plain data, independent of the source. Rates are per second; NaN is a
 * gap.
 */
import type { ControllerName } from '../controllers/registry.ts'
import type { HaechiPreset, HaechiVariant, PadllAlgorithm } from '../controllers/settings.ts'
import type { LoopOptions } from '../adaptbf/loop-options.ts'
import type { Mode } from '../control/controller.ts'
import type { RuleService } from '../emulator/scenario-rules.ts'
import type { Scenario } from '../emulator/scenario.ts'
import type { PlaneName, PlaneTableId } from '../series/plane-tables.ts'

/** Series have one value per bin. */
export interface ForkJob {
  readonly jobId: string
  readonly user: string
  readonly account: string
  /** null if unknown to the batch system. */
  readonly nodes: number | null
  /** Names of its nodes, as far as known. */
  readonly hosts: readonly string[]
  readonly rpcs: readonly number[]
  readonly readBps: readonly number[]
  readonly writeBps: readonly number[]
  readonly mdops: readonly number[]
  /** Part of the time at the limit of its rule, 0..1. */
  readonly throttled: number
  /** Targets on which it was seen, OSTs and MDTs; empty if unknown. */
  readonly targets: readonly string[]
  /** Metadata operations by job_stats counter; empty if unknown. */
  readonly ops: ReadonlyMap<string, number>
}

export interface ForkTarget {
  readonly name: string
  readonly server: string
  readonly rpcs: readonly number[]
  /** Mean time of an RPC from a thread to the reply, ms. */
  readonly serviceMs: readonly number[]
  /** RPCs in the scheduler of its server. */
  readonly queued: readonly number[]
}

export interface ForkMdt {
  readonly name: string
  readonly server: string
  /** Mean time of an operation, µs; NaN if unknown. */
  readonly perOpUs: number
}

export interface ForkServer {
  readonly name: string
  readonly kind: 'oss' | 'mds'
  /** undefined if unknown. */
  readonly version: string | undefined
  readonly cpts: number | undefined
  readonly policy: string
}

/** Rule in force, to be written in the order of the list. */
export interface ForkRule {
  readonly service: RuleService
  readonly line: string
  readonly servers: readonly string[]
}

/** PADLL as its global controller reports it. */
export interface ForkPadll {
  /** Name of the controller. */
  readonly controller: string
  readonly algorithm: PadllAlgorithm
  readonly epsilon: number
  readonly split: 'equal' | 'usage'
  readonly intervalMs: number
  readonly collectRounds: number
  readonly leaseS: number
  /** Rate of a stage whose lease has expired, op/s; undefined: it holds its last rates. */
  readonly expiryRate: number | undefined
  /** System limits, op/s. */
  readonly limits: readonly { readonly scope: string; readonly rate: number }[]
  readonly policies: { readonly text: string; readonly elapsedS: number }
  readonly jobs: readonly {
    readonly job: string
    readonly user: string
    /** Host of each stage. */
    readonly hosts: readonly string[]
    /** Operations that arrived at the stages, op/s, mean of the range. */
    readonly asked: number
    /** Operations that wait in the stages. */
    readonly queued: number
    /** Operations by job_stats counter, for a job whose servers do not count them. */
    readonly ops?: ReadonlyMap<string, number>
  }[]
  /** Channels of the stages as a housekeeping file. @default one channel for all metadata operations */
  readonly housekeeping?: string | undefined
  /** True if it is made from rows: settings and policies are assumed. */
  readonly isFromRows?: boolean
}

/** A data node at the instant of the fork. */
export interface ForkDataNode {
  readonly name: string
  readonly variant: HaechiVariant
  readonly preset: HaechiPreset
  /** Capacity in force, I/O/s. */
  readonly iops: number
  /** Clients that are present. */
  readonly clients: readonly { readonly name: string; readonly reservation: number; readonly limit: number | null }[]
}

/** Series of a plane over the range. Values are by the names of the table's columns; NaN is a gap. */
export interface ForkRow extends PlaneName {
  /** True for the row in which series without one of their own are summed. */
  readonly isOthers: boolean
  /** First and last period with a row, s from the beginning of the range, and their number. */
  readonly fromS: number
  readonly toS: number
  readonly rows: number
  /** Values of the first period. */
  readonly first: Readonly<Record<string, number>>
  /** Values over the range, each by the roll-up of its column. */
  readonly values: Readonly<Record<string, number>>
  /** Means between its first and last row; a rate without a row is zero. */
  readonly means: Readonly<Record<string, number>>
}

/** Rows of the planes over the range. */
export interface ForkRows {
  readonly tables: ReadonlyMap<PlaneTableId, readonly ForkRow[]>
}

export interface ForkInputs {
  readonly cluster: string
  readonly kind: 'LIVE' | 'EMULATED' | 'RECORDED'
  /** Time of the last observation, Unix ms. */
  readonly atMs: number
  /** Length of a bin, s. */
  readonly binS: number
  /** Start of each bin from the beginning of the range, s; bins without any sample are omitted. */
  readonly binAtS: readonly number[]
  /** Length of the requested range, s. */
  readonly spanS: number
  readonly gaps: readonly { readonly fromS: number; readonly toS: number; readonly why: string }[]
  /** True to replay a range as it was; else its continuation. */
  readonly isReplay: boolean
  readonly workload: 'open' | 'closed'
  readonly jobs: readonly ForkJob[]
  readonly targets: readonly ForkTarget[]
  readonly mdts: readonly ForkMdt[]
  readonly servers: readonly ForkServer[]
  readonly rules: readonly ForkRule[]
  /** Number of rules of this console's controllers, which no longer apply when it starts over. */
  readonly controllerRules: number
  readonly control: {
    readonly controller: ControllerName
    readonly mode: Mode
    /** T, RPC/s of one OST. */
    readonly maxRate: number
    readonly periodMs: number
    readonly options: LoopOptions
    /** Metadata control settings in the scenario's format; undefined if off. */
    readonly metadata?: Readonly<Record<string, unknown>> | undefined
  }
  /** Pending jobs of the batch system; undefined if unknown. */
  readonly pending?: number | undefined
  /** Scenario of an emulated source. */
  readonly scenario?: Scenario | undefined
  /** Time from the start of an emulated source to the instant of the fork, s. @default 0 */
  readonly elapsedS?: number | undefined
  /** PADLL's controller and stages at the instant; undefined if it did not answer, or there is none. */
  readonly padll?: ForkPadll | undefined
  /** Data nodes of an emulated source. */
  readonly dataNodes?: readonly ForkDataNode[] | undefined
  /** Rows of the planes; used for a plane that the source does not report itself. */
  readonly rows?: ForkRows | undefined
  /** Missing data reported by the collector of these inputs. */
  readonly unknown: readonly string[]
}
