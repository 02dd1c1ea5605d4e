/** Live cluster as a source of samples: its servers, the wall clock, and the sampling pace. */
import { NS_PER_MS } from '#core/base/units.ts'
import type { ClusterSource, JobIdSettings, NodeConnection } from '../../base/connection.ts'

/**
 * Distinguishes a suspend of this machine from a long wait for a server.
 *
 * On Linux the steady clock (`performance.now()`, CLOCK_MONOTONIC) stops while the machine is suspended, so the wall
 * clock gets ahead of it. On systems where it does not (macOS includes the suspend), and if only this process was
 * stopped, its heartbeat is missing: nothing ran here for that long. A hanging server causes neither: timers fire as
 * usual while its answer is awaited.
 */
const BEAT_MS = 1_000
/** Longest gap that does not count as a suspend: a busy machine may be late by seconds. */
const SLEPT_MS = 30_000

interface Clocks {
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

  /** Starts the heartbeat until `stop`. */
  start(): void {
    this.#timer = setInterval(() => this.look(), BEAT_MS)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /**
   * Compares the clocks with the last check; also to be called before anything is written, whichever timer fires first
   * after a suspend.
   */
  look(): void {
    const now = { wallMs: this.#clocks.wallMs(), steadyMs: this.#clocks.steadyMs() }
    const ranMs = now.steadyMs - this.#last.steadyMs
    const aheadMs = now.wallMs - this.#last.wallMs - ranMs
    this.#last = now
    const sleptMs = Math.max(aheadMs, ranMs)
    if (sleptMs > SLEPT_MS) this.#onSlept(sleptMs)
  }
}

export class LiveSource implements ClusterSource {
  readonly kind = 'LIVE'
  readonly cluster: string
  readonly nodes: readonly NodeConnection[]
  readonly maxRate: number
  readonly isRateGuessed: boolean
  readonly controlNs: number | undefined
  readonly coreShare: number | undefined
  #periodNs: number
  /** Job id format by the newest facts. */
  jobIdName: string | undefined
  readonly jobIdSettings: () => JobIdSettings
  readonly #startMs: number
  #nowNs = 0
  #timer: NodeJS.Timeout | undefined
  #step: Promise<void> = Promise.resolve()
  #isStopped = false
  #sleep: SleepWatch | undefined

  /** @param startMs  Unix ms that ns are counted from. */
  constructor(
    parts: Pick<
      ClusterSource,
      | 'cluster'
      | 'nodes'
      | 'maxRate'
      | 'isRateGuessed'
      | 'periodNs'
      | 'controlNs'
      | 'jobIdName'
      | 'jobIdSettings'
      | 'coreShare'
    > & {
      readonly startMs?: number | undefined
    },
  ) {
    this.cluster = parts.cluster
    this.nodes = parts.nodes
    this.maxRate = parts.maxRate
    this.isRateGuessed = parts.isRateGuessed ?? false
    this.#periodNs = parts.periodNs
    this.controlNs = parts.controlNs
    this.coreShare = parts.coreShare
    this.jobIdName = parts.jobIdName
    this.jobIdSettings = parts.jobIdSettings ?? (() => new Map())
    this.#startMs = parts.startMs ?? Date.now()
  }

  get periodNs(): number {
    return this.#periodNs
  }

  setPeriodNs(ns: number): void {
    this.#periodNs = ns
  }

  /** Wall clock; if it was set back, it pauses until it is ahead again. */
  nowNs(): number {
    this.#nowNs = Math.max(this.#nowNs, Math.round((Date.now() - this.#startMs) * NS_PER_MS))
    return this.#nowNs
  }

  toUnixMs(ns: number): number {
    return this.#startMs + ns / NS_PER_MS
  }

  /**
   * Takes a sample every period until `stop`. A sample that takes longer than a period is not overtaken: the next one
   * is taken at once when it has ended.
   *
   * @param onSlept  called after this machine was suspended for so many ms: writers must ask again.
   */
  start(onTick: (atNs: number) => Promise<void>, onSlept: (ms: number) => void = () => undefined): void {
    let dueMs = performance.now()
    const sleep = (this.#sleep = new SleepWatch(onSlept))
    sleep.start()
    const step = async (): Promise<void> => {
      sleep.look()
      await onTick(this.nowNs())
      if (this.#isStopped) return
      dueMs = Math.max(dueMs + this.#periodNs / NS_PER_MS, performance.now())
      next(dueMs - performance.now())
    }
    const next = (ms: number): void => {
      this.#timer = setTimeout(() => (this.#step = step()), Math.max(0, ms))
    }
    next(0)
  }

  /** Detects a suspend of this machine, before anything is written. */
  checkSleep(): void {
    this.#sleep?.look()
  }

  /** Resolves when a sample in progress is done. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    this.#sleep?.stop()
    await this.#step
  }
}
