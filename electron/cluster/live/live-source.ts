/** A live cluster as a source of samples: its servers, the wall clock, and the pace at which they are read. */
import { NS_PER_MS } from '#core/base/units.ts'
import type { ClusterSource, JobIdSettings, NodeConnection } from '../../base/connection.ts'
import { SleepWatch } from './sleep-watch.ts'

export class LiveSource implements ClusterSource {
  readonly kind = 'LIVE'
  readonly cluster: string
  readonly nodes: readonly NodeConnection[]
  readonly maxRate: number
  readonly coreShare: number | undefined
  #periodNs: number
  /** Of the newest facts. */
  jobIdName: string | undefined
  readonly jobIdSettings: () => JobIdSettings
  readonly #startMs: number
  #nowNs = 0
  #timer: NodeJS.Timeout | undefined
  #turn: Promise<void> = Promise.resolve()
  #isStopped = false
  #sleep: SleepWatch | undefined

  /** @param startMs  Unix ms that ns are counted from. */
  constructor(
    parts: Pick<
      ClusterSource,
      'cluster' | 'nodes' | 'maxRate' | 'periodNs' | 'jobIdName' | 'jobIdSettings' | 'coreShare'
    > & {
      readonly startMs?: number | undefined
    },
  ) {
    this.cluster = parts.cluster
    this.nodes = parts.nodes
    this.maxRate = parts.maxRate
    this.#periodNs = parts.periodNs
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

  /** The wall clock; one that was set back stands still until it is where it was. */
  nowNs(): number {
    this.#nowNs = Math.max(this.#nowNs, Math.round((Date.now() - this.#startMs) * NS_PER_MS))
    return this.#nowNs
  }

  toUnixMs(ns: number): number {
    return this.#startMs + ns / NS_PER_MS
  }

  /**
   * Takes a sample every period until `stop`. A sample that takes longer than a period is not overtaken: the next one comes when
   * it is due after that.
   *
   * @param onSlept  this machine was asleep for so many ms: whoever writes must ask again.
   */
  start(onTick: (atNs: number) => Promise<void>, onSlept: (ms: number) => void = () => undefined): void {
    let dueMs = performance.now()
    const sleep = (this.#sleep = new SleepWatch(onSlept))
    sleep.start()
    const turn = async (): Promise<void> => {
      sleep.look()
      await onTick(this.nowNs())
      if (this.#isStopped) return
      dueMs = Math.max(dueMs + this.#periodNs / NS_PER_MS, performance.now())
      next(dueMs - performance.now())
    }
    const next = (ms: number): void => {
      this.#timer = setTimeout(() => (this.#turn = turn()), Math.max(0, ms))
    }
    next(0)
  }

  /** Resolves when a sample that was being taken is done. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    this.#sleep?.stop()
    await this.#turn
  }
}
