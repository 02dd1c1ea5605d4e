/** What a QoS engine holds, waits for and has counted. */

/** What `pump` waits for: nothing, the answer of a FAA, or a pool that holds tokens again. */
export type EngineWait = 'none' | 'faa' | 'pool'

/** What an engine holds at an instant. */
export interface EngineState {
  readonly epoch: number
  readonly reservation: number
  readonly limit: number | null
  /** xi. */
  readonly reservationTokens: number
  /** g. */
  readonly globalTokens: number
  /** Epoch whose pool g was claimed from. */
  readonly globalEpoch: number
  /** N. */
  readonly completed: number
  readonly issued: number
  readonly inflight: number
  readonly queued: number
  readonly wait: EngineWait
}

/** Since the engine began. */
export interface EngineTotals {
  pushed: number
  claimed: number
  usedReservation: number
  usedGlobal: number
  yielded: number
  voidedReservation: number
  voidedGlobal: number
  completed: number
  /** FAAs posted; answers by what they granted. */
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
