/** Common parts of the charts of a run: background, time axis, value axis; all colors from the palette. */
import { formatClock, formatTick } from '../format/units.ts'
import type { Palette } from '../theme/palette.ts'

export interface Margins {
  readonly left?: number
  readonly right?: number
  readonly top?: number
  readonly bottom?: number
}
export interface ValueEnds {
  readonly min: number
  readonly max: number
  readonly step: number
}

/** ECharts option without series. */
export function ground(p: Palette, t: readonly number[], ends: ValueEnds, divisor = 1, margins: Margins = {}) {
  const from = t[0] ?? 0
  const to = t.at(-1) ?? 1
  const text = { color: p['text-3'], fontSize: 10, fontFamily: p['font-ui'] }
  const isNarrow = (margins.right ?? 14) < 10
  // A label at the very edge would be clipped: the tick stays, its label is omitted.
  const edge = (to - from) * (isNarrow ? 0.09 : 0.035)
  const words = (value: number): string =>
    value - from < edge || to - value < edge ? '' : formatClock(value, value % 60_000 !== 0)
  return {
    animation: false,
    useUTC: true,
    stateAnimation: { duration: 0 },
    hoverLayerThreshold: Infinity,
    textStyle: { fontFamily: p['font-ui'], fontSize: 10 },
    grid: { left: 44, right: 14, top: 8, bottom: 20, ...margins, containLabel: false, outerBoundsMode: 'none' },
    xAxis: {
      type: 'time',
      min: from,
      max: to,
      splitNumber: isNarrow ? 3 : 5,
      axisLine: { lineStyle: { color: p.axis }, onZero: false },
      axisTick: { lineStyle: { color: p.axis }, length: 3 },
      axisLabel: { ...text, hideOverlap: true, margin: 5, formatter: words },
      splitLine: { show: false },
      axisPointer: {
        show: true,
        triggerTooltip: false,
        label: { show: false },
        lineStyle: { color: p.crosshair, width: 1, type: [2, 2] },
      },
    },
    yAxis: {
      type: 'value',
      min: ends.min,
      max: ends.max,
      interval: ends.step,
      axisLine: { show: false },
      axisTick: { show: false },
      axisLabel: { ...text, formatter: (value: number) => formatTick(value / divisor) },
      splitLine: { lineStyle: { color: p.grid } },
      axisPointer: { show: false },
    },
  }
}

/**
 * Points of a line on the time axis, x and y interleaved; a gap is NaN. Typed, because a list of pairs is copied pair
 * by pair.
 */
export function points(t: readonly number[], values: readonly (number | null)[]): Float64Array {
  const flat = new Float64Array(t.length * 2)
  for (let i = 0; i < t.length; i++) {
    flat[2 * i] = t[i] ?? NaN
    flat[2 * i + 1] = values[i] ?? NaN
  }
  return flat
}
