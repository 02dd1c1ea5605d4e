/** Time strip on a canvas: flow of RPC/s, gaps, window, groups of event marks, clock labels, pins and cursor. */
import { hatchTile, runs } from '../widgets/canvas.ts'
import { largest } from './scale.ts'
import { clockShift, formatClock, formatDate } from '../format/units.ts'
import type { Palette } from '../theme/palette.ts'
import { markShapes, type MarkGroup } from './mark-shape.ts'

const FLOOR = 31
export const LANE = 38
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
export interface StripCursor {
  readonly windowMs: number
  readonly cursorMs: number
  /** Instant A of a comparison; the cursor is B. */
  readonly aMs: number | null
  /** Dragged range, px. */
  readonly drag: readonly [number, number] | null
}

/** x of an instant; the right 8 px stay free for the cursor's head. */
export const stripX = (picture: StripSpan, atMs: number): number =>
  ((atMs - picture.fromMs) / (picture.toMs - picture.fromMs || 1)) * (picture.width - 8)
/** The instant at x, within the strip. */
export const stripMs = (picture: StripSpan, x: number): number =>
  picture.fromMs + Math.max(0, Math.min(1, x / Math.max(1, picture.width - 8))) * (picture.toMs - picture.fromMs)

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

/** Draws the parts that change with a sample: flow, gaps, marks, labels. */
export function drawFlow(c: CanvasRenderingContext2D, p: Palette, picture: StripFlow): void {
  const { t, rpcs, width } = picture
  const x = (atMs: number): number => stripX(picture, atMs)
  const top = largest(rpcs, 1) * 1.12
  const y = (v: number): number => FLOOR - (v / top) * 26
  const joined = joinedRuns(t, rpcs)

  const image = hatchTile(p['gap-hatch'])
  c.fillStyle = (image && c.createPattern(image, 'repeat')) ?? p['gap-hatch']
  joined.forEach(([, to], i) => {
    const next = joined[i + 1]?.[0] ?? (to < t.length - 1 ? t.length - 1 : to)
    if (next > to) c.fillRect(x(t[to] ?? 0), 4, x(t[next] ?? 0) - x(t[to] ?? 0), FLOOR - 4)
  })
  c.fillStyle = c.strokeStyle = p.water
  c.lineWidth = 1.1
  for (const [from, to] of joined) {
    const line = new Path2D()
    for (let i = from; i <= to; i++) line.lineTo(x(t[i] ?? 0), y(rpcs[i] ?? 0))
    c.stroke(line)
    line.lineTo(x(t[to] ?? 0), FLOOR)
    line.lineTo(x(t[from] ?? 0), FLOOR)
    c.globalAlpha = 0.22
    c.fill(line)
    c.globalAlpha = 1
  }
  c.fillStyle = p.grid
  c.fillRect(0, FLOOR, width, 1)
  c.fillRect(0, 44, width, 1)

  c.font = `600 9px ${p['font-ui']}`
  c.textAlign = 'left'
  picture.groups.forEach((group, i) => {
    const shape = markShapes[group.kind]
    c.save()
    c.translate(markX(picture, group), LANE)
    c.fillStyle = c.strokeStyle = p[shape.ink]
    c.lineWidth = 1.6
    if (shape.isStroke) c.stroke(new Path2D(shape.path))
    else c.fill(new Path2D(shape.path))
    // A number that the next mark would cover is shown only in the tooltip.
    const words = group.marks.length > 99 ? '99+' : String(group.marks.length)
    const next = picture.groups[i + 1]
    const room = (next ? markX(picture, next) - 4 : width) - markX(picture, group) - 5.5
    if (group.marks.length > 1 && words.length * 5.4 <= room) {
      c.fillStyle = p['text-3']
      c.fillText(words, 5.5, 3)
    }
    c.restore()
  })
  const step = labelStep(picture.toMs - picture.fromMs)
  c.fillStyle = p['text-3']
  c.font = `10px ${p['font-ui']}`
  c.textAlign = 'center'
  const shift = clockShift(picture.fromMs)
  for (let at = Math.ceil((picture.fromMs + shift) / step) * step - shift; at <= picture.toMs; at += step) {
    const px = x(at)
    const words = step >= 3_600_000 && (at + shift) % 86_400_000 === 0 ? formatDate(at) : formatClock(at, step < 60_000)
    if (px > 26 && px < width - 30) c.fillText(words, px, 53.5)
  }
}

/** x of a group, clamped to the strip. */
export const markX = (picture: StripSpan, group: MarkGroup): number => Math.max(5, Math.min(picture.width - 6, group.x))

function drawPin(
  c: CanvasRenderingContext2D,
  ink: string,
  on: string,
  letter: string,
  x: number,
  height: number,
): void {
  c.fillStyle = ink
  c.fillRect(x - 0.75, 0, 1.5, height)
  c.beginPath()
  c.roundRect(x - 7, 1, 14, 12, 2)
  c.fill()
  c.fillStyle = on
  c.textAlign = 'center'
  c.fillText(letter, x, 10.5)
}

/** Draws the parts that move with the cursor: window, pins, cursor, dragged range. */
export function drawCursor(
  c: CanvasRenderingContext2D,
  p: Palette,
  span: StripSpan,
  { windowMs, cursorMs, aMs, drag }: StripCursor,
  height: number,
): void {
  const x = (atMs: number): number => stripX(span, atMs)
  const cursor = x(cursorMs)
  const start = x(cursorMs - windowMs)
  c.fillStyle = p.accent
  c.globalAlpha = 0.1
  c.fillRect(start, 0, cursor - start, height)
  c.globalAlpha = 0.55
  c.fillRect(Math.round(start), 0, 1, height)
  if (drag) {
    const from = Math.min(...drag)
    const to = Math.max(...drag)
    c.globalAlpha = 0.2
    c.fillRect(from, 0, to - from, height)
    c.globalAlpha = 1
    c.fillRect(from, 0, 1, height)
    c.fillRect(to, 0, 1, height)
  }
  c.globalAlpha = 1
  c.font = `700 9px ${p['font-ui']}`
  if (aMs !== null && x(aMs) >= -7 && x(aMs) <= span.width)
    drawPin(c, p.note, p['bg-chrome'], 'A', Math.max(7, x(aMs)), height)
  const head = Math.min(span.width - 5, cursor)
  if (aMs !== null) {
    drawPin(c, p['text-1'], p['bg-chrome'], 'B', Math.min(span.width - 8, Math.max(7, head)), height)
    return
  }
  c.fillStyle = p['text-1']
  c.fillRect(head - 0.75, 0, 1.5, height)
  c.fill(new Path2D(`M${head - 5} 0h10v4l-5 5-5-5z`))
}
