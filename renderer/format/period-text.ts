/** Texts of control periods. */
import type { ServerPeriodFrame } from '#core/api/periods.ts'
import { formatNumber, plural } from './units.ts'

const ms = (value: number): string =>
  value < 1000 ? `${formatNumber(value)} ms` : `${formatNumber(value / 1000, 1)} s`

/** Length of the period: `100 ms`, `200 ms of 100 ms`. */
export const periodLength = ({ setMs, runMs }: ServerPeriodFrame): string =>
  runMs === setMs ? ms(runMs) : `${ms(runMs)}, set to ${ms(setMs)}`

/** Control period of one server in a line. */
export function periodText(p: ServerPeriodFrame): string {
  const late = p.missed === 0 ? '' : `${plural(p.missed, 'period')} missed in a minute`
  const jitter = p.p50Ms === null || p.p99Ms === null ? '' : `p50 ${ms(p.p50Ms)}, p99 ${ms(p.p99Ms)}`
  return [`control every ${periodLength(p)}`, jitter, late, p.why].filter((t) => t !== '').join('; ')
}
