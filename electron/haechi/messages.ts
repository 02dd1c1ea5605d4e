/** Start parameters of a real node's threads, and their messages to the thread that started them. */
import type { Failure, Result } from '#core/base/result.ts'
import type { EngineTotals } from '#core/haechi/engine-state.ts'
import type { MonitorEvent, MonitorPeriod } from '#core/haechi/monitor-events.ts'
import type { CapacityProfile, HaechiSettings } from '#core/haechi/settings.ts'
import type { VerbCounters } from '#core/haechi/registered-memory.ts'
import type { RecordMix } from '#core/haechi/workloads/records.ts'
import type { Workload } from '#core/haechi/workloads/request-source.ts'
import type { NodeShape } from './layout.ts'

interface Task extends NodeShape {
  readonly buffer: SharedArrayBuffer
  /** `process.hrtime.bigint()` when the node was created. */
  readonly origin: bigint
  readonly settings: HaechiSettings
}

export interface MonitorTask extends Task {
  readonly role: 'monitor'
  readonly profile: CapacityProfile
}

export interface ClientTask extends Task {
  readonly role: 'client'
  readonly slot: number
  /** False: no tokens, as on a bare node. */
  readonly hasQos: boolean
  /** I/Os that one client can do in a period, C_L T. */
  readonly localTokens: number
  readonly workload: Workload
  readonly mix: RecordMix
  /** Completions taken from the completion queue at a time. */
  readonly completionBatch: number
  readonly seed: number
}

export type ThreadTask = MonitorTask | ClientTask

/** SENDs to the monitor; each is answered under its number. */
export type ToMonitor = { readonly id: number } & (
  | { readonly kind: 'start' | 'mark' | 'stop' }
  | {
      readonly kind: 'join' | 'reserve'
      readonly client: number
      readonly reservation: number
      readonly limit: number | null
    }
  | { readonly kind: 'leave'; readonly client: number }
)

export type FromMonitor =
  | { readonly kind: 'ready' }
  | { readonly kind: 'refused'; readonly failure: Failure }
  /** Answer to a request, with the CPU time of the monitor's thread so far. */
  | { readonly kind: 'reply'; readonly id: number; readonly result: Result<void>; readonly cpuNs: number }
  /** Every event except conversions, of which there is one per check. */
  | { readonly kind: 'event'; readonly event: MonitorEvent }
  | { readonly kind: 'period'; readonly period: MonitorPeriod; readonly checks: MonitorChecks }

/** Self-checks of the monitor's thread, since its start. */
export interface MonitorChecks {
  readonly conversions: number
  /** FAAs between a read of the pool and its CAS. */
  readonly races: number
  /** Conversions that left more live tokens than fit into the rest of the period (I1). */
  readonly overfull: number
  /** Reports of one epoch with a lower count than the previous one. */
  readonly backwards: number
  /** T1s and S3s dropped at a full mailbox. */
  readonly lost: number
}

/** Account of every token and every I/O of an engine. */
export interface EngineLedger extends EngineTotals {
  /** xi, g, I/Os in flight, waiting requests. */
  readonly reservationTokens: number
  readonly globalTokens: number
  readonly inflight: number
  /** I/Os whose record was copied. */
  readonly copied: number
}

/** One client in one period, by its own count: sent at the next T1, or at its end. */
export interface ClientLog {
  readonly client: number
  readonly epoch: number
  readonly reservation: number
  readonly limit: number | null
  readonly completed: number
  readonly issued: number
  readonly yielded: number
  /** Global tokens that its FAAs were granted in this epoch. */
  readonly granted: number
  readonly ledger: EngineLedger
}

/** Counters of a client at an instant: for rates between two of them. */
export interface ClientMark {
  readonly atNs: number
  readonly cpuNs: number
  readonly completed: number
}

export interface ClientEnd {
  readonly reads: number
  readonly updates: number
  /** READs that saw parts of two WRITEs: 4 KB are not copied atomically, neither here nor over a network. */
  readonly torn: number
  readonly verbs: VerbCounters
  readonly copied: number
}

export type FromClient =
  | { readonly kind: 'ready' }
  | { readonly kind: 'refused'; readonly failure: Failure }
  | { readonly kind: 'period'; readonly log: ClientLog }
  | { readonly kind: 'mark'; readonly mark: number; readonly at: ClientMark }
  | { readonly kind: 'ended'; readonly end: ClientEnd }

export type FromThread = FromMonitor | FromClient
