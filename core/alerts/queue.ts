/**
 * Queue growth: requests queued in the policies of a server (`nrs_policies`, all policies and both queues), compared with the server's
 * baseline.
 *
 * `high`: the mean of the last seconds is at least `threshold` times the median of a 15-minute window, at least 64 requests, and at least
 * 1.25 times the 90th percentile of that window, so that recurring storms are reported once. The window ends 30 s plus the rule's
 * duration before now. An alert ends below half of that level; load that lasts for most of 15 minutes becomes the baseline and ends the
 * alert as well. Nothing is reported until about two minutes are known, or right after a server was unresponsive, a controller was
 * changed or an operator changed rules: requests held back by a rule wait in the same queue.
 */
import { conditionOf, type Figures, type GrownJob, type Judgement } from './figures.ts'
import { RULES, type Rule } from './rules.ts'
import { amount, named, times } from './format.ts'

/** Length of a bin, ms, and bins per window. */
const BIN_MS = 5_000
const BINS = 180
/** Most additional bins for the lag: no alert waits longer than an hour. */
const LAG_MOST = 720
/** Fewest bins that give a baseline. */
const LEAST = 12

/**
 * Baseline of one figure: the median of 15 minutes, which single peaks do not move, and the 90th percentile, which
 * suppresses recurring peaks. The window ends some time before now, so that a current rise is not part of its own
 * baseline.
 */
class Baseline {
  #bins: number[] = []
  #fromMs = NaN
  #sum = 0
  #count = 0
  #median = NaN
  #p90 = NaN

  /** NaN while too few bins are known. */
  get median(): number {
    return this.#median
  }

  /** 90th percentile; NaN while too few bins are known. */
  get p90(): number {
    return this.#p90
  }

  /** @param lagMs  time from the end of the window to now. */
  add(atMs: number, value: number, lagMs: number): void {
    if (Number.isNaN(this.#fromMs) || atMs < this.#fromMs) this.#fromMs = atMs
    if (atMs - this.#fromMs >= BIN_MS) this.#close(atMs, Math.min(LAG_MOST, Math.ceil(lagMs / BIN_MS)))
    if (Number.isNaN(value)) return
    this.#sum += value
    this.#count++
  }

  forget(): void {
    this.#bins = []
    this.#fromMs = this.#median = this.#p90 = NaN
    this.#sum = this.#count = 0
  }

  #close(atMs: number, lag: number): void {
    if (this.#count > 0) {
      this.#bins.push(this.#sum / this.#count)
      if (this.#bins.length > BINS + LAG_MOST) this.#bins.shift()
    }
    this.#fromMs = atMs
    this.#sum = this.#count = 0
    const known = this.#bins.slice(Math.max(0, this.#bins.length - lag - BINS), Math.max(0, this.#bins.length - lag))
    const n = known.length
    if (n < LEAST) return
    const sorted = Float64Array.from(known).sort()
    this.#median = sorted[n >> 1] as number
    this.#p90 = sorted[Math.min(n - 1, Math.ceil(0.9 * n) - 1)] as number
  }
}

export const QUEUE_LEAST = 64
/** Factor above the 90th percentile. */
const ABOVE_P90 = 1.25
/** Lag of the baseline window beyond the rule's duration, ms. */
const LAG_MS = 30_000
/** Time constant of the smoothed mean, ms. */
const SMOOTH_MS = 3_000
/** Grace period after a server answers again: its clients resend the requests in flight. */
const RECOVERY_MS = 60_000

function textOf(host: string, queued: number, usual: number, grown: GrownJob | undefined): string {
  const against = usual >= 1 ? `${times(queued / usual)} the usual ${amount(Math.round(usual))}` : 'usually none'
  const by = grown ? `; ${named(grown.job)} grew most, by ${amount(grown.by)} RPC/s` : ''
  return `${named(host)}: ${amount(Math.round(queued))} RPCs queued, ${against}${by}`
}

interface Known {
  readonly usual: Baseline
  smooth: number
  atMs: number
  /** Last time below the alert level. */
  belowMs: number
  quietUntilMs: number
}

export class QueueDetector {
  readonly #known = new Map<string, Known>()

  look(figures: Pick<Figures, 'atMs' | 'servers' | 'grown'>, rule: Pick<Rule, 'threshold' | 'forS'>): Judgement[] {
    const { atMs, servers } = figures
    const { threshold, forS } = rule
    const hosts = new Set(servers.map((s) => s.host))
    for (const host of this.#known.keys()) if (!hosts.has(host)) this.#known.delete(host)
    return servers.map(({ host, queued, silent }) => {
      const k = this.#of(host, atMs)
      const isKnown = silent === '' && !Number.isNaN(queued)
      if (silent !== '') k.quietUntilMs = atMs + RECOVERY_MS
      if (isKnown) {
        const share = Number.isNaN(k.smooth) ? 1 : 1 - Math.exp(-Math.max(0, atMs - k.atMs) / SMOOTH_MS)
        k.smooth = Number.isNaN(k.smooth) ? queued : k.smooth + share * (queued - k.smooth)
        k.atMs = atMs
      } else k.smooth = NaN
      const { median, p90 } = k.usual
      k.usual.add(atMs, isKnown ? queued : NaN, 1_000 * forS + LAG_MS)
      const isReady = isKnown && !Number.isNaN(median) && atMs >= k.quietUntilMs
      const level = Math.max(QUEUE_LEAST, threshold * median, ABOVE_P90 * p90)
      const measure = k.smooth
      const condition = isReady ? conditionOf(measure, level, RULES.queue.clear) : 'unknown'
      if (condition === 'low' || condition === 'held') k.belowMs = atMs
      const sinceMs = k.belowMs
      return {
        subject: host,
        where: host,
        measure: measure / Math.max(1, median),
        condition,
        level: RULES.queue.level,
        text: () => textOf(host, measure, median, figures.grown?.(host, sinceMs)),
      }
    })
  }

  /** Discards all baselines. */
  forget(): void {
    for (const k of this.#known.values()) k.usual.forget()
  }

  #of(host: string, atMs: number): Known {
    let k = this.#known.get(host)
    if (!k)
      this.#known.set(host, (k = { usual: new Baseline(), smooth: NaN, atMs, belowMs: atMs, quietUntilMs: -Infinity }))
    return k
  }
}
