/**
 * Resolutions in which samples are kept, finest first, and their retention. A coarser tier is kept at least as long as a finer
 * one, so that a query for older data finds one that reaches back far enough.
 */
import { TIERS, type TierId } from '#core/api/history.ts'
import { fail, ok, type Result } from '#core/base/result.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Ids of the tiers in the file. */
export const RAW = 0
export const SECOND = 1
export const TIER_COUNT = TIERS.length

export const tierNumber = (tier: TierId): number => TIERS.indexOf(tier)
export const tierOf = (number: number): TierId => TIERS[number] ?? 'raw'

/** Interval of each tier, ms; raw samples have none. */
export const STEP_MS = [0, 1000, 10_000, MINUTE_MS] as const
export const stepOf = (tier: number): number => STEP_MS[tier] ?? 0

export const floorTo = (atMs: number, stepMs: number): number => Math.floor(atMs / stepMs) * stepMs

/** Default retention of each tier and its limits, ms. */
export const KEEP: readonly { readonly keepMs: number; readonly leastMs: number; readonly mostMs: number }[] = [
  { keepMs: HOUR_MS, leastMs: 10 * MINUTE_MS, mostMs: DAY_MS },
  { keepMs: DAY_MS, leastMs: HOUR_MS, mostMs: 7 * DAY_MS },
  { keepMs: 30 * DAY_MS, leastMs: DAY_MS, mostMs: 366 * DAY_MS },
  { keepMs: 365 * DAY_MS, leastMs: 7 * DAY_MS, mostMs: 3660 * DAY_MS },
]

/** Default and least size limit of the file, bytes. */
export const QUOTA_BYTES = 4 * 2 ** 30
export const QUOTA_LEAST = 16 * 2 ** 20

const durationText = (ms: number): string => {
  if (ms >= DAY_MS) return `${Math.round(ms / DAY_MS)} d`
  return ms >= HOUR_MS ? `${Math.round(ms / HOUR_MS)} h` : `${Math.round(ms / MINUTE_MS)} min`
}

/** Checks a retention time against those of the other tiers. Failures: KEEP_OUT_OF_RANGE. */
export function checkKeep(tier: number, keepMs: number, keeps: readonly number[]): Result<undefined> {
  const limits = KEEP[tier]
  const refuse = (why: string): Result<undefined> =>
    fail({
      code: 'KEEP_OUT_OF_RANGE',
      what: `Samples of ${tierOf(tier)} are not kept for ${durationText(keepMs)}`,
      why,
      unaffected: 'Retention is unchanged.',
      next: 'Choose another time.',
    })
  if (!limits || !(keepMs >= limits.leastMs && keepMs <= limits.mostMs)) {
    return refuse(
      limits
        ? `it is between ${durationText(limits.leastMs)} and ${durationText(limits.mostMs)}`
        : 'there is no such tier',
    )
  }
  const finer = keeps[tier - 1]
  if (finer !== undefined && keepMs < finer)
    return refuse(`the finer ${tierOf(tier - 1)} is kept for ${durationText(finer)}`)
  const coarser = keeps[tier + 1]
  if (coarser !== undefined && keepMs > coarser) {
    return refuse(`the coarser ${tierOf(tier + 1)} is kept for ${durationText(coarser)}`)
  }
  return ok(undefined)
}
