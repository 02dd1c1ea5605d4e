/** ECharts option of a picture: axes, grid, hatched gaps, layers, bars, levels, marks and texts in the theme's colors. */
import { BarChart, LineChart, ScatterChart } from 'echarts/charts'
import { GridComponent, MarkAreaComponent, MarkLineComponent } from 'echarts/components'
import { use, type EChartsCoreOption } from 'echarts/core'
import { isKnown } from '../widgets/canvas.ts'
import type { Palette } from '../theme/palette.ts'
import {
  clockAxis,
  formatDivided,
  hatchFill,
  marginsOf,
  plotArea,
  type BarLabel,
  type Bars,
  type Layer,
  type Picture,
  type Segment,
  type Size,
  type Stroke,
  type Text,
  type Values,
} from './picture.ts'
import { gapSpans, ticksWithin } from './plot.ts'

use([LineChart, BarChart, ScatterChart, GridComponent, MarkAreaComponent, MarkLineComponent])

/**
 * Points of a series, x and y interleaved; a gap is NaN. Typed, because ECharts copies a list of pairs pair by pair.
 */
export function points(t: readonly number[], values: Values): Float64Array {
  const flat = new Float64Array(t.length * 2)
  for (let i = 0; i < t.length; i++) {
    flat[2 * i] = t[i] ?? NaN
    flat[2 * i + 1] = values[i] ?? NaN
  }
  return flat
}

const lineStyle = ({ color, width, opacity, dash }: Stroke) => ({
  color,
  width,
  opacity: opacity ?? 1,
  type: dash === undefined || dash.length === 0 ? 'solid' : [...dash],
})

/** Size of the symbol of a value, px. */
const SYMBOL_PX = 7

function lineSeries({ t, values, stack, fill, decal, stroke, stepped, symbol, color }: Layer, i: number) {
  return {
    id: `layer ${i}`,
    type: 'line',
    z: 2,
    silent: true,
    showSymbol: symbol !== undefined,
    showAllSymbol: symbol !== undefined,
    symbol: symbol ?? 'none',
    symbolSize: SYMBOL_PX,
    connectNulls: false,
    clip: true,
    stack: stack ?? null,
    step: stepped ? 'end' : false,
    dimensions: ['x', 'y'],
    data: points(t, values),
    lineStyle: stroke === undefined ? { width: 0 } : lineStyle(stroke),
    areaStyle: fill === undefined ? { opacity: 0 } : { color: fill.color, opacity: fill.opacity },
    itemStyle: { color: color ?? stroke?.color ?? null, decal: decal ?? null },
    emphasis: { disabled: true },
    animation: false,
  }
}

/** Widest bar, px. */
const BAR_PX = 26

/** True if the label of a bar is below it: of a negative value, unless it is shown as 0. */
export const isLabelBelow = (value: number, text: string): boolean => value < 0 && /[1-9]/.test(text)

/** Bars with a label at the end of each; a vertical label is read upwards. */
function labeledBars(t: readonly number[], values: Values, { format, isVertical }: BarLabel) {
  return t.map((at, i) => {
    const value = values[i] ?? NaN
    const text = isKnown(value) ? format(value, i) : null
    if (text === null) return { value: [at, value], label: { show: false } }
    const isBelow = isLabelBelow(value, text)
    const align = !isVertical ? 'center' : isBelow ? 'right' : 'left'
    return { value: [at, value], label: { position: isBelow ? 'bottom' : 'top', align, formatter: () => text } }
  })
}

/** Fill of bars, or the dashed outline of hollow ones. */
const barStyle = ({ color, opacity, decal, outline }: Bars): object =>
  outline === undefined
    ? { color, opacity: opacity ?? 1, decal: decal ?? null }
    : { color: 'transparent', borderColor: outline, borderWidth: 1.3, borderType: [3, 2] }

