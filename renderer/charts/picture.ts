/**
 * Picture of a chart over one horizontal axis, in the units of its values: layers (lines and areas), bars, ranges,
 * levels, marks and texts. Charts describe themselves in it; `option.ts` turns it into an ECharts option.
 */
import { hatchTile, isKnown } from '../widgets/canvas.ts'
import { formatClock, formatTick } from '../format/units.ts'
import { clockStep } from './clock-ticks.ts'
import { plotOf, ticksWithin, type Ends, type Plot } from './plot.ts'

export type Values = readonly (number | null)[]

export interface Margins {
  readonly left?: number
  readonly right?: number
  readonly top?: number
  readonly bottom?: number
}
/** Limits and tick step of the value axis. */
export interface ValueEnds {
  readonly min: number
  readonly max: number
  readonly step: number
}
export interface Stroke {
  readonly color: string
  readonly width: number
  readonly opacity?: number
  readonly dash?: readonly number[]
}
/** Repeating image of an area, as ECharts takes it. */
export interface PatternImage {
  readonly image: HTMLCanvasElement
  readonly repeat: 'repeat'
  /** Size of the tile, px; an SVG needs it. */
  readonly imageWidth: number
  readonly imageHeight: number
}
/** Pattern over a fill, as ECharts takes it: dashes of a symbol along x and y, turned clockwise. */
export interface Decal {
  readonly symbol: 'rect' | 'circle'
  readonly color: string
  readonly dashArrayX: readonly number[]
  readonly dashArrayY: readonly number[]
  readonly rotation: number
}
/** Size of a chart, px. */
export interface Size {
  readonly width: number
  readonly height: number
}
/** One series: its area, then its line. */
export interface Layer {
  /** Name and color in the tooltip; a layer without a name is not listed there. */
  readonly name?: string
  readonly color?: string
  readonly t: readonly number[]
  readonly values: Values
  /** Layers of one stack lie on each other, first at the bottom; they share `t`. A gap adds nothing. */
  readonly stack?: string
  readonly fill?: { readonly color: string | PatternImage; readonly opacity: number } | undefined
  readonly decal?: Decal | undefined
  readonly stroke?: Stroke | undefined
  /** A value holds until the next one. */
  readonly stepped?: boolean
  /** Symbol at every value, in the color of the line. */
  readonly symbol?: 'circle' | 'rect' | 'triangle' | 'diamond' | undefined
}
/** Bars up and down from zero, centered on their instants. */
export interface Bars {
  readonly name?: string
  readonly t: readonly number[]
  readonly values: Values
  readonly color: string
  readonly opacity?: number
  readonly decal?: Decal | undefined
  /** Text at the end of each bar. */
  readonly label?: BarLabel | undefined
  /** Bars of an outline are hollow, with a line of this color around them. */
  readonly outline?: string
}
export interface BarLabel {
  /** @param i  index of the instant; null: no label. */
  readonly format: (value: number, i: number) => string | null
  readonly color: string
  readonly isVertical: boolean
}
/** Range of the horizontal axis behind the layers. */
export interface Range {
  readonly from: number
  readonly to: number
  readonly fill: 'gap' | { readonly color: string; readonly opacity: number }
}
/** Level of the value axis, across the plot. */
export interface Level {
  readonly value: number
  readonly stroke: Stroke
}
/** Instant of the horizontal axis, down the plot. */
export interface Mark {
  readonly at: number
  readonly stroke: Stroke
}
/** Text beside a point, with a halo of the background. */
export interface Text {
  readonly at: number | 'start' | 'end'
  readonly value: number | 'top' | 'bottom'
  readonly text: string
  /** Side of the point on which the text is. */
  readonly side: 'left' | 'right' | 'middle'
  /** Shift right and down, px. */
  readonly dx?: number
  readonly dy?: number
  readonly color?: string
  readonly isBold?: boolean
  /** Font size, px; 10 by default. */
  readonly fontPx?: number
  readonly hasHalo?: boolean
  /** Color of an arrowhead between the point and a text at its right. */
  readonly arrow?: string
}
/** Straight line between two places of the chart, px from its top left corner. */
export interface Segment {
  readonly from: readonly [x: number, y: number]
  readonly to: readonly [x: number, y: number]
  readonly stroke: Stroke
}
/** Parts of a picture that depend on the size of the chart or on the zoomed range. */
export interface Placed {
  readonly texts?: readonly Text[]
  readonly segments?: readonly Segment[]
}
/** Rectangle of the plot, and places of values in it, px. */
export interface PlotArea extends Plot {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly floor: number
}
/** Event that the tooltip names while the pointer is near. */
export interface Note {
  readonly at: number
  readonly text: string
  readonly color: string
}
export interface AxisTick {
  readonly at: number
  readonly text: string
}
export interface Picture {
  readonly from: number
  readonly to: number
  readonly ends: ValueEnds
  /** Ticks of the horizontal axis; those of the clock by default. */
  readonly ticks?: (ends: Ends, plotPx: number) => readonly AxisTick[]
  /** False leaves out the tick marks of the horizontal axis. */
  readonly hasTicks?: boolean
  /** Distance of the labels of the horizontal axis from it, px. */
  readonly labelPx?: number
  /** Ticks of the value axis; multiples of the step by default. */
  readonly valueTicks?: readonly number[]
  /** Divides the labels of the value axis. */
  readonly divisor?: number
  readonly formatTick?: (value: number) => string
  /** Formats a value of the tooltip, and the instant at its head. */
  readonly formatValue?: (value: number) => string
  readonly formatAt?: (at: number) => string
  readonly margins?: Margins | undefined
  /** Series whose gaps are hatched. */
  readonly gapsOf?: { readonly t: readonly number[]; readonly values: Values } | undefined
  readonly layers?: readonly Layer[]
  readonly bars?: readonly Bars[]
  /** True if bars at one instant are side by side; axis labels are then no wider than their distance. */
  readonly isGrouped?: boolean
  /** Bars over `bars`, each at the place of the one with the same index. */
  readonly over?: readonly Bars[]
  readonly ranges?: readonly Range[]
  readonly levels?: readonly Level[]
  readonly marks?: readonly Mark[]
  readonly texts?: readonly Text[]
  readonly placed?: (area: PlotArea) => Placed
  readonly notes?: readonly Note[]
  /** False leaves out the lines of both axes. */
  readonly hasGrid?: boolean
}

