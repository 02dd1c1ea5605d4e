/**
 * Messages between stages, local controllers and the global controller, over any transport: the emulated network, a
 * UNIX socket, TCP. Every request has a number that its answer repeats. Rates are op/s (byte/s for data classes),
 * counts are since the last collection, times are ns.
 *
 * Source: spec/padll 3 and 4. Deviations: epochs and leases (spec/padll 8 [R]); counts per scope instead of one double.
 */
import type { HousekeepingRule } from '../rules/housekeeping.ts'
import type { Scope } from '../vocabulary.ts'

/** Identity of a stage: one process (instance) of a job on one node. All texts may be hostile. */
export interface StageIdentity {
  readonly job: string
  readonly instance: number
  readonly pid: number
  readonly ppid: number
  readonly hostname: string
  readonly user: string
}

/** Counts of one channel since the last collection. */
export interface ChannelCounts {
  readonly channel: number
  readonly object: number
  readonly scope: Scope
  /** Operations that arrived, that were served, and of the served those that had to wait. */
  readonly arrived: number
  readonly served: number
  readonly waited: number
  /** Operations waiting now. */
  readonly queued: number
  /** Sum of the waits of the operations served, ns. */
  readonly throttledNs: number
}

/** Behavior of a stage whose lease no local controller renews: keep the last rates, or use this rate per channel. */
export interface Lease {
  readonly ns: number
  readonly onExpiry: 'hold' | { readonly rate: number }
}

/** Command for one enforcement object: a new rate or a new refill period. */
export interface ObjectCommand {
  readonly channel: number
  readonly object: number
  readonly rate?: number
  readonly refillNs?: number
}

export type StageToLocal =
  | { readonly kind: 'hello'; readonly protocol: number; readonly identity: StageIdentity }
  | { readonly kind: 'ack'; readonly request: number; readonly failed?: string }
  | { readonly kind: 'counts'; readonly request: number; readonly channels: readonly ChannelCounts[] }
  | { readonly kind: 'bye' }

export type LocalToStage =
  | { readonly kind: 'housekeeping'; readonly request: number; readonly rule: HousekeepingRule }
  | { readonly kind: 'ready'; readonly request: number; readonly lease: Lease }
  | { readonly kind: 'enforce'; readonly request: number; readonly epoch: number; readonly command: ObjectCommand }
  | { readonly kind: 'collect'; readonly request: number }
  /** Renews the lease when nothing else is sent. */
  | { readonly kind: 'alive' }
  /** Reason that the stage is rejected; it then runs unlimited. */
  | { readonly kind: 'refused'; readonly why: string }

/** A stage as the global controller knows it. `key` is unique in its local controller while that runs. */
export interface StageEntry {
  readonly key: string
  readonly identity: StageIdentity
  readonly channels: readonly {
    readonly channel: number
    readonly object: number
    readonly scope: Scope
    /** Most that may be in force now, op/s; 0 for an object without a limit. */
    readonly rate: number
  }[]
}

export type LocalToGlobal =
  /**
   * Sent on connecting and when the global controller changes. Contains all stages, so sending it again is harmless.
   */
  | {
      readonly kind: 'hello'
      readonly local: string
      readonly hostname: string
      /** Highest epoch seen; initially 0. */
      readonly epoch: number
      readonly stages: readonly StageEntry[]
    }
  | { readonly kind: 'stage-joined'; readonly stage: StageEntry }
  | { readonly kind: 'stage-left'; readonly key: string; readonly why: string }
  | {
      readonly kind: 'counts'
      readonly request: number
      readonly windowNs: number
      readonly stages: readonly { readonly key: string; readonly channels: readonly ChannelCounts[] }[]
      /** Stages that did not answer in time. */
      readonly silent: readonly string[]
    }
  | {
      readonly kind: 'ack'
      readonly request: number
      readonly failed: readonly { readonly key: string; readonly scope: Scope; readonly why: string }[]
    }
  /** Command refused: another controller with a higher epoch commands this node. */
  | { readonly kind: 'stale'; readonly request: number; readonly epoch: number; readonly controller: string }

/** Rate of one job's stage for one scope; the local controller splits it over the stage's channels. */
export interface StageRate {
  readonly key: string
  readonly scope: Scope
  readonly rate: number
}

export type GlobalToLocal =
  | {
      readonly kind: 'welcome'
      readonly epoch: number
      readonly controller: string
      readonly housekeeping: readonly HousekeepingRule[]
      readonly lease: Lease
    }
  | { readonly kind: 'collect'; readonly request: number; readonly epoch: number; readonly controller: string }
  | {
      readonly kind: 'enforce'
      readonly request: number
      readonly epoch: number
      readonly controller: string
      readonly rates: readonly StageRate[]
    }
