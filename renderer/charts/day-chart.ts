/** Picture of one measure over a day or a part of it. */
import { formatClock } from '../format/units.ts'
import type { Palette } from '../theme/palette.ts'
import { clockTicks } from './clock-ticks.ts'
import type { Picture, Placed, PlotArea, Size, Text, Values } from './picture.ts'
import { largest, niceMax, tickStep } from './scale.ts'
import { ticksWithin } from './plot.ts'

export interface DayLine {
  readonly fromMs: number
  readonly toMs: number
  readonly t: readonly number[]
  readonly values: Values
  readonly gaps: readonly DayGap[]
  readonly watch: number | null
  /** Newest stored instant, and its label. */
  readonly nowMs: number
  readonly nowWord: string
  /** Formats a value without its unit, and a tick. */
  readonly formatValue: (value: number) => string
  readonly formatTick: (value: number) => string
}
export interface DayGap {
  readonly fromMs: number
  readonly toMs: number
  readonly why: string
}

export const DAY_MARGINS = { left: 52, right: 14, top: 8, bottom: 20 } as const
/** About the width of a character, px. */
const CHAR_PX = 5.6
/** Width of the labels of now and of the watch level, px. */
const NOW_PX = 62
const WATCH_PX = 150

/** Gaps within the axis. */
export const dayGaps = ({ gaps, fromMs, toMs }: Pick<DayLine, 'gaps' | 'fromMs' | 'toMs'>): DayGap[] =>
  gaps
    .map((gap) => ({ ...gap, fromMs: Math.max(gap.fromMs, fromMs), toMs: Math.min(gap.toMs, toMs) }))
    .filter((gap) => gap.toMs > gap.fromMs)

/** Reasons of the gaps that are wide enough for them. */
function gapTexts(line: DayLine, p: Palette, area: PlotArea): Text[] {
  return dayGaps(line).flatMap(({ fromMs, toMs, why }): Text[] => {
    if (area.x(toMs) - area.x(fromMs) <= why.length * CHAR_PX + 8) return []
    const at = (fromMs + toMs) / 2
    return [{ at, value: 'bottom', side: 'middle', dy: -11, text: why, color: p['text-3'] }]
  })
}

/** Labels of the watch level and of now; the former is below its line at the top, and away from the latter. */
function placed(line: DayLine, p: Palette, area: PlotArea): Placed {
  const { nowMs, nowWord, fromMs, toMs, watch } = line
  const texts = gapTexts(line, p, area)
  const nowX = nowMs >= fromMs && nowMs <= toMs ? area.x(nowMs) : null
  const color = p['text-3']
  const levelY = watch === null ? null : area.y(watch)
  if (watch !== null && levelY !== null) {
    const isLeft = (nowX ?? 0) > area.right - WATCH_PX
    texts.push({
      at: isLeft ? 'start' : 'end',
      value: watch,
      side: isLeft ? 'right' : 'left',
      dy: levelY < 24 ? 8 : -8,
      text: `warning ${line.formatValue(watch)}`,
      color,
    })
  }
  if (nowX !== null) {
    const y = levelY !== null && levelY < 40 ? levelY + 20 : 16
    const side = nowX < area.right - NOW_PX ? 'right' : 'left'
    texts.push({
      at: nowMs,
      value: 'top',
      side,
      dx: side === 'right' ? 3 : -3,
      dy: y - area.top,
      text: `${nowWord} ${formatClock(nowMs, false)}`,
      color,
    })
  }
  return { texts }
}

export function dayPicture(line: DayLine, p: Palette, { height }: Size): Picture {
  const { fromMs, toMs, t, values, watch } = line
  const max = niceMax(largest(values, watch ?? 0))
  const ends = { min: 0, max, step: tickStep(max) }
  const isLow = height - DAY_MARGINS.top - DAY_MARGINS.bottom < 110
  return {
    from: fromMs,
    to: toMs,
    ends,
    margins: DAY_MARGINS,
    ticks: (axis, plotPx) => clockTicks(axis, plotPx < 534 ? 5 : 9),
    valueTicks: ticksWithin(ends, isLow ? max / 2 : ends.step),
    formatTick: line.formatTick,
    ranges: dayGaps(line).map((gap) => ({ from: gap.fromMs, to: gap.toMs, fill: 'gap' })),
    layers: [{ t, values, fill: { color: p['ink-4'], opacity: 0.16 }, stroke: { color: p['ink-4'], width: 1.2 } }],
    levels: watch === null ? [] : [{ value: watch, stroke: { color: p['text-3'], width: 1, dash: [5, 3] } }],
    placed: (area) => placed(line, p, area),
  }
}
