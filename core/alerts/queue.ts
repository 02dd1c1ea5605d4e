/**
 * Queues that grow: requests waiting in the policies of a server (`nrs_policies`, all policies and both queues), against what is usual
 * there.
 *
 * Above: the mean of the last seconds is at least `threshold` times the median of a quarter of an hour, at least 64 requests, and a
 * quarter above what it stays below for nine tenths of that time, so that storms that come again are told once. That quarter ends half a
 * minute before the time for which it must last. It ends below half of that. What lasts for most of a quarter of an hour is usual by then,
 * and ends as well. Nothing is said before about two minutes are known, nor after a server was silent, a controller was changed or an operator changed rules: requests held by a rule wait in the same queue.
 */
import { standOf, type Figures, type Grown, type Judged } from './figures.ts'
import type { Rule } from './rules.ts'
import { Usual } from './usual.ts'
import { amount, named, times } from './words.ts'

export const QUEUE_LEAST = 64
/** Times what it mostly is. */
const ABOVE_MOSTLY = 1.25
/** What is usual is that of so long before the time that it must last, ms. */
const LAG_MS = 30_000
/** Mean over about so long, ms. */
const SMOOTH_MS = 3_000
/** A server that answers again is left alone for so long: its clients send again what they had under way. */
const RECOVERY_MS = 60_000

function wordsOf(host: string, queued: number, usual: number, grown: Grown | undefined): string {
  const against =
    usual >= 1 ? `${times(queued / usual)} of the usual ${amount(Math.round(usual))}` : 'where there is none as a rule'
  const by = grown ? `; ${named(grown.job)} grew most, by ${amount(grown.by)} RPC/s` : ''
  return `${named(host)}: ${amount(Math.round(queued))} RPCs queued, ${against}${by}`
}

interface Known {
  readonly usual: Usual
  smooth: number
  atMs: number
  /** Since when it is above its level. */
  highMs: number
  quietUntilMs: number
}

export class QueueDetector {
  readonly #known = new Map<string, Known>()

  look(figures: Pick<Figures, 'atMs' | 'servers' | 'grown'>, rule: Pick<Rule, 'threshold' | 'forS'>): Judged[] {
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
      const { median, mostly } = k.usual
      k.usual.add(atMs, isKnown ? queued : NaN, 1_000 * forS + LAG_MS)
      const isReady = isKnown && !Number.isNaN(median) && atMs >= k.quietUntilMs
      const level = Math.max(QUEUE_LEAST, threshold * median, ABOVE_MOSTLY * mostly)
      const measure = k.smooth
      const stand = isReady ? standOf(measure, level) : 'unknown'
      if (stand === 'low' || stand === 'held') k.highMs = atMs
      const sinceMs = k.highMs
      return {
        ...{ subject: host, where: host, measure: measure / Math.max(1, median) },
        ...{ stand, level: 'watch' },
        words: () => wordsOf(host, measure, median, figures.grown?.(host, sinceMs)),
      }
    })
  }

  /** What is usual is something else from now on. */
  forget(): void {
    for (const k of this.#known.values()) k.usual.forget()
  }

  #of(host: string, atMs: number): Known {
    let k = this.#known.get(host)
    if (!k)
      this.#known.set(host, (k = { usual: new Usual(), smooth: NaN, atMs, highMs: atMs, quietUntilMs: -Infinity }))
    return k
  }
}
