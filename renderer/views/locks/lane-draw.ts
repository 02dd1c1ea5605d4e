/**
 * State lanes on a canvas: waiting hatched, granted solid in the color of its mode, canceling pale; a diamond marks an
 * early grant, a triangle an early revocation. Draws only lanes in view, and of bars that share a pixel only the first.
 */
import type { Palette } from '../../theme/palette.ts'
import { plainText } from '../../format/plain-text.ts'
import { plotX, type Plot } from './axis.ts'
import { barBox, type Bar, type LaneLayout } from './lane-layout.ts'
import { modeInk } from './lock-lifetimes.ts'
import { cutText, drawTimes, hatchBox, type Context } from './plot-parts.ts'

export interface LanePicture {
  readonly plot: Plot
  readonly layout: LaneLayout
  readonly scrollTop: number
  readonly height: number
  /** Id of the hovered lock. */
  readonly pointed: number | null
}

/** Minimum width for a label beside the marks. */
const LABEL_PX = 34
const MARK_PX = 4
/** Opacity: pale enough to differ from granted, strong enough for a contrast of 3:1 with its edge. */
const CANCELING = 0.32

function drawBar(c: Context, p: Palette, picture: LanePicture, bar: Bar): void {
  const { plot, layout } = picture
  const lane = layout.lanes[bar.lane]
  if (!lane) return
  const { life } = bar
  const span = plot.spanMs
  const { y, height } = barBox(lane, bar.row)
  const edge = (t: number): number => plotX(plot, Math.max(0, Math.min(span, t)))
  const ended = life.ended ?? span
  const granted = life.granted ?? ended
  const from = edge(life.requested)

  const thin = Math.max(6, Math.round(height * 0.45))
  if (granted > 0) hatchBox(c, p, from, y + (height - thin) / 2, edge(granted) - from, thin)
  if (life.granted === null || life.granted > span)
    return drawWaits(c, p, layout.waits.get(life.id) ?? '', from, edge(ended), y + height / 2)

  const canceling = Math.min(life.canceling ?? ended, ended)
  const x1 = edge(granted)
  const x2 = edge(canceling)
  const x3 = edge(ended)
  const down = life.downgradedAt === null ? x3 : Math.max(x2, edge(life.downgradedAt))
  const box = (a: number, b: number, mode: typeof life.mode, alpha: number): void => {
    c.globalAlpha = alpha
    c.fillStyle = p[modeInk[mode]]
    if (b > a) c.fillRect(a, y, b - a, height)
    c.globalAlpha = 1
  }
  box(x2, down, life.mode, CANCELING)
  box(down, x3, life.downgradedTo ?? life.mode, CANCELING)
  // A lock granted as CANCELING keeps a solid edge of 2 px, so that its grant is visible.
  if (life.granted >= 0 || canceling > 0) box(x1, Math.max(x2, Math.min(x1 + 2, x3)), life.mode, 1)
  if (picture.pointed === life.id) {
    c.strokeStyle = p['text-1']
    c.lineWidth = 1
    c.strokeRect(x1 - 0.5, y - 0.5, Math.max(1, x3 - x1) + 1, height + 1)
  }
  drawModeLabel(c, p, bar, x1, x2, x3, y, height)
  if (life.isEarlyGrant && life.granted >= 0) diamond(c, p, x1, y)
  if (life.isEarlyRevocation && canceling >= 0) {
    // Beside the diamond, not below it.
    const isClose = life.isEarlyGrant && x2 - x1 < 2 * MARK_PX
    triangle(c, p, isClose ? x1 + 2 * MARK_PX + 1 : x2, y)
  }
}

/** Draws cached locks without events: a thin line per mode at the bottom of the lane. */
function drawCached(c: Context, p: Palette, plot: Plot, lane: LaneLayout['lanes'][number]): void {
  const inks = [...new Set(lane.cached.map((life) => modeInk[life.mode]))]
  const width = plotX(plot, plot.spanMs) - plot.left
  inks.forEach((ink, i) => {
    c.fillStyle = p[ink]
    c.globalAlpha = 0.75
    c.fillRect(plot.left, lane.top + lane.height - 4 - 3 * i, width, 2)
    c.globalAlpha = 1
  })
}

