/**
 * Formatting of numbers and times in the units chosen for this window. Reactive: a changed choice redraws its users.
 * Files, commands and bundles use the fixed units of core/base.
 */
import { shallowReactive } from 'vue'
import { formatClock as clockUtc, formatDate as dateUtc } from '#core/base/clock-text.ts'
import { bytesIn, rateIn, rateUnitIn, type ByteBase, type Measure, type RateUnit } from '#core/base/figure-text.ts'

export {
  NOTHING,
  formatNumber,
  formatSigned,
  formatPercent,
  formatCount,
  formatBin,
  formatTick,
  formatCountdown,
  formatSpan,
  plural,
} from '#core/base/figure-text.ts'
export type { Measure, RateUnit } from '#core/base/figure-text.ts'
/** UTC formatters, regardless of the clock setting: for file names and days counted in UTC. */
export { formatClock as formatClockUtc, formatDate as formatDay } from '#core/base/clock-text.ts'

/** usual: decimal rates and binary sizes, as for disks and memory. */
export const byteChoices = ['usual', 'decimal', 'binary'] as const
export const clockChoices = ['utc', 'local'] as const
interface Choice {
  bytes: (typeof byteChoices)[number]
  clock: (typeof clockChoices)[number]
}
const choice = shallowReactive<Choice>({ bytes: 'usual', clock: 'utc' })

export function chooseUnits(next: Choice): void {
  Object.assign(choice, next)
}

const rateBase = (): ByteBase => (choice.bytes === 'binary' ? 'binary' : 'decimal')
const sizeBase = (): ByteBase => (choice.bytes === 'decimal' ? 'decimal' : 'binary')

/** Formats bytes per second: MB/s, GB/s from 10 GB/s on. */
export const formatRate = (bytesPerSec: number | null): Measure => rateIn(rateBase(), bytesPerSec)
/** Fixed unit for a column or an axis of bytes per second. */
export const rateUnit = (isGiga = false): RateUnit => rateUnitIn(rateBase(), isGiga)
/** Formats a size in bytes: `256 KiB`, `1.5 MiB`. */
export const formatBytes = (bytes: number | null | undefined): string => bytesIn(sizeBase(), bytes)

/** Offset of the displayed clock from UTC, ms; 0 for UTC. */
export const clockShift = (atMs: number): number =>
  choice.clock === 'utc' ? 0 : -new Date(atMs).getTimezoneOffset() * 60_000
const shown = (atMs: number | null | undefined): number | null | undefined =>
  atMs === null || atMs === undefined ? atMs : atMs + clockShift(atMs)

/** Formats `14:32:07`, 24 hours. @param decimals  decimals of the second, for samples less than one second apart. */
export const formatClock = (atMs: number | null | undefined, seconds = true, decimals = 0): string =>
  clockUtc(shown(atMs), seconds, decimals)
/** Formats `Thu 19 Nov`. */
export const formatDate = (atMs: number | null | undefined): string => dateUtc(shown(atMs))

/** Time zone of the displayed clock: `UTC`, `UTC+2`, `UTC\u22123:30`. */
export function zoneText(atMs: number): string {
  const minutes = Math.round(clockShift(atMs) / 60_000)
  if (minutes === 0) return 'UTC'
  const hours = Math.floor(Math.abs(minutes) / 60)
  const rest = Math.abs(minutes) % 60
  return `UTC${minutes < 0 ? '\u2212' : '+'}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`
}
