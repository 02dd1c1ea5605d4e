/**
 * Sampling period of a live cluster: the set one, or a longer one that its servers can keep up with. A reading may cost
 * a server no more than a share of one core, and must be done within the period; a single slow reading has no effect.
 */
import { formatNumber } from '#core/base/figure-text.ts'
import { PERIOD_MAX_NS } from '#core/adaptbf/period.ts'
import { NS_PER_MS } from '#core/base/units.ts'

/** Available periods, as multiples of the set one. */
const STEPS = [1, 2, 5, 10]
/** Longest period that a controller can work with, ms, unless a longer one was set. */
const LONGEST_MS = PERIOD_MAX_NS / NS_PER_MS
/** Share of one core that reading a server may use. */
export const CORE_SHARE = 0.1
/** Ratio of the period to the time of the slowest server. */
const MARGIN = 1.25
/** Readings of a server that are judged; the second longest counts. */
const READINGS = 10
/** Consecutive samples that need a longer period before it is applied, and the time that they take at least, ms. */
const LONGER_AFTER = 4
const LONGER_AFTER_MS = 2000
/** A shorter period is applied once this part of it has been enough for so long, ms. */
const SHORTER_BELOW = 0.7
const SHORTER_AFTER_MS = 60_000
/** Weight of a new CPU time against the older ones. */
const FRESH = 0.3

/** Duration of one reading of a server. */
export interface ReadingTime {
  readonly tookMs: number
  /** CPU time on the server; undefined if this reading was not measured, null if the server does not report it. */
  readonly cpuMs: number | null | undefined
}

export interface RunningPeriod {
  /** Set period. */
  readonly setMs: number
  readonly runMs: number
  /** Reason why it is longer; empty otherwise. */
  readonly why: string
}

interface Server {
  readonly tookMs: number[]
  cpuMs: number | undefined
  reportsCpu: boolean
}

interface Need {
  readonly ms: number
  readonly why: string
}

const seconds = (ms: number): string =>
  ms < 100 ? `${formatNumber(ms)} ms` : `${formatNumber(ms / 1000, ms % 1000 === 0 ? 0 : 1)} s`

export class SamplingPeriod {
  readonly #setMs: number
  readonly #share: number
  readonly #work: 'reading' | 'period'
  readonly #steps: readonly number[]
  readonly #servers = new Map<string, Server>()
  #now: RunningPeriod
  /** Consecutive samples that needed a longer one, and the time of the first. */
  #short = 0
  #shortSinceMs = 0
  /** Time since which a shorter one would have been enough. */
  #enoughSinceMs: number | undefined

  /**
   * @param coreShare  share of one core of a server, > 0.
   * @param work       what is done in each period, for the reason.
   */
  constructor(setMs: number, coreShare = CORE_SHARE, work: 'reading' | 'period' = 'reading') {
    this.#setMs = setMs
    this.#work = work
    this.#share = coreShare
    const most = Math.max(setMs, LONGEST_MS)
    this.#steps = STEPS.map((k) => k * setMs).filter((ms) => ms <= most)
    this.#now = { setMs, runMs: setMs, why: '' }
  }

  get now(): RunningPeriod {
    return this.#now
  }

  add(host: string, { tookMs, cpuMs }: ReadingTime): void {
    let s = this.#servers.get(host)
    if (!s) this.#servers.set(host, (s = { tookMs: [], cpuMs: undefined, reportsCpu: true }))
    s.tookMs.push(tookMs)
    if (s.tookMs.length > READINGS) s.tookMs.shift()
    s.reportsCpu = cpuMs !== null
    if (typeof cpuMs === 'number') s.cpuMs = s.cpuMs === undefined ? cpuMs : s.cpuMs + FRESH * (cpuMs - s.cpuMs)
  }

  /** Judges after a sample. @returns  new period, if it changes. */
  look(atMs: number): RunningPeriod | undefined {
    const need = this.#need()
    const { runMs } = this.#now
    const wanted = this.#steps.find((ms) => ms >= need.ms) ?? this.#steps.at(-1) ?? this.#setMs
    if (wanted > runMs) {
      this.#enoughSinceMs = undefined
      // After the clock was set back, counting restarts.
      if (this.#short === 0 || atMs < this.#shortSinceMs) {
        this.#short = 0
        this.#shortSinceMs = atMs
      }
      if (++this.#short < LONGER_AFTER || atMs - this.#shortSinceMs < LONGER_AFTER_MS) return undefined
      return this.#run(wanted, need.why)
    }
    this.#short = 0
    const shorter = this.#steps.findLast((ms) => ms < runMs)
    if (shorter === undefined || need.ms > SHORTER_BELOW * shorter) {
      this.#enoughSinceMs = undefined
      return undefined
    }
    // After the clock was set back, counting restarts.
    if (this.#enoughSinceMs === undefined || atMs < this.#enoughSinceMs) this.#enoughSinceMs = atMs
    if (atMs - this.#enoughSinceMs < SHORTER_AFTER_MS) return undefined
    return this.#run(shorter, shorter === this.#setMs ? '' : need.why)
  }

  #run(runMs: number, why: string): RunningPeriod {
    this.#short = 0
    this.#enoughSinceMs = undefined
    return (this.#now = { setMs: this.#setMs, runMs, why })
  }

  /** Need of the server with the largest one. */
  #need(): Need {
    let most: Need = { ms: 0, why: '' }
    for (const [host, s] of this.#servers) {
      const tookMs = s.tookMs.toSorted((a, b) => b - a)[s.tookMs.length > 1 ? 1 : 0] ?? 0
      const slow = { ms: MARGIN * tookMs, why: `a ${this.#work} of ${host} takes ${seconds(tookMs)}` }
      const cost = this.#cost(host, s)
      for (const need of [slow, cost]) if (need && need.ms > most.ms) most = need
    }
    return most
  }

  #cost(host: string, { cpuMs, tookMs, reportsCpu }: Server): Need | undefined {
    const share = `readings may take ${formatNumber(this.#share * 100)} % of a core`
    if (cpuMs !== undefined) {
      return { ms: cpuMs / this.#share, why: `a reading costs ${host} ${formatNumber(cpuMs)} ms of CPU time, ${share}` }
    }
    if (reportsCpu) return undefined
    const mean = tookMs.reduce((n, ms) => n + ms, 0) / Math.max(1, tookMs.length)
    const why = `a reading of ${host} takes ${formatNumber(mean)} ms, its CPU time is unknown, ${share}`
    return { ms: mean / this.#share, why }
  }
}