function barSeries(bars: Bars, i: number, picture: Picture, plotPx: number) {
  const { t, values, label } = bars
  const isGrouped = picture.isGrouped === true
  const perPx = plotPx / (picture.to - picture.from || 1)
  const apart = ((t[1] ?? 0) - (t[0] ?? 0)) * perPx
  return {
    id: `bars ${i}`,
    type: 'bar',
    silent: true,
    dimensions: ['x', 'y'],
    data: label === undefined ? points(t, values) : labeledBars(t, values, label),
    barWidth: isGrouped ? null : t.length > 1 ? Math.max(1, Math.min(BAR_PX, apart * 0.7)) : BAR_PX,
    barMaxWidth: BAR_PX,
    barGap: isGrouped ? '8%' : '-100%',
    barCategoryGap: '20%',
    itemStyle: barStyle(bars),
    label: {
      show: label !== undefined,
      rotate: label?.isVertical === true ? 90 : 0,
      verticalAlign: label?.isVertical === true ? 'middle' : null,
      distance: 3,
      color: label?.color ?? null,
      fontSize: 10,
    },
    emphasis: { disabled: true },
    animation: false,
  }
}

/** Gaps of a series within the axis; missing values at its end are a gap, too. */
export function hatchedRanges({ gapsOf }: Picture): [from: number, to: number][] {
  if (!gapsOf || gapsOf.t.length === 0) return []
  const { t, values } = gapsOf
  const spans = gapSpans(t, values)
  const known = values.findLastIndex(isKnown)
  if (known < t.length - 1) spans.push([t[Math.max(0, known)] ?? 0, t.at(-1) ?? 0])
  return spans
}

/** Hatch of a gap, as a style. */
export const gapHatch = (p: Palette): object => ({ color: hatchFill(p['gap-hatch']), opacity: 1 })

/** Series without values that carries the ranges, levels, marks and segments. */
function ground(p: Palette, picture: Picture, segments: readonly Segment[]) {
  const { ranges = [], levels = [], marks = [] } = picture
  const gaps = hatchedRanges(picture).map(([from, to]) => ({ from, to, fill: 'gap' as const }))
  const areas = [...gaps, ...ranges].filter(({ from, to }) => to > picture.from && from < picture.to)
  return {
    id: 'ground',
    type: 'line',
    silent: true,
    data: [],
    animation: false,
    markArea: {
      silent: true,
      animation: false,
      data: areas.map(({ from, to, fill }) => [
        { xAxis: Math.max(from, picture.from), itemStyle: fill === 'gap' ? gapHatch(p) : fill },
        { xAxis: Math.min(to, picture.to) },
      ]),
    },
    markLine: {
      silent: true,
      animation: false,
      symbol: 'none',
      label: { show: false },
      data: [
        ...levels.map(({ value, stroke }) => ({ yAxis: value, lineStyle: lineStyle(stroke) })),
        ...marks
          .filter(({ at }) => at >= picture.from && at <= picture.to)
          .map(({ at, stroke }) => ({ xAxis: at, lineStyle: lineStyle(stroke) })),
        ...segments.map(({ from, to, stroke }) => [
          { x: from[0], y: from[1], lineStyle: lineStyle(stroke) },
          { x: to[0], y: to[1] },
        ]),
      ],
    },
  }
}

/** Arrowhead that points to the left. */
const arrowHead = (color: string): object => ({
  symbol: 'triangle',
  symbolRotate: 90,
  symbolSize: [8, 7],
  symbolOffset: [7, 0],
  itemStyle: { color },
})

function textPoint(p: Palette, picture: Picture, words: Text) {
  const { at, value, text, side, color, isBold, arrow } = words
  const x = at === 'start' ? picture.from : at === 'end' ? picture.to : at
  const y = value === 'top' ? picture.ends.max : value === 'bottom' ? picture.ends.min : value
  return {
    value: [x, y],
    label: {
      show: true,
      position: side === 'middle' ? 'inside' : side,
      distance: 4,
      offset: [words.dx ?? 0, words.dy ?? 0],
      formatter: () => text,
      color: color ?? p['text-2'],
      fontSize: words.fontPx ?? 10,
      fontWeight: isBold === true ? 600 : 400,
      fontFamily: p['font-ui'],
      textBorderColor: p['bg-surface'],
      textBorderWidth: words.hasHalo === false ? 0 : 3,
    },
    ...(arrow === undefined ? {} : arrowHead(arrow)),
  }
}

