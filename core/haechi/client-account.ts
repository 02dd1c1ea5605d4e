/** What the QoS monitor keeps of one client: its reservation, what it last reported, how long it has been silent. */
import { residualBound } from './decay.ts'
import { OverReservation } from './over-reservation.ts'
import type { SlotReport } from './token-memory.ts'

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
  /** Last report of this epoch. */
  hasReport = false
  residual = 0
  completed = 0
  yielded = 0
  /** Instant at which the last new report was seen, or S3 was sent. */
  heardAt = 0
  isAtRisk = false
  isSilent = false
  isBad = false
  #beat = -1
  /** Silent since before this period began: it cannot have used a token of it. */
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
    this.heardAt = now
    this.isAtRisk = false
    this.isBad = false
    this.#wasSilent = this.isSilent
  }

  /** Takes the slot's content in; returns why a report of this epoch is ignored, null when there is nothing to say. */
  take(report: SlotReport, epoch: number, now: number): string | null {
    if (report.epoch !== (epoch & 255) || report.beat === this.#beat) return null
    if (report.residual > this.reservation) return `residual ${report.residual} of ${this.reservation} reserved`
    if (report.completed < this.completed) return `completed ${report.completed} after ${this.completed}`
    if (report.yielded + report.residual > this.reservation) return `yielded ${report.yielded} beside a residual`
    this.#beat = report.beat
    this.hasReport = true
    this.heardAt = now
    this.isSilent = false
    this.#wasSilent = false
    this.residual = report.residual
    this.completed = report.completed
    this.yielded = report.yielded
    return null
  }

  /** Residual that the node must still expect: a silent client's decays without it (A20). */
  expected(elapsedNs: number, periodNs: number): number {
    if (this.hasLeft) return 0
    if (!this.isSilent) return this.residual
    return Math.min(this.residual, residualBound(this.reservation, elapsedNs, periodNs))
  }

  /**
   * Tokens that are back: those it said it yielded, and those it cannot use any more. Of a client that fell silent before its
   * first report nobody knows what it used: nothing is back.
   */
  returned(elapsedNs: number, periodNs: number): number {
    if (!this.hasReport && !this.#wasSilent) return 0
    return this.yielded + this.residual - this.expected(elapsedNs, periodNs)
  }
}
