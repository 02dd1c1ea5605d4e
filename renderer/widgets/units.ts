/** Numbers and instants as the operator reads them; the page of a bundle and its report write them the same way. */
export {
  NOTHING,
  formatNumber,
  formatSigned,
  formatPercent,
  formatRate,
  formatCount,
  formatBytes,
  formatBin,
  formatTick,
  formatCountdown,
  formatSpan,
  plural,
} from '#core/base/figure-text.ts'
export type { Measure } from '#core/base/figure-text.ts'
export { formatClock, formatDate } from '#core/base/clock-text.ts'
