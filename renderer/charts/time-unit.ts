/** Unit of a duration: seconds up to ten minutes, minutes up to two days, days beyond. */
import { formatNumber, formatTick } from '../format/units.ts'
import type { AxisTick } from './picture.ts'
import { ticksWithin, type Ends } from './plot.ts'
import { niceMax, tickStep } from './scale.ts'

export interface TimeUnit {
  readonly name: 's' | 'min' | 'd'
  /** Length of the unit, s. */
  readonly seconds: number
}

export function timeUnitOf(spanS: number): TimeUnit {
  if (spanS <= 600) return { name: 's', seconds: 1 }
  return spanS <= 172_800 ? { name: 'min', seconds: 60 } : { name: 'd', seconds: 86_400 }
}

/** Ticks of an axis in seconds; the first one, and one at the end, include the unit. */
export function secondsAxis({ min, max }: Ends): AxisTick[] {
  const { name, seconds } = timeUnitOf(max)
  const step = tickStep(niceMax((max - min) / seconds)) * seconds
  return ticksWithin({ min, max }, step).map((at, i) => {
    const hasUnit = i === 0 || max - at < step * 1e-6
    return { at, text: `${formatTick(at / seconds)}${hasUnit ? ` ${name}` : ''}` }
  })
}
/** Formats a time of a run of this length. */
export function formatRunTime(atS: number, spanS: number): string {
  const { name, seconds } = timeUnitOf(spanS)
  return `${formatNumber(atS / seconds, 1)}\u202F${name}`
}
