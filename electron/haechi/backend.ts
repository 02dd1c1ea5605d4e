/** A running node as its daemon uses it: its monitor and its clients, in processes or in threads. */
import type { Failure, Result } from '#core/base/result.ts'
import type { NewClient } from '#core/haechi/console.ts'
import type { AlertKind, MonitorPeriod } from '#core/haechi/monitor-events.ts'
import type { CapacityProfile, HaechiSettings } from '#core/haechi/settings.ts'
import type { StatusSample } from '#core/haechi/status.ts'
import type { EngineTotals } from '#core/haechi/engine-state.ts'

export type AccountTotals = Omit<
  EngineTotals,
  'faas' | 'faaFull' | 'faaPartial' | 'faaEmpty' | 'faaLate' | 'refused' | 'dropped'
>

/** One client in one period by its own count. */
export interface PeriodLog {
  readonly client: number
  readonly epoch: number
  readonly reservation: number
  readonly limit: number | null
  readonly completed: number
  readonly issued: number
  readonly yielded: number
  /** Global tokens that its FAAs were granted in this epoch. */
  readonly granted: number
  /** xi, g, I/Os in flight at the end. */
  readonly xi: number
  readonly g: number
  readonly inflight: number
  /** I/Os whose record was copied, since the start. */
  readonly copied: number
  readonly totals: AccountTotals
}

/** Last counts of a client that was killed. */
export interface LastCounts {
  readonly client: number
  readonly epoch: number
  readonly xi: number
  readonly g: number
  readonly grantEpoch: number
  readonly grantedInEpoch: number
  readonly used: number
  readonly copied: number
}

/** Counters of the node since its start. */
export interface NodeCounters {
  readonly timerWakes: number
  readonly sendWakes: number
  /** Wake-ups without a cause of the node's own: data I/Os must have none. */
  readonly dataWakes: number
  readonly cpuNs: number
  readonly dataIos: number
  readonly overfull: number
  readonly lostMessages: number
  /** Lines that the helper could not hand over: periods are missing. */
  readonly droppedLines: number
}

export interface BackendEvents {
  readonly begun: (atNs: number, epoch: number, pool: number) => void
  readonly reportsStarted: (atNs: number) => void
  readonly alert: (atNs: number, alert: AlertKind, client: number, what: string) => void
  readonly period: (period: MonitorPeriod, counters: NodeCounters) => void
  readonly log: (log: PeriodLog) => void
  readonly sample: (sample: StatusSample) => void
  /** A client's process or thread ended without having been asked to. */
  readonly killed: (client: number, last: LastCounts | undefined) => void
  /** The node itself ended without having been asked to. */
  readonly failed: (failure: Failure) => void
}

export interface BackendOptions {
  readonly settings: HaechiSettings
  readonly profile: CapacityProfile
  readonly slots: number
  /** Records of 4 KB. */
  readonly records: number
  readonly seed: number
  readonly completionBatch: number
  readonly sampleNs: number
  readonly events: BackendEvents
}

export interface StartedClient {
  /** Number, never used again. */
  readonly client: number
  readonly pid: number | null
}

export interface NodeBackend {
  readonly kind: 'processes' | 'threads'
  /** Time of the node's clock, ns. */
  nowNs(): number
  /** Begins the first period. */
  start(): Promise<Result<void>>
  /** Starts an admitted client; its reservation applies from the next T1 on (A18). */
  join(client: NewClient): Promise<Result<StartedClient>>
  /** Ends a client in order (A19). */
  leave(client: number): Promise<Result<void>>
  reserve(client: number, reservation: number, limit: number | null): Promise<Result<void>>
  close(): Promise<void>
}
