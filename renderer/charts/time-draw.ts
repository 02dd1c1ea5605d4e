/**
 * Chart over time on a canvas: background, hatched gaps, layers of areas, lines and bars. It is redrawn completely on
 * every change: a cursor step moves every point, and ten series of a few hundred points take a millisecond or two.
 */
import { hatchTile, isKnown, runs } from '../widgets/canvas.ts'
import { formatClock, formatTick } from '../format/units.ts'
import type { Palette } from '../theme/palette.ts'
import { clockStep } from './clock-ticks.ts'
import type { Margins, ValueEnds } from './parts.ts'
import { gapSpans, plotOf, ticksWithin, type Plot, type PlotBox } from './plot.ts'

type Values = readonly (number | null)[]

export interface Stroke {
  readonly ink: string
  readonly width: number
  readonly opacity?: number
  readonly dash?: readonly number[]
}
/** One series: its area first, then its line. */
export interface Layer {
  readonly t: readonly number[]
  readonly values: Values
  /** Base of a stacked layer, per value; zero if not set. */
  readonly under?: Float64Array
  readonly fill?: { readonly ink: string; readonly opacity: number; readonly isHatched?: boolean }
  readonly stroke?: Stroke | undefined
  /** A value holds until the next one. */
  readonly stepped?: boolean
}
/** Bars up and down from zero. */
export interface Bars {
  readonly t: readonly number[]
  readonly values: Values
  readonly ink: string
}
export interface TimePicture {
  readonly from: number
  readonly to: number
  readonly ends: ValueEnds
  /** Divides the axis labels. */
  readonly divisor?: number
  readonly margins?: Margins | undefined
  /** Series whose gaps are hatched. */
  readonly gapsOf?: { readonly t: readonly number[]; readonly values: Values } | undefined
  readonly layers?: readonly Layer[]
  readonly bars?: readonly Bars[]
}

export const boxOf = ({ margins }: TimePicture, width: number, height: number): PlotBox => ({
  width,
  height,
  margins: { left: 44, right: 14, top: 8, bottom: 20, ...margins },
})
export const timePlot = (picture: TimePicture, box: PlotBox): Plot =>
  plotOf(box, { min: picture.from, max: picture.to }, picture.ends)

/** Sums of the series below each one, and of all; a gap adds nothing. */
export function stacked(series: readonly Values[]): { under: Float64Array[]; top: Float64Array } {
  const top = new Float64Array(Math.max(0, ...series.map(({ length }) => length)))
  const under = series.map((values) => {
    const before = top.slice()
    values.forEach((v, i) => {
      if (isKnown(v)) top[i] = (top[i] ?? 0) + v
    })
    return before
  })
  return { under, top }
}

/**
 * Sum of a stack at every instant, null if unknown: nothing was measured then, or a part is missing that was measured
 * before and after. A part that has not started, or has ended, does not make the sum unknown.
 */
export function wholeSums(series: readonly Values[]): (number | null)[] {
  const { top } = stacked(series)
  const lives = series.map((values) => [values.findIndex(isKnown), values.findLastIndex(isKnown)] as const)
  return [...top].map((sum, i) => {
    const isMissing = series.some((values, s) => {
      const [first, last] = lives[s] ?? [0, -1]
      return first >= 0 && i > first && i < last && !isKnown(values[i])
    })
    return isMissing || !series.some((values) => isKnown(values[i])) ? null : sum
  })
}

const crisp = (px: number): number => Math.round(px) + 0.5

/** Width of a clock label, px. */
const WORDS_PX = 58

function drawGround(c: CanvasRenderingContext2D, p: Palette, picture: TimePicture, box: PlotBox, plot: Plot): void {
  const { from, to, ends, divisor = 1 } = picture
  const { left, right, bottom } = box.margins
  const end = box.width - right
  const floor = box.height - bottom
  const lines = (ink: string, draw: () => void): void => {
    c.strokeStyle = ink
    c.beginPath()
    draw()
    c.stroke()
  }
  const levels = ticksWithin(ends, ends.step)
  c.lineWidth = 1
  lines(p.grid, () => {
    for (const level of levels) {
      c.moveTo(left, crisp(plot.y(level)))
      c.lineTo(end, crisp(plot.y(level)))
    }
  })
  const isNarrow = right < 10
  const step = clockStep({ min: from, max: to }, Math.min(isNarrow ? 4 : 7, Math.max(1, (end - left) / WORDS_PX)))
  const instants = ticksWithin({ min: from, max: to }, step)
  lines(p.axis, () => {
    c.moveTo(left, crisp(floor))
    c.lineTo(end, crisp(floor))
    for (const at of instants) {
      c.moveTo(crisp(plot.x(at)), floor)
      c.lineTo(crisp(plot.x(at)), floor + 3.5)
    }
  })
  c.fillStyle = p['text-3']
  c.font = `10px ${p['font-ui']}`
  c.textBaseline = 'middle'
  c.textAlign = 'right'
  for (const level of levels) c.fillText(formatTick(level / divisor), left - 8, plot.y(level))
  c.textBaseline = 'top'
  c.textAlign = 'center'
  // A label at the very edge would be clipped: the tick stays, its label is omitted.
  const edge = (to - from) * (isNarrow ? 0.09 : 0.035)
  for (const at of instants)
    if (at - from >= edge && to - at >= edge) c.fillText(formatClock(at, at % 60_000 !== 0), plot.x(at), floor + 6)
}

