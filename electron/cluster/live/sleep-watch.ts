/**
 * Tells a sleep of this machine from a long wait for a server.
 *
 * On Linux the steady clock (`performance.now()`, CLOCK_MONOTONIC) stands still while the machine is suspended, so the wall clock gets
 * ahead of it. Where it does not (macOS counts the sleep in), and when this process alone was stopped, its beat is missing: nothing ran
 * here for that long. A server that hangs does neither: timers go off as ever while its answer is awaited.
 */
const BEAT_MS = 1_000
/** Longest gap that is not taken for a sleep: a busy machine may be late by seconds. */
export const SLEPT_MS = 30_000

export interface Clocks {
  readonly wallMs: () => number
  readonly steadyMs: () => number
}

const CLOCKS: Clocks = { wallMs: () => Date.now(), steadyMs: () => performance.now() }

export class SleepWatch {
  readonly #clocks: Clocks
  readonly #onSlept: (ms: number) => void
  #last: { readonly wallMs: number; readonly steadyMs: number }
  #timer: NodeJS.Timeout | undefined

  constructor(onSlept: (ms: number) => void, clocks: Clocks = CLOCKS) {
    this.#onSlept = onSlept
    this.#clocks = clocks
    this.#last = { wallMs: clocks.wallMs(), steadyMs: clocks.steadyMs() }
  }

  /** Beats by itself until `stop`. */
  start(): void {
    this.#timer = setInterval(() => this.look(), BEAT_MS)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Compares the clocks with the last look; also to be called before anything is written, whichever timer comes first after a sleep. */
  look(): void {
    const now = { wallMs: this.#clocks.wallMs(), steadyMs: this.#clocks.steadyMs() }
    const ranMs = now.steadyMs - this.#last.steadyMs
    const aheadMs = now.wallMs - this.#last.wallMs - ranMs
    this.#last = now
    const sleptMs = Math.max(aheadMs, ranMs)
    if (sleptMs > SLEPT_MS) this.#onSlept(sleptMs)
  }
}
