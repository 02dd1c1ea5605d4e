/**
 * Desktop notifications of alerts, while the window has no focus. Names in them are chosen by users of the cluster:
 * plain text of bounded length. A burst of alerts becomes a few notifications: the rest is counted in the next one.
 */
import type { Entry } from '#core/alerts/alert-store.ts'
import { plainText } from '#core/base/plain-text.ts'

/** Minimum interval of notifications, ms. */
const APART_MS = 15_000
const AN_HOUR_MOST = 12
const HOUR_MS = 3_600_000
const TITLE_MOST = 60
const BODY_MOST = 240
/** Most notifications that can still be clicked. */
const KNOWN = 64

export interface AlertNotice {
  readonly id: string
  readonly title: string
  readonly body: string
}

const bounded = (text: string, most: number): string => {
  const plain = plainText(text.slice(0, 4 * most))
  return plain.length <= most ? plain : `${plain.slice(0, most - 1)}\u2026`
}

export class AlertNotices {
  readonly #notify: (notice: AlertNotice) => void
  readonly #nowMs: () => number
  #shownMs: number[] = []
  #suppressed = 0
  readonly #known = new Map<string, string>()

  constructor(notify: (notice: AlertNotice) => void, nowMs: () => number = () => performance.now()) {
    this.#notify = notify
    this.#nowMs = nowMs
  }

  /** Notifies of a new alert while the window has no focus. */
  notify(cluster: string, { id, level, text, where }: Pick<Entry, 'id' | 'level' | 'text' | 'where'>): void {
    const nowMs = this.#nowMs()
    this.#shownMs = this.#shownMs.filter((t) => nowMs - t < HOUR_MS)
    const last = this.#shownMs.at(-1)
    if (this.#shownMs.length >= AN_HOUR_MOST || (last !== undefined && nowMs - last < APART_MS)) {
      this.#suppressed++
      return
    }
    this.#shownMs.push(nowMs)
    const more = this.#suppressed === 0 ? '' : `\nand ${this.#suppressed} more since the last notification`
    this.#suppressed = 0
    this.#remember(id, cluster)
    const at = where === '' ? '' : `, ${where}`
    this.#notify({
      id,
      title: bounded(`${level === 'bad' ? 'Critical' : 'Warning'}: ${cluster}`, TITLE_MOST),
      body: `${bounded(`${text}${at}`, BODY_MOST)}${more}`,
    })
  }

  /** Cluster of a notification's alert; undefined for an unknown one. */
  clusterOf(id: string): string | undefined {
    return this.#known.get(id)
  }

  #remember(id: string, cluster: string): void {
    this.#known.set(id, cluster)
    const [oldest] = this.#known.keys()
    if (this.#known.size > KNOWN && oldest !== undefined) this.#known.delete(oldest)
  }
}
