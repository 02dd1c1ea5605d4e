/** Picture of a frozen chart: value axis, placement of mark labels, gaps, and its text alternative. */
import type { Cell } from '#core/api/incidents.ts'
import { clockTicks } from '../../../charts/clock-ticks.ts'
import type { Picture, Placed, PlotArea, Text } from '../../../charts/picture.ts'
import { nearest, niceMax, tickStep } from '../../../charts/scale.ts'
import { gapSpans, type Ends } from '../../../charts/plot.ts'
import { inkToken, type Palette } from '../../../theme/palette.ts'
import { plainText } from '../../../format/plain-text.ts'
import { formatClock, formatNumber } from '../../../format/units.ts'

export type ChartOf = Extract<Cell, { kind: 'chart' }>

/** Value axis: from zero to a round number above every value and the limit; below zero only if a value is. */
export function valueEnds({ series, limit }: Pick<ChartOf, 'series' | 'limit'>): Ends & { step: number } {
  let low = 0
  let high = limit?.value ?? 0
  for (const { values } of series)
    for (const v of values) {
      if (v === null) continue
      if (v > high) high = v
      if (v < low) low = v
    }
  const up = high > 0 ? niceMax(high) : 0
  const down = low < 0 ? niceMax(-low) : 0
  const step = tickStep(Math.max(up, down) || 1)
  return {
    min: down > 0 ? -Math.ceil(down / step - 1e-9) * step : 0,
    max: up > 0 ? Math.ceil(up / step - 1e-9) * step : down > 0 ? 0 : 1,
    step,
  }
}

/** Decimals of seconds needed to distinguish the instants of a chart. */
export const clockDecimals = (t: readonly number[]): number =>
  t.length > 1 && ((t.at(-1) ?? 0) - (t[0] ?? 0)) / (t.length - 1) < 1000 ? 1 : 0

/** Formats a value with decimals by its size. */
export const valueText = (value: number | null | undefined): string => {
  const size = Math.abs(value ?? 0)
  return formatNumber(value, size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : 2)
}

export interface PlacedMark {
  readonly atMs: number
  readonly x: number
  readonly caption: string
  readonly title: string
  readonly level: string
  /** Row of its label above the plot, from the top; null: drawn as a tick only. */
  readonly lane: number | null
  readonly isLeft: boolean
}
const CHAR_PX = 5.4
const LABEL_CHARS = 30
const LANES = 3
const AIR_PX = 8
/** Limits so that labels do not hide the curves: labelled marks, distance of their lines, marks per subject. */
const LABELS_MOST = 8
const APART_PX = 24
const SUBJECT_MOST = 2
const WEIGHT: Readonly<Record<string, number>> = { bad: 0, watch: 1, ok: 2, unknown: 3, idle: 4 }
const shorten = (text: string): string => (text.length > LABEL_CHARS ? `${text.slice(0, LABEL_CHARS - 1)}\u2026` : text)

/**
 * Places mark labels in up to three rows above the plot, without overlap: the worst first, each in the first row that is free to the
 * right of its line, else to the left. Marks without room, or beyond the limits, become ticks; their text is in the
 * tooltip and in the table.
 */
export function placeMarks(
  marks: ChartOf['marks'],
  x: (atMs: number) => number,
  left: number,
  right: number,
): PlacedMark[] {
  const taken: { from: number; to: number }[][] = Array.from({ length: LANES }, () => [])
  const labelled: number[] = []
  const ofSubject = new Map<string, number>()
  return [...marks]
    .sort((a, b) => (WEIGHT[a.level] ?? 5) - (WEIGHT[b.level] ?? 5) || a.atMs - b.atMs)
    .map((mark) => {
      const at = x(mark.atMs)
      const title = plainText(mark.text)
      const caption = shorten(title)
      const tick = { atMs: mark.atMs, x: at, caption, title, level: mark.level, lane: null, isLeft: false }
      const subject = title.includes(': ') ? title.slice(0, title.indexOf(': ')) : title
      const alike = ofSubject.get(subject) ?? 0
      if (alike >= SUBJECT_MOST) return tick
      if (labelled.length >= LABELS_MOST || labelled.some((other) => Math.abs(other - at) < APART_PX)) return tick
      const wide = caption.length * CHAR_PX + AIR_PX
      const sides = [
        { from: at, to: at + wide, isLeft: false },
        { from: at - wide, to: at, isLeft: true },
      ].filter(({ from, to }) => from >= left && to <= right)
      for (let lane = 0; lane < LANES; lane++)
        for (const { from, to, isLeft } of sides) {
          if (taken[lane]?.some((other) => from < other.to && to > other.from)) continue
          taken[lane]?.push({ from, to })
          labelled.push(at)
          ofSubject.set(subject, alike + 1)
          return { ...tick, lane, isLeft }
        }
      return tick
    })
}

