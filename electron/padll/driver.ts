/** Drives a controller of core/padll/control in real time: calls it when its next action is due, and after each event. */

/** A program with timed actions. Times are ns of one clock. */
export interface Timed {
  tick(nowNs: number): void
  nextNs(): number
}

const NS_PER_MS = 1e6
/** Longest timer of the host. */
const LONGEST_MS = 2 ** 30

/** Integer ns since `beganMs`, a reading of performance.now(). */
export const clockFrom =
  (beganMs: number): (() => number) =>
  () =>
    Math.max(0, Math.round((performance.now() - beganMs) * NS_PER_MS))

export class Driver {
  readonly #program: Timed
  readonly #now: () => number
  #timer: NodeJS.Timeout | undefined
  #atNs = Infinity
  #isStopped = false

  constructor(program: Timed, now: () => number) {
    this.#program = program
    this.#now = now
    this.wake()
  }

  /** Runs an action on the program, then schedules its next one. */
  with(act: (nowNs: number) => void): void {
    if (this.#isStopped) return
    act(this.#now())
    this.wake()
  }

  wake(): void {
    if (this.#isStopped) return
    const next = this.#program.nextNs()
    if (next === this.#atNs && this.#timer) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#atNs = next
    if (next === Infinity) return
    const ms = Math.min(LONGEST_MS, Math.max(0, (next - this.#now()) / NS_PER_MS))
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.with((nowNs) => this.#program.tick(nowNs))
    }, Math.ceil(ms))
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }
}
