/** Display model of the capacity of a data node: estimate against profile, with a scale around the values. */
import type { TokensFrame } from '#core/api/tokens.ts'
import { niceMax, tickStep } from '../../charts/scale.ts'
import { formatNumber, formatPercent } from '../../format/units.ts'
import { shortTokens } from './token-unit.ts'

type Capacity = TokensFrame['capacity']
type Values = readonly (number | null)[]

const last = (values: Values): number | null => values.findLast((v) => v !== null) ?? null

/** Newest value of each line. */
export function capacityNow(capacity: Capacity): {
  estimate: number | null
  used: number | null
  reserved: number | null
} {
  return { estimate: last(capacity.estimate), used: last(capacity.used), reserved: last(capacity.reserved) }
}

/** The axis starts at 0 if the lowest value is below this share of the highest. */
const BAND = 0.5

/** Range of the axis and the distance of ticks. If all values are close, the axis starts just below them. */
export function capacityEnds(capacity: Capacity): { min: number; max: number; step: number } {
  const all = [capacity.estimate, capacity.used, capacity.reserved].flatMap((v) => v.filter((x) => x !== null))
  const high = Math.max(capacity.profile, ...all)
  if (!(high > 0)) return { min: 0, max: 1000, step: 500 }
  const low = Math.min(capacity.profile > 0 ? capacity.profile : high, ...all)
  const apart = low < BAND * high ? high : Math.max(high - low, high * 0.04)
  const step = Math.max(1, tickStep(niceMax(apart * 1.2)))
  const min = low < BAND * high ? 0 : Math.max(0, Math.floor((low - apart * 0.08) / step) * step)
  return { min, max: high + Math.max(apart * 0.12, 1), step }
}

export interface CapacityMark {
  readonly epoch: number
  readonly text: string
  /** True if the label is left of the line. */
  readonly isLeft: boolean
  /** Line of text, from the bottom: labels of close marks are stacked. */
  readonly line: number
}
const CHAR_PX = 5.2
const LINES = 3

/** @param xOf  px of a period; @param to  px of the right end. */
export function placeCapacityMarks(
  marks: Capacity['marks'],
  xOf: (epoch: number) => number,
  to: number,
): CapacityMark[] {
  const taken: { from: number; to: number; line: number }[] = []
  return [...marks]
    .sort((a, b) => a.epoch - b.epoch)
    .map((mark) => {
      const x = xOf(mark.epoch)
      const wide = mark.text.length * CHAR_PX + 8
      const isLeft = x + wide > to
      const [from, end] = isLeft ? [x - wide, x] : [x, x + wide]
      const isFree = (line: number): boolean => !taken.some((o) => o.line === line && o.from < end && from < o.to)
      const line = Array.from({ length: LINES }, (_, i) => i).find(isFree) ?? LINES - 1
      taken.push({ from, to: end, line })
      return { ...mark, isLeft, line }
    })
}

/** Facts below the chart: name, value and note. */
export function capacityFacts({ capacity }: TokensFrame): { name: string; value: string; note: string }[] {
  const now = capacityNow(capacity)
  const ofProfile = (v: number | null): string =>
    v === null || capacity.profile <= 0 ? '' : `${formatPercent(v / capacity.profile, 1)} of profile`
  return [
    { name: 'Estimate (\u03C9)', value: shortTokens(now.estimate), note: ofProfile(now.estimate) },
    { name: 'Used (U)', value: shortTokens(now.used), note: ofProfile(now.used) },
    { name: 'Last adjustment', value: capacity.action || '\u2013', note: '' },
  ]
}

export function describeCapacity(capacity: Capacity): string {
  const now = capacityNow(capacity)
  if (now.estimate === null) return 'Capacity: no estimate yet.'
  const marks = capacity.marks.map((m) => `period ${m.epoch} ${m.text}`).join('; ')
  return `Capacity, tokens per period: estimate ${formatNumber(now.estimate)}, used ${formatNumber(now.used)}, reserved ${formatNumber(
    now.reserved,
  )}, profile ${formatNumber(capacity.profile)}, least ${formatNumber(capacity.least)}.${marks === '' ? '' : ` ${marks}.`}`
}
