/**
 * Latest values for an OpenMetrics scraper, on the console's own loopback port and off by default. A scraper cannot exchange a
 * one-time address for a cookie: it sends a token that is created at every start, which gives access to these values only.
 * Requests that a browser sends on behalf of another page (an Origin, a cross-site fetch) are refused, even with the token.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { OPEN_METRICS_TYPE, openMetrics } from '#electron/history/open-metrics.ts'
import type { History } from '#electron/history/history.ts'

export const METRICS_PATH = '/metrics'

/** Number of jobs that are exported: those with the highest RPC/s. */
const JOBS = 200
const EVICTIONS = 50

export interface Metrics {
  /** Bearer token of the scraper. */
  readonly token: string
  readonly type: string
  readonly admits: (headers: IncomingHttpHeaders) => boolean
  readonly text: () => string
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** @param token  for callers that must know it; random by default. */
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

/** Metrics of the active source. */
export function metricsText(source: { readonly history: History; nowMs(): number }): string {
  const { history } = source
  const store = { usage: history.usage(), evictions: history.evictions(EVICTIONS) }
  return openMetrics(history.reader(), { nowMs: source.nowMs(), jobs: JOBS, store })
}
