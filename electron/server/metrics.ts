/**
 * The newest values for a scraper of OpenMetrics, on the console's own loopback port and off unless asked for. A scraper cannot trade a
 * one-time address for a cookie: it shows a token that is made at every start, lets it read these values, and opens nothing else. What a
 * browser sends on its own for another page (an Origin, a cross-site fetch) is refused, token or not.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { OPEN_METRICS_TYPE, openMetrics } from '#electron/history/open-metrics.ts'
import type { History } from '#electron/history/history.ts'

export const METRICS_PATH = '/metrics'

/** Jobs told of: those with the most RPCs. */
const JOBS = 200
const EVICTIONS = 50

export interface Metrics {
  /** What a scraper shows. */
  readonly token: string
  readonly type: string
  readonly admits: (headers: IncomingHttpHeaders) => boolean
  readonly text: () => string
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** @param token  for callers that must know it; made up otherwise. */
export function metricsOf(text: () => string, token = randomBytes(24).toString('base64url')): Metrics {
  const known = digest(token)
  return {
    token,
    type: OPEN_METRICS_TYPE,
    admits: (headers) => {
      if (headers.origin !== undefined || headers['sec-fetch-site'] !== undefined) return false
      const given = /^Bearer ([\w-]{1,200})$/.exec(headers.authorization ?? '')?.[1]
      return given !== undefined && timingSafeEqual(digest(given), known)
    },
    text,
  }
}

/** The values of the source on screen. */
export function metricsText(source: { readonly history: History; nowMs(): number }): string {
  const { history } = source
  const store = { usage: history.usage(), evictions: history.evictions(EVICTIONS) }
  return openMetrics(history.reader(), { nowMs: source.nowMs(), jobs: JOBS, store })
}