/** Area hatched in a color; the plain color where there is no canvas. */
export function hatchFill(color: string): string | PatternImage {
  const image = hatchTile(color)
  return image === null ? color : { image, repeat: 'repeat', imageWidth: image.width, imageHeight: image.height }
}

export const MARGINS = { left: 44, right: 14, top: 8, bottom: 20 } as const
export const marginsOf = ({ margins }: Picture): Required<Margins> => ({
  left: margins?.left ?? MARGINS.left,
  right: margins?.right ?? MARGINS.right,
  top: margins?.top ?? MARGINS.top,
  bottom: margins?.bottom ?? MARGINS.bottom,
})

export function plotArea(picture: Picture, { width, height }: Size): PlotArea {
  const margins = marginsOf(picture)
  return {
    ...plotOf({ width, height, margins }, { min: picture.from, max: picture.to }, picture.ends),
    left: margins.left,
    right: Math.max(margins.left, width - margins.right),
    top: margins.top,
    floor: height - margins.bottom,
  }
}

/** Width of a clock label, px. */
const LABEL_PX = 58
/** Labels of the clock; a tick at the very edge has none, which would be clipped there. */
export function clockAxis({ min, max }: Ends, plotPx: number): AxisTick[] {
  const isSmall = plotPx < 260
  const step = clockStep({ min, max }, Math.min(isSmall ? 4 : 7, Math.max(1, plotPx / LABEL_PX)))
  const edge = (max - min) * (isSmall ? 0.09 : 0.035)
  return ticksWithin({ min, max }, step).map((at) => ({
    at,
    text: at - min < edge || max - at < edge ? '' : formatClock(at, step % 60_000 !== 0),
  }))
}
export const formatDivided =
  (divisor = 1) =>
  (value: number): string =>
    formatTick(value / divisor)

/**
 * Sum of a stack at every instant, null if unknown: nothing was measured then, or a part is missing that was measured
 * before and after. A part that has not started, or has ended, does not make the sum unknown.
 */
export function wholeSums(series: readonly Values[]): (number | null)[] {
  const lives = series.map((values) => [values.findIndex(isKnown), values.findLastIndex(isKnown)] as const)
  const length = Math.max(0, ...series.map((values) => values.length))
  return Array.from({ length }, (_, i) => {
    let sum: number | null = null
    for (const [s, values] of series.entries()) {
      const value = values[i]
      const [first, last] = lives[s] ?? [0, -1]
      if (isKnown(value)) sum = (sum ?? 0) + value
      else if (first >= 0 && i > first && i < last) return null
    }
    return sum
  })
}