/** Ranges of the chart without a value of any series, including before the first and after the last value. */
export function gapsOf({ t, series, of }: Pick<ChartOf, 't' | 'series' | 'of'>): [from: number, to: number][] {
  const known = t.map((_, i) => (series.some(({ values }) => (values[i] ?? null) !== null) ? 1 : null))
  const first = t[known.indexOf(1)]
  const last = t[known.lastIndexOf(1)]
  if (first === undefined || last === undefined) return [[of.fromMs, of.toMs]]
  const gaps = gapSpans(t, known).filter(([from]) => from >= first)
  // Up to two steps at either end are not a gap: the range need not begin at an instant of the chart.
  const step = t.length > 1 ? ((t.at(-1) ?? 0) - (t[0] ?? 0)) / (t.length - 1) : 0
  if (first - of.fromMs > 2 * step) gaps.unshift([of.fromMs, first])
  if (of.toMs - last > 2 * step) gaps.push([last, of.toMs])
  return gaps
}

const LANE_PX = 12
const TICK_PX = 7
const TOP_PX = 10

/** Height of the rows of mark labels above the plot, px: they do not cover its lines. */
export const labelRowsPx = ({ marks }: Pick<ChartOf, 'marks'>): number => (marks.length > 0 ? LANES * LANE_PX : 0)
/** Shift of a label from the top of the plot, px. */
const labelShift = (lane: number): number => (lane - LANES) * LANE_PX + 2

const markColor = (level: string, p: Palette): string =>
  level === 'ok' || level === 'watch' || level === 'bad' ? p[level] : p['text-3']

/** Lines of the marks with their labels; a mark without a label is a short tick at the floor. */
function placed(cell: ChartOf, p: Palette, area: PlotArea): Placed {
  const within = cell.marks.filter(({ atMs }) => area.x(atMs) >= area.left && area.x(atMs) <= area.right)
  const marks = placeMarks(within, area.x, area.left, area.right)
  return {
    segments: marks.map(({ x, lane, level }) => {
      const color = markColor(level, p)
      return {
        from: [x, lane === null ? area.floor - TICK_PX : area.top + labelShift(lane) - 4],
        to: [x, area.floor],
        stroke: lane === null ? { color, width: 2 } : { color, width: 1, dash: [3, 3] },
      }
    }),
    texts: marks.flatMap(({ atMs, lane, isLeft, caption }): Text[] =>
      lane === null
        ? []
        : [{ at: atMs, value: 'top', side: isLeft ? 'left' : 'right', dy: labelShift(lane), text: caption }],
    ),
  }
}
/** @param hidden  indices of the series that the legend hides. */
export function cellPicture(cell: ChartOf, p: Palette, hidden?: ReadonlySet<string>): Picture {
  const { t, series, limit, marks, of } = cell
  const decimals = clockDecimals(t)
  return {
    from: of.fromMs,
    to: of.toMs,
    ends: valueEnds(cell),
    margins: { left: 42, right: 14, top: TOP_PX + labelRowsPx(cell), bottom: 20 },
    ticks: (axis, plotPx) => clockTicks(axis, Math.max(2, plotPx / 84)),
    formatValue: valueText,
    formatAt: (at) => formatClock(t[nearest(t, at)] ?? at, true, decimals),
    ranges: gapsOf(cell).map(([from, to]) => ({ from, to, fill: 'gap' })),
    layers: series.flatMap(({ label, ink, area, values }, i) => {
      if (hidden?.has(String(i)) === true) return []
      const color = p[inkToken(ink)]
      const fill = area ? { color, opacity: 0.16 } : undefined
      return [{ name: plainText(label.text), color, t, values, fill, stroke: { color, width: 1.4 } }]
    }),
    levels: limit ? [{ value: limit.value, stroke: { color: p['text-3'], width: 1, dash: [5, 3] } }] : [],
    texts: limit ? [{ at: 'end', value: limit.value, side: 'left', dy: -8, text: plainText(limit.label) }] : [],
    placed: (area) => placed(cell, p, area),
    notes: marks.map(({ atMs, text, level }) => ({ at: atMs, text: plainText(text), color: markColor(level, p) })),
  }
}

/** Text alternative of the chart: title, range of each line, limit, number of marks. */
export function chartSentence(cell: ChartOf): string {
  const lines = cell.series.slice(0, 12).map(({ label, values }) => {
    const known = values.filter((v) => v !== null)
    const name = plainText(label.text)
    if (known.length === 0) return `${name}: not measured`
    const [low, high] = known.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity])
    return `${name} from ${valueText(low)} to ${valueText(high)} ${plainText(cell.unit)}`.trim()
  })
  const limit = cell.limit ? [`limit ${plainText(cell.limit.label)}`] : []
  const marks = cell.marks.length > 0 ? [`${cell.marks.length} marks`] : []
  return [plainText(cell.title), ...lines, ...limit, ...marks].join('; ')
}
