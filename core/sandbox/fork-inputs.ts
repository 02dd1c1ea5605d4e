/** What was observed of a cluster, for a fork: plain data, whoever measured it. Rates are per second; NaN is a gap. */
import type { ControllerName } from '../controllers/registry.ts'
import type { LoopOptions } from '../adaptbf/loop-options.ts'
import type { Mode } from '../control/controller.ts'
import type { RuleService } from '../emulator/scenario-rules.ts'
import type { Scenario } from '../emulator/scenario.ts'

/** Series have one value for each bin. */
export interface ForkJob {
  readonly jobId: string
  readonly user: string
  readonly account: string
  /** null: the batch system does not know it. */
  readonly nodes: number | null
  /** Names of its nodes, as far as they are known. */
  readonly hosts: readonly string[]
  readonly rpcs: readonly number[]
  readonly readBps: readonly number[]
  readonly writeBps: readonly number[]
  readonly mdops: readonly number[]
  /** Part of the time in which it ran at the limit of its rule, 0..1. */
  readonly throttled: number
  /** Targets on which it was seen, OSTs and MDTs; empty: not known. */
  readonly targets: readonly string[]
  /** Metadata operations by the counter of job_stats; empty: not known. */
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
  /** Mean time of an operation, µs; NaN: not known. */
  readonly perOpUs: number
}

export interface ForkServer {
  readonly name: string
  readonly kind: 'oss' | 'mds'
  /** undefined: not known. */
  readonly version: string | undefined
  readonly cpts: number | undefined
  readonly policy: string
}

/** A rule that stands, to be written in the order of the list. */
export interface ForkRule {
  readonly service: RuleService
  readonly line: string
  readonly servers: readonly string[]
}

export interface ForkInputs {
  readonly cluster: string
  readonly kind: 'LIVE' | 'EMULATED' | 'RECORDED'
  /** Last instant that was observed, Unix ms. */
  readonly atMs: number
  /** Length of a bin, s. */
  readonly binS: number
  /** Start of each bin from the beginning of the stretch, s; bins without any sample are not among them. */
  readonly binAtS: readonly number[]
  /** Length of the stretch that was asked for, s. */
  readonly spanS: number
  readonly gaps: readonly { readonly fromS: number; readonly toS: number; readonly why: string }[]
  /** A stretch is played as it was; else what comes after it. */
  readonly isReplay: boolean
  readonly workload: 'open' | 'closed'
  readonly jobs: readonly ForkJob[]
  readonly targets: readonly ForkTarget[]
  readonly mdts: readonly ForkMdt[]
  readonly servers: readonly ForkServer[]
  readonly rules: readonly ForkRule[]
  /** Rules of this console's own controllers, which stand no longer when it begins anew. */
  readonly ownRules: number
  readonly control: {
    readonly controller: ControllerName
    readonly mode: Mode
    /** T, RPC/s of one OST. */
    readonly maxRate: number
    readonly periodMs: number
    readonly options: LoopOptions
    /** Settings of metadata control as a scenario says them; undefined: it is off. */
    readonly metadata?: Readonly<Record<string, unknown>> | undefined
  }
  /** Jobs that wait in the batch system; undefined: not known. */
  readonly pending?: number | undefined
  /** The scenario of an emulated source. */
  readonly scenario?: Scenario | undefined
  /** What whoever gathered this knows to be missing. */
  readonly unknown: readonly string[]
}
