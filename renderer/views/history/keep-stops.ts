/** Retention of a tier: where its slider stops, and what a shorter one would delete. */
import { TIERS, type HistoryFrame, type Span, type TierId } from '#core/api/history.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from './span-words.ts'

export type Tier = HistoryFrame['store']['tiers'][number]

export const tierWords: Readonly<Record<TierId, { readonly name: string; readonly what: string }>> = {
  raw: { name: 'raw', what: 'samples as taken' },
  '1s': { name: '1 s', what: 'means of 1 s' },
  '10s': { name: '10 s', what: 'means of 10 s' },
  '1min': { name: '1 min', what: 'means of 1 min' },
}

const STOPS = [
  ...[1, 5, 10, 15, 30].map((m) => m * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((h) => h * HOUR_MS),
  ...[1, 2, 3, 5, 7, 14, 21, 30, 60, 90, 180, 365, 730, 1825, 3650].map((d) => d * DAY_MS),
]

/** Round lengths within the limits, with the limits themselves and what holds now. */
export function keepStops(tier: Pick<Tier, 'leastMs' | 'mostMs' | 'keepMs'>): number[] {
  const within = STOPS.filter((stop) => stop > tier.leastMs && stop < tier.mostMs)
  const ends = [tier.leastMs, tier.mostMs, Math.max(tier.leastMs, Math.min(tier.mostMs, tier.keepMs))]
  return [...new Set([...within, ...ends])].sort((a, b) => a - b)
}

/** What goes at once when a tier is kept for `keepMs` from now on; null: nothing. */
export function deletedBy(tier: Pick<Tier, 'oldestMs'>, keepMs: number, nowMs: number): Span | null {
  const toMs = nowMs - keepMs
  return tier.oldestMs !== null && tier.oldestMs < toMs ? { fromMs: tier.oldestMs, toMs } : null
}

/** The coarser tier that still tells of all that goes; undefined: nothing does. */
export function leftAfter(tiers: readonly Tier[], id: TierId, gone: Span): TierId | undefined {
  return TIERS.slice(TIERS.indexOf(id) + 1).find((coarser) => {
    const tier = tiers.find((t) => t.id === coarser)
    return tier !== undefined && tier.oldestMs !== null && tier.oldestMs <= gone.fromMs
  })
}

/** Beyond it a deletion is asked for first. */
export const ASK_BEYOND_MS = HOUR_MS

/** `4`, `4.5 GiB`, `800 MiB`, `4 GB`; bytes, or undefined for what is no size. Without a unit GiB are meant, and M, G, T are binary. */
export function readSize(text: string): number | undefined {
  const match = /^\s*(\d{1,6}(?:[.,]\d{1,3})?)\s*(M|G|T)?(i?B)?\s*$/i.exec(text)
  if (!match) return undefined
  const step = match[3]?.toLowerCase() === 'b' && match[2] ? 1000 : 1024
  const factor = step ** ({ m: 2, g: 3, t: 4 }[(match[2] ?? 'g').toLowerCase()] ?? 3)
  const bytes = Math.round(Number((match[1] ?? '').replace(',', '.')) * factor)
  return bytes > 0 && Number.isSafeInteger(bytes) ? bytes : undefined
}