export function chartOption(p: Palette, picture: Picture, size: Size): EChartsCoreOption {
  const { from, to, ends, layers = [], bars = [], over = [], texts = [] } = picture
  const margins = marginsOf(picture)
  const plotPx = Math.max(1, size.width - margins.left - margins.right)
  const placed = picture.placed?.(plotArea(picture, size))
  const hasGrid = picture.hasGrid ?? true
  const ticks = (picture.ticks ?? clockAxis)({ min: from, max: to }, plotPx)
  const tickTexts = new Map(ticks.map(({ at, text }) => [at, text]))
  const levels = picture.valueTicks ?? ticksWithin(ends, ends.step)
  const formatTick = picture.formatTick ?? formatDivided(picture.divisor)
  const label = { color: p['text-3'], fontSize: 10, fontFamily: p['font-ui'] }
  const edge = (to - from) * 0.03
  const series = [
    ground(p, picture, placed?.segments ?? []),
    ...layers.map(lineSeries),
    ...bars.map((each, i) => barSeries(each, i, picture, plotPx)),
    // On an axis of their own, bars are placed like those of the first axis instead of beside them.
    ...over.map((each, i) => ({ ...barSeries(each, i, picture, plotPx), id: `over ${i}`, xAxisIndex: 1, z: 3 })),
    {
      id: 'texts',
      type: 'scatter',
      z: 6,
      silent: true,
      symbol: 'circle',
      symbolSize: 0.01,
      animation: false,
      data: [...texts, ...(placed?.texts ?? [])].map((each) => textPoint(p, picture, each)),
    },
  ]
  const xEnds = {
    type: 'value',
    min: from,
    max: to > from ? to : from + 1,
    // Bars do not widen the axis: crosshair and zoom count on its ends.
    containShape: false,
  }
  const xAxis = {
    ...xEnds,
    axisLine: { show: hasGrid, onZero: false, lineStyle: { color: p.axis } },
    axisTick: {
      show: picture.hasTicks ?? true,
      customValues: ticks.map(({ at }) => at),
      length: 3,
      lineStyle: { color: p.axis },
    },
    axisLabel: {
      ...label,
      customValues: ticks.map(({ at }) => at),
      margin: picture.labelPx ?? 6,
      width: picture.isGrouped === true ? Math.max(8, plotPx / Math.max(1, ticks.length) - 4) : null,
      overflow: picture.isGrouped === true ? 'truncate' : null,
      alignMinLabel: ticks[0] !== undefined && ticks[0].at - from < edge ? 'left' : null,
      alignMaxLabel: ticks.length > 1 && to - (ticks.at(-1)?.at ?? from) < edge ? 'right' : null,
      formatter: (value: number) => tickTexts.get(value) ?? '',
    },
    splitLine: { show: false },
  }
  return {
    animation: false,
    stateAnimation: { duration: 0 },
    hoverLayerThreshold: Infinity,
    textStyle: { fontFamily: p['font-ui'], fontSize: 10 },
    grid: { ...margins, containLabel: false, outerBoundsMode: 'none' },
    xAxis: over.length > 0 ? [xAxis, { ...xEnds, show: false }] : xAxis,
    yAxis: {
      type: 'value',
      min: ends.min,
      max: ends.max > ends.min ? ends.max : ends.min + 1,
      axisLine: { show: false },
      // Split lines are drawn at the ticks, shown or not.
      axisTick: { show: false, customValues: levels },
      axisLabel: { ...label, show: levels.length > 0, customValues: levels, margin: 8, formatter: formatTick },
      splitLine: { show: hasGrid && levels.length > 0, lineStyle: { color: p.grid } },
    },
    series,
  }
}
