/** Ticks of a time axis of up to a few days: round steps of the displayed clock, labels at the ends aligned inward. */
import { clockShift, formatClock } from '../format/units.ts'
import type { Ends } from './plot.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const STEPS = [
  1000,
  2000,
  5000,
  10_000,
  30_000,
  MINUTE,
  2 * MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
]

/** Smallest of the clock's round steps that gives at most `most` ticks. */
export const clockStep = ({ min, max }: Ends, most: number): number => STEPS.find((s) => (max - min) / s <= most) ?? DAY

export interface ClockTick {
  readonly at: number
  readonly text: string
  readonly anchor: 'start' | 'middle' | 'end'
}

/** @param most  approximate number of ticks that fit. */
export function clockTicks({ min, max }: Ends, most = 9): ClockTick[] {
  if (!(max > min)) return []
  const step = clockStep({ min, max }, most)
  const edge = (max - min) * 0.03
  const ticks: ClockTick[] = []
  const shift = clockShift(min)
  for (let at = Math.ceil((min + shift) / step) * step - shift; at <= max && ticks.length < 60; at += step) {
    const anchor = at - min < edge ? 'start' : max - at < edge ? 'end' : 'middle'
    // The end of a whole day is labeled 24:00, not as the start of the next one.
    const isDayEnd = at === max && (at + shift) % DAY === 0
    ticks.push({ at, text: isDayEnd ? '24:00' : formatClock(at, step < MINUTE), anchor })
  }
  return ticks
}

/** Grid for instants set by the user: the finest step of at least two pixels. */
const SNAPS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 900].map((s) => s * 1000)
export const snapStep = (msPerPx: number): number => SNAPS.find((s) => s >= 2 * msPerPx) ?? 900_000
