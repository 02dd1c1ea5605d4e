/** The QoS monitor's account of one client: reservation, last report, time without reports. */
import { residualBound } from './decay.ts'
import { isSameReport, lowEpoch, type SlotReport } from './report-word.ts'

/**
 * Detects clients that reserve more than they use (end of Algorithm 1): counts consecutive periods with N_i < R_i and alerts the client
 * once at `alertAfter`. A client without a reservation never counts.
 */
class OverReservation {
  readonly #alertAfter: number
  #periods = 0

  constructor(alertAfter: number) {
    this.#alertAfter = alertAfter
  }

  /** Consecutive periods in which the reservation was not used up. */
  get periods(): number {
    return this.#periods
  }

  /** Adds one period; returns true when the alert is due. */
  period(reservation: number, completed: number): boolean {
    if (completed >= reservation) {
      this.#periods = 0
      return false
    }
    return ++this.#periods === this.#alertAfter
  }
}

export class ClientAccount {
  readonly client: number
  readonly slot: number
  readonly overReservation: OverReservation
  /** R of this period. */
  reservation = 0
  limit: number | null
  /** R and limit from the next T1 on (A18, A21). */
  nextReservation: number
  nextLimit: number | null
  hasLeft = false
  /** True once this epoch has a report; the values are those of the last one, or of the start of the period. */
  hasReport = false
  residual = 0
  completed = 0
  yielded = 0
  /** Requests waited at the last report although it had tokens. */
  isBacklogged = false
  /** Time of the last new report, or of S3. */
  heardAt = 0
  isAtRisk = false
  isSilent = false
  isBad = false
  /** The slot as last read. */
  #slot: SlotReport | null = null
  /** Silent since before this period began, so it cannot have used any of its tokens. */
  #wasSilent = false

  constructor(client: number, slot: number, reservation: number, limit: number | null, alertAfter: number) {
    this.client = client
    this.slot = slot
    this.nextReservation = reservation
    this.limit = limit
    this.nextLimit = limit
    this.overReservation = new OverReservation(alertAfter)
  }

  beginPeriod(now: number): void {
    this.reservation = this.nextReservation
    this.limit = this.nextLimit
    this.hasReport = false
    this.residual = this.reservation
    this.completed = 0
    this.yielded = 0
    this.isBacklogged = false
    this.heardAt = now
    this.isAtRisk = false
    this.isBad = false
    this.#wasSilent = this.isSilent
  }

  /** Reads the slot; returns the reason for ignoring a report of this epoch, or null. */
  take(report: SlotReport, epoch: number, now: number): string | null {
    const isNew = this.#slot === null || !isSameReport(report, this.#slot)
    // A report that is new once is old in all later periods, however few bits of its epoch it carries.
    this.#slot = report
    if (!isNew || report.beat === 0 || report.epoch !== lowEpoch(epoch)) return null
    if (report.residual > this.reservation) return `residual ${report.residual} of ${this.reservation} reserved`
    if (report.completed < this.completed) return `completed ${report.completed} after ${this.completed}`
    if (report.spent + report.residual > this.reservation) return `spent ${report.spent} beside a residual`
    this.hasReport = true
    this.heardAt = now
    this.isSilent = false
    this.#wasSilent = false
    this.residual = report.residual
    this.completed = report.completed
    this.isBacklogged = report.isBacklogged
    this.yielded = this.reservation - report.residual - report.spent
    return null
  }

  /** Residual reservation that the node must still expect; that of a silent client decays without it (A20). */
  expected(elapsedNs: number, periodNs: number): number {
    if (this.hasLeft) return 0
    if (!this.isSilent) return this.residual
    return Math.min(this.residual, residualBound(this.reservation, elapsedNs, periodNs))
  }

  /**
   * Tokens returned: those reported as yielded, and those that can no longer be used. If a client fell silent before its first report,
   * its use is unknown and nothing is returned.
   */
  returned(elapsedNs: number, periodNs: number): number {
    if (!this.hasReport && !this.#wasSilent) return 0
    return this.yielded + this.residual - this.expected(elapsedNs, periodNs)
  }
}
