/** Plots of the waiting queue as steps, of sequence numbers (grants and arrival of their data), and of the overview. */
import { niceMax } from '../../charts/scale.ts'
import type { Palette } from '../../theme/palette.ts'
import { hatchTile, runs } from '../../widgets/canvas.ts'
import { formatNumber } from '../../format/units.ts'
import { plotX, RIGHT_PX, roundStep, type Plot } from './axis.ts'
import { modeInk, type Life } from './lock-lifetimes.ts'
import { drawTick, drawTimes, drawTimeLabels, type Context } from './plot-parts.ts'
import type { QueueStep } from './resource-state.ts'

/** Top of the queue's scale; even, so that its half is an integer. */
export const queueTop = (most: number): number => Math.max(2, Math.ceil(niceMax(most) / 2) * 2)

export function drawQueue(c: Context, p: Palette, plot: Plot, steps: readonly QueueStep[], height: number): void {
  drawTimes(c, p, plot, height)
  const top = queueTop(steps.reduce((most, { waiting }) => Math.max(most, waiting), 0))
  const y = (value: number): number => height - 6 - (value / top) * (height - 14)
  for (const value of [0, top / 2, top]) drawTick(c, p, plot, y(value), String(value), false)
  const line = new Path2D()
  steps.forEach(({ at, waiting }, i) => {
    const x = plotX(plot, at)
    if (i === 0) line.moveTo(x, y(waiting))
    else {
      line.lineTo(x, y(steps[i - 1]?.waiting ?? 0))
      line.lineTo(x, y(waiting))
    }
  })
  const end = plotX(plot, plot.spanMs)
  line.lineTo(end, y(steps.at(-1)?.waiting ?? 0))
  c.strokeStyle = c.fillStyle = p['ink-2']
  c.lineWidth = 1.3
  c.stroke(line)
  line.lineTo(end, y(0))
  line.lineTo(plotX(plot, 0), y(0))
  c.globalAlpha = 0.2
  c.fill(line)
  c.globalAlpha = 1
}

/** Draws grants as filled dots joined by steps, data on the server as rings, and a thin line from grant to data. */
export function drawSns(c: Context, p: Palette, plot: Plot, lives: readonly Life[], height: number): void {
  const floor = height - 22
  drawTimes(c, p, plot, floor)
  drawTimeLabels(c, p, plot, height - 8)
  const grants = lives
    .filter((l) => l.mode !== 'PR' && l.sn !== null && l.granted !== null && l.granted <= plot.spanMs)
    // Locks granted before the range are drawn only if their data arrive in it.
    .filter((l) => (l.granted ?? 0) >= 0 || (l.dataAt !== null && l.dataAt >= 0 && l.dataAt <= plot.spanMs))
    .sort((a, b) => (a.sn ?? 0) - (b.sn ?? 0))
  const low = grants[0]?.sn ?? 0
  const high = grants.at(-1)?.sn ?? 0
  if (grants.length === 0) return
  const step = Math.max(1, roundStep(Math.max(1, high - low), 4))
  const from = low - Math.max(1, (high - low) * 0.06)
  const to = high + Math.max(1, (high - low) * 0.08)
  const y = (sn: number): number => 8 + (1 - (sn - from) / (to - from)) * (floor - 12)
  for (let sn = Math.ceil(from / step) * step; sn <= to; sn += step) drawTick(c, p, plot, y(sn), formatNumber(sn), true)

  c.save()
  c.beginPath()
  c.rect(plot.left - 4, 0, plot.width - plot.left - RIGHT_PX + 8, floor)
  c.clip()
  const radius = grants.length > 300 ? 1.6 : grants.length > 120 ? 2.2 : 2.8
  const x = (t: number): number => plotX(plot, t)
  c.fillStyle = p['line-3']
  // Paler if there are many, so that they do not merge into a solid area.
  c.globalAlpha = grants.length > 80 ? 0.4 : 1
  for (const { granted, dataAt, bytes, sn } of grants) {
    const end = dataAt ?? (bytes > 0 ? plot.spanMs : null)
    if (end !== null) c.fillRect(x(granted ?? 0), y(sn ?? 0) - 0.5, x(end) - x(granted ?? 0), 1)
  }
  c.globalAlpha = 1
  c.strokeStyle = p['ink-3']
  c.lineWidth = 1.3
  c.beginPath()
  grants.forEach(({ granted, sn }, i) => {
    if (i === 0) c.moveTo(x(granted ?? 0), y(sn ?? 0))
    else {
      c.lineTo(x(granted ?? 0), y(grants[i - 1]?.sn ?? 0))
      c.lineTo(x(granted ?? 0), y(sn ?? 0))
    }
  })
  c.stroke()
  const dot = (t: number, sn: number): void => {
    c.beginPath()
    c.arc(x(t), y(sn), radius, 0, 2 * Math.PI)
  }
  for (const { granted, sn, mode } of grants) {
    c.fillStyle = p[modeInk[mode]]
    dot(granted ?? 0, sn ?? 0)
    c.fill()
  }
  c.fillStyle = p['bg-surface']
  c.strokeStyle = p['ink-2']
  c.lineWidth = 1.4
  for (const { dataAt, sn } of grants) {
    if (dataAt === null) continue
    dot(dataAt, sn ?? 0)
    c.fill()
    c.stroke()
  }
  c.restore()
}

