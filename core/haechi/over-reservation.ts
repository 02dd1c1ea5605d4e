/**
 * Clients that keep reserving more than they use (end of Algorithm 1): periods in a row with N_i < R_i are counted, and at
 * `alertAfter` the client is told, once. A client that reserves nothing never counts.
 */
export class OverReservation {
  readonly #alertAfter: number
  #periods = 0

  constructor(alertAfter: number) {
    this.#alertAfter = alertAfter
  }

  /** Periods in a row whose reservation was not used up. */
  get periods(): number {
    return this.#periods
  }

  /** Takes one period in; returns whether the alert is due now. */
  period(reservation: number, completed: number): boolean {
    if (completed >= reservation) {
      this.#periods = 0
      return false
    }
    return ++this.#periods === this.#alertAfter
  }
}
