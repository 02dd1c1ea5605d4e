/** Canvas helpers shared by all plots of a range. */
import type { Palette } from '../../theme/palette.ts'
import { hatchTile } from '../../widgets/canvas.ts'
import { plotX, RIGHT_PX, timeTicks, type Plot } from './axis.ts'

export type Context = CanvasRenderingContext2D

/** Draws the vertical grid lines of the time axis, and the gap before the known part. */
export function drawTimes(c: Context, p: Palette, plot: Plot, height: number): void {
  const known = plotX(plot, plot.knownFrom ?? 0)
  if (known > plot.left + 1) {
    const image = hatchTile(p['gap-hatch'])
    c.fillStyle = (image && c.createPattern(image, 'repeat')) ?? p['gap-hatch']
    c.fillRect(plot.left, 0, known - plot.left, height)
  }
  c.fillStyle = p.grid
  for (const { at } of timeTicks(plot.spanMs)) c.fillRect(Math.round(plotX(plot, at)), 0, 1, height)
}

/** Draws the labels of the time axis; the last one is kept inside the edge. */
export function drawTimeLabels(c: Context, p: Palette, plot: Plot, y: number): void {
  c.font = `10px ${p['font-ui']}`
  c.fillStyle = p['text-3']
  c.textAlign = 'center'
  for (const { at, text } of timeTicks(plot.spanMs)) {
    const x = plotX(plot, at)
    if (x <= plot.width - RIGHT_PX - 6) c.fillText(text, x, y)
  }
}

export function drawTick(c: Context, p: Palette, plot: Plot, y: number, text: string, hasLine: boolean): void {
  if (hasLine) {
    c.fillStyle = p.grid
    c.fillRect(plot.left, Math.round(y), plot.width - plot.left - RIGHT_PX, 1)
  }
  c.font = `10px ${p['font-ui']}`
  c.fillStyle = p['text-3']
  c.textAlign = 'right'
  c.fillText(text, plot.left - 8, y + 3.5)
}

/** Draws a hatched box with its edge; only the edge if no hatch pattern can be made. */
export function hatchBox(c: Context, p: Palette, x: number, y: number, width: number, height: number): void {
  if (width < 1) return
  const image = hatchTile(p['gap-hatch'])
  const pattern = image && c.createPattern(image, 'repeat')
  if (pattern) {
    c.fillStyle = pattern
    c.fillRect(x, y, width, height)
  }
  c.strokeStyle = p['line-3']
  c.lineWidth = 0.75
  c.strokeRect(x + 0.4, y + 0.4, Math.max(0.4, width - 0.8), height - 0.8)
}

/** Truncates a text to a width, with an ellipsis. */
export function cutText(c: Context, text: string, widthPx: number): string {
  if (c.measureText(text).width <= widthPx) return text
  let length = text.length
  while (length > 1 && c.measureText(`${text.slice(0, length)}\u2026`).width > widthPx) length--
  return `${text.slice(0, length)}\u2026`
}