export interface Overview {
  readonly t: readonly number[]
  readonly waiting: readonly (number | null)[]
  /** Selected range, Unix ms. */
  readonly fromMs: number
  readonly toMs: number
}

/** x of a time in the overview. */
export const overviewX = ({ t }: Overview, left: number, width: number, atMs: number): number => {
  const from = t[0] ?? 0
  const to = t.at(-1) ?? 1
  return left + ((atMs - from) / (to - from || 1)) * (width - left - RIGHT_PX)
}

export function drawOverview(c: Context, p: Palette, picture: Overview, left: number, width: number, height: number) {
  const { t, waiting } = picture
  const x = (atMs: number): number => overviewX(picture, left, width, atMs)
  const top = queueTop(waiting.reduce<number>((most, v) => Math.max(most, v ?? 0), 0))
  const floor = height - 3
  const y = (value: number): number => floor - (value / top) * (height - 9)
  const joined = runs(waiting)
  const image = hatchTile(p['gap-hatch'])
  c.fillStyle = (image && c.createPattern(image, 'repeat')) ?? p['gap-hatch']
  let last = 0
  for (const [from, to] of [...joined, [t.length - 1, t.length - 1] as const]) {
    const a = x(t[last] ?? 0)
    const b = x(t[from] ?? 0)
    if (from > last && waiting.slice(last, from).includes(null)) c.fillRect(a, 3, b - a, floor - 3)
    last = to
  }
  c.fillStyle = p.axis
  c.fillRect(left, floor, width - left - RIGHT_PX, 1)
  c.fillStyle = c.strokeStyle = p['ink-2']
  c.lineWidth = 1.1
  for (const [from, to] of joined) {
    const line = new Path2D()
    for (let i = from; i <= to; i++) line.lineTo(x(t[i] ?? 0), y(waiting[i] ?? 0))
    c.stroke(line)
    line.lineTo(x(t[to] ?? 0), floor)
    line.lineTo(x(t[from] ?? 0), floor)
    c.globalAlpha = 0.22
    c.fill(line)
    c.globalAlpha = 1
  }
  drawTick(c, p, { width, left, spanMs: 1 }, y(top) + 2, String(top), false)
  // The range is often narrower than a pixel; its frame has a minimum width.
  const a = x(picture.fromMs)
  const b = x(picture.toMs)
  const wide = Math.max(5, b - a)
  const from = Math.max(left - 2, Math.min(width - RIGHT_PX - wide + 2, (a + b - wide) / 2))
  c.fillStyle = p.accent
  c.globalAlpha = 0.16
  c.fillRect(from, 0, wide, height)
  c.globalAlpha = 1
  c.fillRect(from, 0, 1, height)
  c.fillRect(from + wide - 1, 0, 1, height)
  c.fill(new Path2D(`M${from + wide / 2 - 4} 0h8l-4 5z`))
}
