/**
 * Numbers and instants as the operator reads them, in the units that were chosen for this window. What reads them here is drawn
 * anew when the choice changes. Files, commands and bundles take the fixed ones of core/base.
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
/** The source's clock, whatever the window shows: for names of files, and for days that are counted in UTC. */
export { formatClock as formatClockUtc, formatDate as formatDay } from '#core/base/clock-text.ts'

/** usual: rates decimal, sizes binary, as disks and memories are sold. */
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

/** Bytes a second: MB/s, and GB/s from ten of them on. */
export const formatRate = (bytesPerSec: number | null): Measure => rateIn(rateBase(), bytesPerSec)
/** The unit that a column or an axis of bytes a second keeps. */
export const rateUnit = (isGiga = false): RateUnit => rateUnitIn(rateBase(), isGiga)
/** A size in bytes: `256 KiB`, `1.5 MiB`. */
export const formatBytes = (bytes: number | null | undefined): string => bytesIn(sizeBase(), bytes)

/** What the clock on screen is ahead of UTC at an instant, ms; 0 for UTC. */
export const clockShift = (atMs: number): number =>
  choice.clock === 'utc' ? 0 : -new Date(atMs).getTimezoneOffset() * 60_000
const shown = (atMs: number | null | undefined): number | null | undefined =>
  atMs === null || atMs === undefined ? atMs : atMs + clockShift(atMs)

/** `14:32:07`, 24 hours. @param decimals  of the second, for samples that come faster than one a second. */
export const formatClock = (atMs: number | null | undefined, seconds = true, decimals = 0): string =>
  clockUtc(shown(atMs), seconds, decimals)
/** `Thu 19 Nov`. */
export const formatDate = (atMs: number | null | undefined): string => dateUtc(shown(atMs))

/** The zone of the clock on screen: `UTC`, `UTC+2`, `UTC\u22123:30`. */
export function zoneWords(atMs: number): string {
  const minutes = Math.round(clockShift(atMs) / 60_000)
  if (minutes === 0) return 'UTC'
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return `UTC${minutes < 0 ? '\u2212' : '+'}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`
}
