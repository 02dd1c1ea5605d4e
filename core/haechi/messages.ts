/** Messages between a QoS monitor and the QoS engines, apart from verbs on registered memory (spec/haechi 1, 5, 6). */

/** T1: start of a period; the tokens replace all tokens of the client. SEND, monitor to client. */
export interface PeriodStart {
  readonly kind: 'period-start'
  readonly epoch: number
  readonly reservation: number
  /** I/Os a period, null for no limit. */
  readonly limit: number | null
}

/** S3: report from now on, in this epoch. SEND, monitor to client. */
export interface StartReport {
  readonly kind: 'start-report'
  readonly epoch: number
}

export type ToEngine = PeriodStart | StartReport

/** Content of a client's report slot, written by the client. What it yielded is R - residual - spent. */
export interface ClientReport {
  readonly epoch: number
  /** xi after the tick (A2). */
  readonly residual: number
  /** Reservation tokens consumed by I/Os since T1. */
  readonly spent: number
  /** N: I/Os completed since T1. */
  readonly completed: number
  /** Requests wait although the client has tokens: only the node or its link delays them. Input of the `evidence` rule. */
  readonly isBacklogged?: boolean
  /** Counts the reports of an engine. */
  readonly beat: number
}

export type TokenKind = 'reservation' | 'global'
