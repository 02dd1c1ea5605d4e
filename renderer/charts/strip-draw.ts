/** The time strip on a canvas: flow of RPC/s, gaps, window, event marks, clock labels, cursor. */
import type { Mark } from '#core/api/frames.ts'
import { hatchTile, runs } from '../widgets/canvas.ts'
import { formatClock } from '../widgets/units.ts'
import type { Palette, Token } from '../theme/palette.ts'

const FLOOR = 31
const LANE = 38

export interface StripPicture {
  readonly width: number
  readonly fromMs: number
  readonly toMs: number
  readonly t: readonly number[]
  readonly rpcs: readonly (number | null)[]
  readonly marks: readonly Mark[]
  readonly windowMs: number
  readonly cursorMs: number
}

/** x of an instant; the right 8 px stay free for the cursor's head. */
export const stripX = (picture: Pick<StripPicture, 'width' | 'fromMs' | 'toMs'>, atMs: number): number =>
  ((atMs - picture.fromMs) / (picture.toMs - picture.fromMs || 1)) * (picture.width - 8)

const markInk: Record<Mark['kind'], Token> = {
  start: 'ink-3',
  stop: 'ink-2',
  change: 'ink-4',
  controller: 'text-3',
  job: 'text-2',
  lost: 'idle',
  mode: 'accent',
  alarm: 'bad',
  note: 'note',
}

/** Shapes tell the kinds apart without their inks. */
function drawMark(c: CanvasRenderingContext2D, p: Palette, mark: Mark, x: number): void {
  const shape = new Path2D()
  const polygon = (...points: [number, number][]): void => {
    points.forEach(([dx, dy], i) => (i === 0 ? shape.moveTo(x + dx, LANE + dy) : shape.lineTo(x + dx, LANE + dy)))
    shape.closePath()
  }
  c.fillStyle = c.strokeStyle = p[markInk[mark.kind]]
  if (mark.kind === 'lost') {
    polygon([-3, -3], [3, 3])
    polygon([3, -3], [-3, 3])
    c.lineWidth = 1.6
    c.stroke(shape)
    return
  }
  if (mark.kind === 'start') polygon([-3.5, 3], [3.5, 3], [0, -3])
  else if (mark.kind === 'alarm') polygon([-4, 3.5], [4, 3.5], [0, -3.5])
  else if (mark.kind === 'stop') polygon([-3, -3], [3, -3], [3, 3], [-3, 3])
  else if (mark.kind === 'change' || mark.kind === 'mode') polygon([0, -3.6], [3.6, 0], [0, 3.6], [-3.6, 0])
  else if (mark.kind === 'note') polygon([-2, 4], [-2, -4], [4, -4], [2, -1.8], [4, 0.4], [-2, 0.4])
  else shape.arc(x, LANE, mark.kind === 'job' ? 2.4 : 1.8, 0, 2 * Math.PI)
  c.fill(shape)
}

/** Clock labels: the step of the list that gives four to eight of them. */
function labelStep(spanMs: number): number {
  const steps = [10_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000]
  return steps.find((step) => spanMs / step <= 7) ?? 3_600_000
}

export function drawStrip(c: CanvasRenderingContext2D, p: Palette, picture: StripPicture, height: number): void {
  const { t, rpcs, width } = picture
  const x = (atMs: number): number => stripX(picture, atMs)
  const top = rpcs.reduce<number>((max, v) => Math.max(max, v ?? 0), 1) * 1.12
  const y = (v: number): number => FLOOR - (v / top) * 26
  const joined = runs(rpcs)

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

  const [cursor, start] = [x(picture.cursorMs), x(picture.cursorMs - picture.windowMs)]
  c.fillStyle = p.accent
  c.globalAlpha = 0.1
  c.fillRect(start, 0, cursor - start, height)
  c.globalAlpha = 0.55
  c.fillRect(Math.round(start), 0, 1, height)
  c.globalAlpha = 1

  for (const mark of picture.marks) drawMark(c, p, mark, Math.max(5, Math.min(width - 6, x(mark.atMs))))
  const step = labelStep(picture.toMs - picture.fromMs)
  c.fillStyle = p['text-3']
  c.font = `10px ${p['font-ui']}`
  c.textAlign = 'center'
  for (let at = Math.ceil(picture.fromMs / step) * step; at <= picture.toMs; at += step) {
    const px = x(at)
    if (px > 26 && px < width - 30) c.fillText(formatClock(at, step < 60_000), px, 53.5)
  }
  c.fillStyle = p['text-1']
  const head = Math.min(width - 5, cursor)
  c.fillRect(head - 0.75, 0, 1.5, height)
  c.fill(new Path2D(`M${head - 5} 0h10v4l-5 5-5-5z`))
}
