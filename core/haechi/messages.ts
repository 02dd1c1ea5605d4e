/** What travels between a QoS monitor and the QoS engines, apart from verbs on registered memory (spec/haechi 1, 5, 6). */

/** T1: a period begins; the tokens replace whatever the client held. SEND, monitor to client. */
export interface PeriodStart {
  readonly kind: 'period-start'
  readonly epoch: number
  readonly reservation: number
  /** I/Os a period, null for none. */
  readonly limit: number | null
}

/** S3: report from now on, in this epoch. SEND, monitor to client. */
export interface StartReport {
  readonly kind: 'start-report'
  readonly epoch: number
}

export type ToEngine = PeriodStart | StartReport

/** What a client writes into its own slot. */
export interface ClientReport {
  readonly epoch: number
  /** xi after the tick (A2). */
  readonly residual: number
  /** N: I/Os completed since T1. */
  readonly completed: number
  /** Reservation tokens yielded since T1. */
  readonly yielded: number
  /** Counts the reports of an engine. */
  readonly beat: number
}

export type TokenKind = 'reservation' | 'global'
