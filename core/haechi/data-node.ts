/** A data node as views, history and alerts read it: emulated, or read from a running node's status. */
import type { HaechiPreset, HaechiVariant } from '../controllers/settings.ts'
import type { MonitorEvent } from './monitor-events.ts'
import type { CapacityProfile, HaechiSettings } from './settings.ts'
import type { ClientView, NodeCounters, PeriodRecord } from './sim/node-views.ts'
import type { ClientColumn, NodeSample } from './sim/token-samples.ts'

/** Samples at a fixed interval: the k-th was taken at (k + 1) times it. */
export interface SampleRows {
  /** Numbers of the samples kept: [first, end). */
  readonly kept: { readonly first: number; readonly end: number }
  nodeValue(row: number, field: keyof NodeSample): number
  clientValue(row: number, client: number, column: ClientColumn): number
}

/** Client of a run, by its number. */
export interface DataNodeClient {
  readonly name: string
  readonly job: string
  readonly reservation: number
  readonly workload: { readonly kind: string }
}

export interface DataNodeMark {
  readonly atNs: number
  readonly kind: 'capacity' | 'refused' | 'client' | 'run'
  readonly client: string
  readonly text: string
}

/** State of a node in one run; times are ns on the run's own clock. */
export interface DataNodeState {
  readonly setup: {
    readonly settings: HaechiSettings
    readonly profile: CapacityProfile
    readonly samples: { readonly everyNs: number }
  }
  readonly samples: SampleRows
  readonly clientCount: number
  /** Completed periods and monitor events that are kept, oldest first. */
  readonly periods: {
    readonly items: readonly PeriodRecord[]
    since(from: number): { readonly next: number; readonly items: readonly PeriodRecord[] }
  }
  readonly events: { readonly items: readonly MonitorEvent[] }
  /** null without tokens. */
  readonly monitor: { readonly epoch: number; isSilent(client: number): boolean } | null
  client(client: number): Pick<ClientView, 'state' | 'promised' | 'limit' | 'isOutside' | 'latency'> | undefined
  /** null without tokens. */
  engine(
    client: number,
  ): { readonly reservation: number; readonly limit: number | null; readonly isThrottled: boolean } | null
  counters(): Pick<NodeCounters, 'cpuEventsForControl' | 'cpuEventsForData' | 'dataIos'>
}

/** Uninterrupted run of a node; its own clock starts with it. */
export interface DataNodeRun {
  /** Start on the source's clock, ns. */
  readonly fromNs: number
  readonly variant: HaechiVariant
  readonly preset: HaechiPreset
  readonly node: DataNodeState
  /** By number; undefined for one that is no longer reported. */
  readonly clients: readonly (DataNodeClient | undefined)[]
  readonly marks: readonly DataNodeMark[]
  /** Newest instant that is known, ns on the run's clock; absent: any instant. */
  readonly untilNs?: number | undefined
}

export interface DataNode {
  readonly name: string
  /** Run at a time of the source's clock; undefined if no longer kept. */
  run(atNs: number): DataNodeRun | undefined
  /** Kept runs, oldest first. */
  readonly runs: readonly DataNodeRun[]
}
