/** Axis of the time strip: places of instants, clock labels, and the picture of the load with its gaps. */
import { isKnown, runs } from '../widgets/canvas.ts'
import { clockShift, formatClock, formatDate } from '../format/units.ts'
import type { Palette } from '../theme/palette.ts'
import type { MarkGroup } from './mark-shape.ts'
import type { AxisTick, Picture, Range } from './picture.ts'
import type { Ends } from './plot.ts'
import { largest } from './scale.ts'

export const STRIP_PX = 55
/** y of the floor of the load, and of the lane of events, px. */
const FLOOR = 31
export const LANE = 38
/** Right end of the strip, kept free for the head of the cursor, px. */
const END_PX = 8
/** Largest distance between values, in usual steps, before the range between them counts as a gap. */
const GAP_STEPS = 3.5

export interface StripSpan {
  readonly width: number
  readonly fromMs: number
  readonly toMs: number
}
export interface StripFlow extends StripSpan {
  readonly t: readonly number[]
  readonly rpcs: readonly (number | null)[]
  readonly groups: readonly MarkGroup[]
}

/** x of an instant; the right 8 px stay free for the cursor's head. */
export const stripX = (picture: StripSpan, atMs: number): number =>
  ((atMs - picture.fromMs) / (picture.toMs - picture.fromMs || 1)) * (picture.width - END_PX)
/** The instant at x, within the strip. */
export const stripMs = (picture: StripSpan, x: number): number =>
  picture.fromMs + Math.max(0, Math.min(1, x / Math.max(1, picture.width - END_PX))) * (picture.toMs - picture.fromMs)

/** Movement from which the load is drawn again, px. */
const REDRAW_PX = 0.5
/**
 * True if the load and its axis look the same: over an hour a sample moves them by a fifth of a pixel. The newest value is
 * not compared: it is a mean that is not complete.
 */
export function looksTheSame(a: StripFlow, b: StripFlow): boolean {
  const perPx = (a.toMs - a.fromMs) / Math.max(1, a.width)
  return (
    a.width === b.width &&
    Math.abs(a.fromMs - b.fromMs) < REDRAW_PX * perPx &&
    Math.abs(a.toMs - b.toMs) < REDRAW_PX * perPx &&
    a.t.length === b.t.length &&
    a.t[0] === b.t[0] &&
    a.rpcs.every((value, i) => i === a.rpcs.length - 1 || value === b.rpcs[i])
  )
}

/** Clock labels: the step that gives four to eight of them. */
function labelStep(spanMs: number): number {
  const steps = [10_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000]
  return steps.find((step) => spanMs / step <= 7) ?? 14_400_000
}

/** Index ranges that can be joined by a line: without missing values and without gaps in time. */
export function joinedRuns(t: readonly number[], values: readonly (number | null)[]): [number, number][] {
  const steps = t.slice(1).map((at, i) => at - (t[i] ?? at))
  const usual = steps.toSorted((a, b) => a - b)[steps.length >> 1] ?? 0
  return runs(values).flatMap(([from, to]) => {
    const parts: [number, number][] = []
    let start = from
    for (let i = from; i < to; i++)
      if (usual > 0 && (steps[i] ?? 0) > GAP_STEPS * usual) {
        parts.push([start, i])
        start = i + 1
      }
    return [...parts, [start, to] as [number, number]]
  })
}

/** x of a group, clamped to the strip. */
export const markX = (picture: StripSpan, group: MarkGroup): number => Math.max(5, Math.min(picture.width - 6, group.x))

/** Count beside each group; a number that the next mark would cover is shown only in the tooltip. */
export function groupCounts(picture: StripFlow): string[] {
  return picture.groups.map((group, i) => {
    if (group.marks.length < 2) return ''
    const text = group.marks.length > 99 ? '99+' : String(group.marks.length)
    const next = picture.groups[i + 1]
    const widthPx = (next ? markX(picture, next) - 4 : picture.width) - markX(picture, group) - 5.5
    return text.length * 5.4 <= widthPx ? text : ''
  })
}

function stripTicks({ min, max }: Ends, plotPx: number): AxisTick[] {
  const step = labelStep(max - min)
  const shift = clockShift(min)
  const perPx = (max - min) / plotPx
  const ticks: AxisTick[] = []
  for (let at = Math.ceil((min + shift) / step) * step - shift; at <= max; at += step) {
    const isEdge = at - min < 26 * perPx || max - at < 22 * perPx
    const isDay = step >= 3_600_000 && (at + shift) % 86_400_000 === 0
    ticks.push({ at, text: isEdge ? '' : isDay ? formatDate(at) : formatClock(at, step < 60_000) })
  }
  return ticks
}

/** Gaps in values and in time. */
function gapRanges(t: readonly number[], rpcs: readonly (number | null)[]): Range[] {
  const joined = joinedRuns(t, rpcs)
  return joined.flatMap(([, to], i) => {
    const next = joined[i + 1]?.[0] ?? (to < t.length - 1 ? t.length - 1 : to)
    return next > to ? [{ from: t[to] ?? 0, to: t[next] ?? 0, fill: 'gap' as const }] : []
  })
}

export function stripPicture(p: Palette, { fromMs, toMs, t, rpcs }: StripFlow): Picture {
  const max = largest(rpcs, 1) * 1.12
  const layers = joinedRuns(t, rpcs).map(([from, to]) => ({
    t: t.slice(from, to + 1),
    values: rpcs.slice(from, to + 1).map((v) => (isKnown(v) ? v : null)),
    fill: { color: p.water, opacity: 0.22 },
    stroke: { color: p.water, width: 1.1 },
  }))
  return {
    from: fromMs,
    to: toMs,
    ends: { min: 0, max, step: max },
    valueTicks: [],
    ticks: stripTicks,
    labelPx: 18,
    hasTicks: false,
    margins: { left: 0, right: END_PX, top: 5, bottom: STRIP_PX - FLOOR },
    ranges: gapRanges(t, rpcs),
    layers,
  }
}
