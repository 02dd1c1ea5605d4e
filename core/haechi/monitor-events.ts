/** Events of a QoS monitor: log for views, alerts, and one record a period (spec/haechi 8, 11). */
import type { EstimatorAction } from './capacity-estimate.ts'

/** fallback: the paper's rule replaces an advance, whose inputs are missing. */
export type AlertKind =
  'local-capacity-risk' | 'overcommitted' | 'bad-report' | 'over-reservation' | 'silent-client' | 'fallback'

/** The pool changed from `from` to `to` with residual reservations L, after `races` attempts that FAAs in between made fail (A8). */
export interface Conversion {
  readonly kind: 'conversion'
  readonly at: number
  readonly from: number
  readonly to: number
  readonly residual: number
  readonly races: number
}

export type MonitorEvent =
  | { readonly kind: 'period'; readonly at: number; readonly epoch: number; readonly pool: number }
  | { readonly kind: 'start-report'; readonly at: number; readonly epoch: number }
  | Conversion
  | {
      readonly kind: 'estimate'
      readonly at: number
      readonly action: EstimatorAction | 'off'
      readonly used: number
      readonly omega: number
    }
  /** `client` -1: the node as a whole. */
  | {
      readonly kind: 'alert'
      readonly at: number
      readonly alert: AlertKind
      readonly client: number
      readonly what: string
    }
  | { readonly kind: 'admitted' | 'left'; readonly at: number; readonly client: number }

/** One client in one period, as known to the monitor. */
export interface ClientPeriod {
  readonly client: number
  readonly reservation: number
  /** Last reported N of the epoch. */
  readonly completed: number
  readonly yielded: number
}

/** Parts of a period for which the lowest pool is kept. */
export const POOL_PARTS = 10

/** One period, reported at its end. */
export interface MonitorPeriod {
  readonly epoch: number
  readonly startNs: number
  readonly endNs: number
  /** Tokens of this period, and of the next. */
  readonly omega: number
  readonly nextOmega: number
  readonly action: EstimatorAction | 'off'
  readonly reserved: number
  readonly initialPool: number
  /** Pool at its end. */
  readonly finalPool: number
  /** Lowest pool at the checks of each tenth of the period; NaN for a tenth without a check. */
  readonly poolChecks: readonly number[]
  /** L and the target of the last conversion; 0 without one. */
  readonly residual: number
  readonly target: number
  /** U. */
  readonly used: number
  /** Global tokens claimed by FAAs. */
  readonly claimed: number
  readonly yielded: number
  readonly conversions: number
  readonly casRaces: number
  readonly clients: readonly ClientPeriod[]
}

export interface MonitorObserver {
  event(event: MonitorEvent): void
  period(period: MonitorPeriod): void
}
