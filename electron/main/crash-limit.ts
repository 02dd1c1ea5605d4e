/** Limit on automatic restarts before the user is asked: a fault that recurs at once is not fixed by another restart. */

const MOST = 3
const WITHIN_MS = 5 * 60_000
const FIRST_PAUSE_MS = 500

export class CrashLimit {
  readonly #nowMs: () => number
  #atMs: number[] = []

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** Counts one exit. @returns the pause before the restart, ms; null: ask the user first. */
  note(): number | null {
    const nowMs = this.#nowMs()
    this.#atMs = [...this.#atMs.filter((t) => nowMs - t < WITHIN_MS), nowMs]
    return this.#atMs.length > MOST ? null : FIRST_PAUSE_MS * 2 ** (this.#atMs.length - 1)
  }

  /** Resets the count after the user chose to restart. */
  forgive(): void {
    this.#atMs = []
  }
}
