/** How often something may be started again before a person is asked: a fault that comes back at once is not cured by one more start. */

const MOST = 3
const WITHIN_MS = 5 * 60_000
const FIRST_PAUSE_MS = 500

export class CrashLimit {
  readonly #nowMs: () => number
  #atMs: number[] = []

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** It ended. @returns the pause before it is started again, ms; null: a person is asked first. */
  note(): number | null {
    const nowMs = this.#nowMs()
    this.#atMs = [...this.#atMs.filter((t) => nowMs - t < WITHIN_MS), nowMs]
    return this.#atMs.length > MOST ? null : FIRST_PAUSE_MS * 2 ** (this.#atMs.length - 1)
  }

  /** A person chose to go on. */
  forgive(): void {
    this.#atMs = []
  }
}
