/** State and counters of a QoS engine. */

/** Condition that `pump` waits for: none, the reply to a FAA, or a pool with tokens again. */
export type EngineWait = 'none' | 'faa' | 'pool'

/** State of an engine at one time. */
export interface EngineState {
  readonly epoch: number
  readonly reservation: number
  readonly limit: number | null
  /** Unused reservation tokens (xi in the paper). */
  readonly reservationTokens: number
  /** Global tokens held (g in the paper). */
  readonly globalTokens: number
  /** Epoch of the pool that the global tokens were claimed from. */
  readonly globalEpoch: number
  /** I/Os completed in this period (N in the paper). */
  readonly completed: number
  readonly issued: number
  readonly inflight: number
  readonly queued: number
  readonly wait: EngineWait
}

/** Totals since the engine started. */
export interface EngineTotals {
  /** Reservation tokens received; global tokens claimed from the pool. */
  pushed: number
  claimed: number
  /** Tokens used for I/Os, returned as unneeded, and expired at the end of a period. */
  usedReservation: number
  usedGlobal: number
  yielded: number
  voidedReservation: number
  voidedGlobal: number
  completed: number
  /** FAAs posted; replies by amount granted. */
  faas: number
  faaFull: number
  faaPartial: number
  faaEmpty: number
  /** Grants that arrived after their period. */
  faaLate: number
  /** Direct posts refused. */
  refused: number
  /** Requests dropped before they were issued. */
  dropped: number
}
