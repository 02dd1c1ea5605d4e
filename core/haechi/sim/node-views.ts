/** Views of a simulated node: periods, clients, counters. */
import type { MonitorPeriod } from '../monitor-events.ts'
import type { EngineTotals } from '../engine-state.ts'
import type { VerbCounters } from '../registered-memory.ts'
import type { LatencySummary } from './latency-histogram.ts'

/** Tokens of one client in a period, from its engine at the end of the period; without an engine all 0. */
export interface PeriodTokens {
  /** R and the limit in force. */
  readonly reservation: number
  readonly limit: number | null
  /** I/Os issued against tokens of its reservation, and of the global pool. */
  readonly usedReserved: number
  readonly usedPool: number
  /** Reservation tokens given up. */
  readonly yielded: number
  /** True if requests waited at the end for a token of the empty pool. */
  readonly isStarved: boolean
}

/** One period by the node's clock: actual completions, and the monitor's view (null without QoS). */
export interface PeriodRecord {
  readonly index: number
  readonly startNs: number
  readonly endNs: number
  /** Capacity in force at its end, I/O/s. */
  readonly capacityIops: number
  /** Data I/Os completed in it, by client index. */
  readonly completed: readonly number[]
  /** By client index. */
  readonly tokens: readonly PeriodTokens[]
  /** Data I/Os completed in it for all clients with QoS. */
  readonly total: number
  readonly monitor: MonitorPeriod | null
}

export interface ClientView {
  readonly name: string
  readonly state: 'active' | 'left' | 'crashed'
  /** R promised from the next period on; 0 if gone or outside traffic. */
  readonly promised: number
  readonly limit: number | null
  readonly isOutside: boolean
  readonly completed: number
  readonly latency: LatencySummary
  /** Null for a client without engine. */
  readonly tokens: Readonly<EngineTotals> | null
  readonly reads: number
  readonly updates: number
}

export interface NodeCounters {
  /** Data I/Os issued. */
  readonly dataIos: number
  /** Times a data I/O woke the data node's CPU: 0 except for two-sided ones. */
  readonly cpuEventsForData: number
  readonly cpuEventsForControl: number
  /** Tokens that FAAs took from POOL. */
  readonly globalGranted: number
  /** Verbs on the registered memory of tokens. */
  readonly verbs: Readonly<VerbCounters>
}