function drawModeLabel(
  c: Context,
  p: Palette,
  { life }: Bar,
  x1: number,
  x2: number,
  x3: number,
  y: number,
  height: number,
) {
  if (height < 8) return
  // Over the pale part, the label shows the mode there.
  const isPale = x3 - x2 >= LABEL_PX
  const mode = isPale ? (life.downgradedTo ?? life.mode) : life.mode
  const sn = life.sn === null ? '' : String(life.sn)
  const label = mode === 'PR' ? 'PR' : mode === 'NBW' ? sn : `${mode} ${sn}`
  // The label is no taller than the bar: its dark text would be invisible beside it.
  const px = Math.min(10, height)
  c.font = `${px}px ${p['font-ui']}`
  c.textAlign = 'left'
  const needs = c.measureText(label).width
  const base = y + height / 2 + px * 0.35
  if (isPale && x3 - x2 >= needs + 9) {
    c.fillStyle = p['text-1']
    c.fillText(label, x2 + 5, base)
  } else if (x2 - x1 >= needs + 9) {
    c.font = `600 ${px}px ${p['font-ui']}`
    c.fillStyle = p['bg-chrome']
    c.fillText(label, x1 + 5, base)
  }
}

/** Draws the label of a request that is not granted in the range, on a plate over its hatch. */
function drawWaits(c: Context, p: Palette, label: string, x1: number, x2: number, middle: number): void {
  if (label === '') return
  c.font = `10px ${p['font-ui']}`
  const wide = c.measureText(label).width
  if (wide + 14 > x2 - x1) return
  c.fillStyle = p['bg-surface']
  c.fillRect(x2 - wide - 10, middle - 6, wide + 8, 12)
  c.fillStyle = p['text-2']
  c.textAlign = 'right'
  c.fillText(label, x2 - 6, middle + 3.5)
}

function diamond(c: Context, p: Palette, x: number, y: number): void {
  c.beginPath()
  c.moveTo(x, y - MARK_PX - 1)
  c.lineTo(x + MARK_PX, y - 1)
  c.lineTo(x, y + MARK_PX - 1)
  c.lineTo(x - MARK_PX, y - 1)
  c.closePath()
  c.fillStyle = p['bg-surface']
  c.strokeStyle = p['text-1']
  c.lineWidth = 1.3
  c.fill()
  c.stroke()
}

function triangle(c: Context, p: Palette, x: number, y: number): void {
  c.beginPath()
  c.moveTo(x - 3.5, y - 4)
  c.lineTo(x + 3.5, y - 4)
  c.lineTo(x, y + 2)
  c.closePath()
  c.fillStyle = p['text-1']
  c.fill()
}

export function drawLanes(c: Context, p: Palette, picture: LanePicture): void {
  const { plot, layout, scrollTop, height } = picture
  drawTimes(c, p, plot, height)
  c.save()
  c.translate(0, -scrollTop)
  const isSeen = (lane: number): boolean => {
    const { top, height: tall } = layout.lanes[lane] ?? { top: 0, height: 0 }
    return top + tall >= scrollTop - 6 && top <= scrollTop + height
  }
  layout.lanes.forEach((lane, i) => {
    if (!isSeen(i)) return
    c.fillStyle = p.grid
    c.fillRect(0, lane.top + lane.height - 1, plot.width, 1)
    c.font = `11px ${p['font-ui']}`
    c.fillStyle = p['text-2']
    c.textAlign = 'right'
    c.fillText(cutText(c, plainText(lane.name), plot.left - 14), plot.left - 8, lane.top + lane.height / 2 + 4)
  })
  c.beginPath()
  c.rect(plot.left, scrollTop, plot.width - plot.left, height)
  c.clip()
  layout.lanes.forEach((lane, i) => isSeen(i) && drawCached(c, p, plot, lane))
  const taken = new Set<string>()
  for (const bar of layout.bars) {
    if (!isSeen(bar.lane)) continue
    const { life } = bar
    const from = plotX(plot, life.requested)
    const to = plotX(plot, life.ended ?? plot.spanMs)
    // Of bars below a pixel, only the first at each pixel is drawn.
    if (to - from < 1) {
      const place = `${bar.lane} ${bar.row} ${Math.round(from)}`
      if (taken.has(place)) continue
      taken.add(place)
    }
    drawBar(c, p, picture, bar)
  }
  c.restore()
}

/** Bar at a point; the topmost of several. */
export function barAt(picture: LanePicture, x: number, y: number): Bar | null {
  const { plot, layout, scrollTop } = picture
  const found = layout.bars.filter((bar) => {
    const lane = layout.lanes[bar.lane]
    if (!lane) return false
    const box = barBox(lane, bar.row)
    const from = plotX(plot, bar.life.requested)
    const to = plotX(plot, bar.life.ended ?? plot.spanMs)
    return y + scrollTop >= box.y - 3 && y + scrollTop <= box.y + box.height + 3 && x >= from - 2 && x <= to + 2
  })
  return found.at(-1) ?? null
}
