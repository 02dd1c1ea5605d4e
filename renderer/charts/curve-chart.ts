/**
 * Picture of values over a quantity other than time: measured lines with symbols, published ones dashed. A logarithmic axis
 * is drawn over the logarithm of x, so that crosshair and zoom need no second scale.
 */
import type { Palette } from '../theme/palette.ts'
import { formatFigure, textColumn, type FactSeries } from './facts.ts'
import { inkOf, type Look } from './patterns.ts'
import type { AxisTick, Layer, Picture, ValueEnds } from './picture.ts'
import { ticksWithin, type Ends } from './plot.ts'
import { placeOf, PUBLISHED, PUBLISHED_DASH, valueAt, type Point } from './published.ts'
import { niceMax, tickStep } from './scale.ts'

export interface CurveLine {
  readonly name: string
  /** In the order of x. */
  readonly points: readonly Point[]
  readonly look: Look
}
export interface CurveChartProps {
  readonly label: string
  readonly unit: string
  /** Name and unit of x. */
  readonly across: string
  readonly isLog: boolean
  readonly lines: readonly CurveLine[]
  readonly published: readonly CurveLine[]
  /** x of the crosshair. */
  readonly at?: number | null | undefined
  /** Lines that the legend hides; `PUBLISHED` for all published ones. */
  readonly hidden?: ReadonlySet<string> | undefined
}

const SYMBOLS = ['circle', 'rect', 'triangle', 'diamond'] as const
/** Space beyond the first and the last value, as a share of the axis: symbols are drawn whole. */
const PAD = 0.03
/** More values of x than this have round ticks instead of one each. */
const TICKS_MOST = 12
/** Width of a character, and of the space between two ticks, px. */
const CHAR_PX = 6
const APART_PX = 10

const valueOf = (place: number, isLog: boolean): number => (isLog ? 10 ** place : place)

/** All x at which a line has a value, ascending. */
export function xsOf(lines: readonly CurveLine[]): number[] {
  return [...new Set(lines.flatMap(({ points }) => points.map(([x]) => x)))].toSorted((a, b) => a - b)
}

/** Nearest x to a place on the axis; null without values. */
export function nearestX(xs: readonly number[], place: number, isLog: boolean): number | null {
  let best: number | null = null
  for (const x of xs) {
    const isNearer = best === null || Math.abs(placeOf(x, isLog) - place) < Math.abs(placeOf(best, isLog) - place)
    if (isNearer) best = x
  }
  return best
}

/** Limits of the value axis: from zero, or from below if a value is negative. */
export function curveEnds(lines: readonly CurveLine[]): ValueEnds {
  const values = lines.flatMap(({ points }) => points.map(([, y]) => y))
  const high = Math.max(0, ...values)
  const low = Math.min(0, ...values)
  const step = tickStep(niceMax(Math.max(high, -low)))
  return { min: Math.floor(low / step) * step, max: Math.ceil(high / step) * step || step, step }
}

/** Ticks at the values of x, or at round values if there are many; those that would overlap are left out. */
export function curveTicks(xs: readonly number[], isLog: boolean, { min, max }: Ends, plotPx: number): AxisTick[] {
  const perPx = plotPx / (max - min || 1)
  const round = isLog
    ? ticksWithin({ min, max }, 1).map((place) => valueOf(place, true))
    : ticksWithin({ min, max }, tickStep(niceMax(max - min)))
  const wanted = xs.length > TICKS_MOST && round.length > 1 ? round : xs
  const ticks: AxisTick[] = []
  let end = -Infinity
  for (const x of wanted) {
    const at = placeOf(x, isLog)
    const text = Math.abs(x) < 1 ? String(Number(x.toFixed(3))) : formatFigure(x)
    const half = (text.length * CHAR_PX) / 2
    if (at < min || at > max || (at - min) * perPx - half < end) continue
    ticks.push({ at, text })
    end = (at - min) * perPx + half + APART_PX
  }
  return ticks
}

export function curvePicture(props: CurveChartProps, p: Palette): Picture {
  const { lines, published, isLog, hidden } = props
  const xs = xsOf([...lines, ...published])
  const first = placeOf(xs[0] ?? 0, isLog)
  const last = placeOf(xs.at(-1) ?? 1, isLog)
  const pad = PAD * (last - first || 1)
  const drawn = ({ name, points, look }: CurveLine): Layer => ({
    name,
    color: p[inkOf(look)],
    t: points.map(([x]) => placeOf(x, isLog)),
    values: points.map(([, y]) => y),
  })
  const measured = lines.flatMap((line, i): Layer[] => {
    if (hidden?.has(line.name) === true) return []
    const stroke = { color: p[inkOf(line.look)], width: 1.6 }
    return [{ ...drawn(line), stroke, symbol: SYMBOLS[i % SYMBOLS.length] }]
  })
  const claimed = published
    .filter(() => hidden?.has(PUBLISHED) !== true)
    .map((line) => ({ ...drawn(line), stroke: { color: p[inkOf(line.look)], width: 1.4, dash: PUBLISHED_DASH } }))
  return {
    from: first - pad,
    to: last + pad,
    ends: curveEnds([...lines, ...published]),
    ticks: (ends, plotPx) => curveTicks(xs, isLog, ends, plotPx),
    margins: { left: 46, right: 14, top: 8, bottom: 20 },
    layers: [...claimed, ...measured],
  }
}

/** Columns of the table of values, at every x of a line: measured lines, then published ones. */
export function curveFacts({ lines, published, isLog }: CurveChartProps): FactSeries[] {
  const xs = xsOf([...lines, ...published])
  const measured = lines.map(({ name, points }) => {
    const byX = new Map(points)
    return { name, values: xs.map((x) => byX.get(x) ?? null) }
  })
  const claimed = published.map((line) => {
    const values = xs.map((x) => valueAt(line.points, x, isLog))
    const texts = values.map((value) => (value === null ? 'not published' : formatFigure(value)))
    return textColumn(`${line.name}, published`, texts)
  })
  return [...measured, ...claimed]
}

const pointsText = (points: readonly Point[]): string =>
  points.map(([x, y]) => `${formatFigure(y)} at ${formatFigure(x)}`).join(', ')

/** Describes a curve: the first and the last value of each line, and all published values. */
export function curveWords({ label, unit, across, isLog, lines, published }: CurveChartProps): string {
  const measured = lines.map(({ name, points }) => {
    if (points.length === 0) return `${name} not measured`
    const ends = points.filter((_, i) => i === 0 || i === points.length - 1)
    const claimed = published.find((line) => line.name === name)
    const beside = claimed === undefined ? '' : ` (published ${pointsText(claimed.points)})`
    return `${name} ${pointsText(ends)}${beside}`
  })
  const others = published.filter(({ name }) => !lines.some((line) => line.name === name))
  const rest = others.map(({ name, points }) => `published ${name} ${pointsText(points)}`)
  return `${label}, ${unit} over ${across}${isLog ? ' (logarithmic)' : ''}. ${[...measured, ...rest].join('; ')}.`
}
