/** Retention of a tier: stops of its slider, and deletions by a shorter retention. */
import { TIERS, type HistoryFrame, type Span, type TierId } from '#core/api/history.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from './span-format.ts'

export type Tier = HistoryFrame['store']['tiers'][number]

export const tierLabels: Readonly<Record<TierId, { readonly name: string; readonly what: string }>> = {
  raw: { name: 'raw', what: 'raw samples' },
  '1s': { name: '1 s', what: 'means of 1 s' },
  '10s': { name: '10 s', what: 'means of 10 s' },
  '1min': { name: '1 min', what: 'means of 1 min' },
}

const STOPS = [
  ...[1, 5, 10, 15, 30].map((m) => m * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((h) => h * HOUR_MS),
  ...[1, 2, 3, 5, 7, 14, 21, 30, 60, 90, 180, 365, 730, 1825, 3650].map((d) => d * DAY_MS),
]

/** Slider stops: round lengths within the limits, the limits, and the current retention. */
export function keepStops(tier: Pick<Tier, 'leastMs' | 'mostMs' | 'keepMs'>): number[] {
  const within = STOPS.filter((stop) => stop > tier.leastMs && stop < tier.mostMs)
  const ends = [tier.leastMs, tier.mostMs, Math.max(tier.leastMs, Math.min(tier.mostMs, tier.keepMs))]
  return [...new Set([...within, ...ends])].sort((a, b) => a - b)
}

/** Range deleted when the retention of a tier becomes `keepMs`; null: nothing. */
export function deletedBy(tier: Pick<Tier, 'oldestMs'>, keepMs: number, nowMs: number): Span | null {
  const toMs = nowMs - keepMs
  return tier.oldestMs !== null && tier.oldestMs < toMs ? { fromMs: tier.oldestMs, toMs } : null
}

/** Finest coarser tier that covers the whole deleted range; undefined: none does. */
export function coarserTier(tiers: readonly Tier[], id: TierId, gone: Span): TierId | undefined {
  return TIERS.slice(TIERS.indexOf(id) + 1).find((coarser) => {
    const tier = tiers.find((t) => t.id === coarser)
    return tier !== undefined && tier.oldestMs !== null && tier.oldestMs <= gone.fromMs
  })
}

/** Longer deletions need a confirmation. */
export const CONFIRM_BEYOND_MS = HOUR_MS

/**
 * Parses `4`, `4.5 GiB`, `800 MiB`, `4 GB` into bytes; undefined if invalid. The default unit is GiB, also for a bare
 * `B`; M, G and T without `B` are binary.
 */
export function readSize(text: string): number | undefined {
  const match = /^\s*(\d{1,6}(?:[.,]\d{1,3})?)\s*(M|G|T)?(i?B)?\s*$/i.exec(text)
  if (!match) return undefined
  const step = match[3]?.toLowerCase() === 'b' && match[2] ? 1000 : 1024
  const factor = step ** ({ m: 2, g: 3, t: 4 }[(match[2] ?? 'g').toLowerCase()] ?? 3)
  const bytes = Math.round(Number((match[1] ?? '').replace(',', '.')) * factor)
  return bytes > 0 && Number.isSafeInteger(bytes) ? bytes : undefined
}