function drawGaps(c: CanvasRenderingContext2D, p: Palette, { gapsOf }: TimePicture, box: PlotBox, plot: Plot): void {
  if (!gapsOf) return
  const { t, values } = gapsOf
  const spans = gapSpans(t, values)
  // Missing values at the end of the window are a gap, too.
  const known = values.findLastIndex(isKnown)
  if (known < t.length - 1) spans.push([t[Math.max(0, known)] ?? 0, t.at(-1) ?? 0])
  if (spans.length === 0) return
  const { top, bottom } = box.margins
  const image = hatchTile(p['gap-hatch'])
  c.fillStyle = (image && c.createPattern(image, 'repeat')) ?? p['gap-hatch']
  for (const [from, to] of spans)
    c.fillRect(plot.x(from), top, plot.x(to) - plot.x(from), Math.max(0, box.height - top - bottom))
}

function drawLayer(c: CanvasRenderingContext2D, { t, values, under, fill, stroke, stepped }: Layer, plot: Plot): void {
  const levelOf = (i: number): number => plot.y((values[i] ?? 0) + (under?.[i] ?? 0))
  const area = new Path2D()
  const line = new Path2D()
  for (const [from, to] of runs(values)) {
    for (let i = from; i <= to; i++) {
      const x = plot.x(t[i] ?? 0)
      const y = levelOf(i)
      if (i === from) {
        line.moveTo(x, y)
        area.moveTo(x, y)
        continue
      }
      if (stepped) {
        line.lineTo(x, levelOf(i - 1))
        area.lineTo(x, levelOf(i - 1))
      }
      line.lineTo(x, y)
      area.lineTo(x, y)
    }
    // A single value between gaps is a short stroke.
    if (from === to) line.lineTo(plot.x(t[from] ?? 0) + 0.5, levelOf(from))
    if (!fill || from === to) continue
    if (under) for (let i = to; i >= from; i--) area.lineTo(plot.x(t[i] ?? 0), plot.y(under[i] ?? 0))
    else {
      area.lineTo(plot.x(t[to] ?? 0), plot.y(0))
      area.lineTo(plot.x(t[from] ?? 0), plot.y(0))
    }
    area.closePath()
  }
  if (fill && fill.opacity > 0) {
    const image = fill.isHatched ? hatchTile(fill.ink) : null
    c.fillStyle = (image && c.createPattern(image, 'repeat')) ?? fill.ink
    c.globalAlpha = fill.opacity
    c.fill(area)
  }
  if (stroke && stroke.width > 0) {
    c.strokeStyle = stroke.ink
    c.lineWidth = stroke.width
    c.globalAlpha = stroke.opacity ?? 1
    c.setLineDash([...(stroke.dash ?? [])])
    c.stroke(line)
    c.setLineDash([])
  }
  c.globalAlpha = 1
}

function drawBars(c: CanvasRenderingContext2D, { t, values, ink }: Bars, plot: Plot): void {
  const apart = plot.x(t[1] ?? 0) - plot.x(t[0] ?? 0)
  const width = t.length > 40 ? Math.max(1, apart * 0.7) : 6
  c.fillStyle = ink
  values.forEach((v, i) => {
    if (isKnown(v) && v !== 0) c.fillRect(plot.x(t[i] ?? 0) - width / 2, plot.y(v), width, plot.y(0) - plot.y(v))
  })
}

export function drawTimePicture(c: CanvasRenderingContext2D, p: Palette, picture: TimePicture, box: PlotBox): void {
  const plot = timePlot(picture, box)
  const { left, right, top, bottom } = box.margins
  drawGround(c, p, picture, box, plot)
  c.save()
  c.beginPath()
  c.rect(left, top - 1, Math.max(0, box.width - left - right), Math.max(0, box.height - top - bottom + 2))
  c.clip()
  c.lineJoin = 'bevel'
  drawGaps(c, p, picture, box, plot)
  for (const layer of picture.layers ?? []) drawLayer(c, layer, plot)
  for (const bars of picture.bars ?? []) drawBars(c, bars, plot)
  c.restore()
  if (!picture.bars) return
  c.strokeStyle = p['text-1']
  c.lineWidth = 1.5
  c.beginPath()
  c.moveTo(left, plot.y(0))
  c.lineTo(box.width - right, plot.y(0))
  c.stroke()
}
