/** Range of history in the URL, set by another view: `?from=..&to=..`, Unix ms. */
import type { LocationQuery } from 'vue-router'
import type { Span } from '#core/api/history.ts'

const DAY_MS = 86_400_000

export function spanOfQuery({ from, to }: LocationQuery): Span | null {
  if (typeof from !== 'string' || typeof to !== 'string') return null
  const fromMs = Number(from)
  const toMs = Number(to)
  const isSpan = Number.isFinite(fromMs) && Number.isFinite(toMs) && fromMs >= 0 && toMs > fromMs
  return isSpan && toMs - fromMs <= DAY_MS ? { fromMs, toMs } : null
}
