/** Canvas in device pixels, drawn in CSS pixels. */

/** Sizes the canvas for the screen and returns a cleared context, or null where there is no canvas (tests). */
export function prepareCanvas(
  canvas: HTMLCanvasElement | null | undefined,
  width: number,
  height: number,
): CanvasRenderingContext2D | null {
  if (!canvas || width <= 0 || height <= 0) return null
  const ratio = globalThis.devicePixelRatio || 1
  const w = Math.round(width * ratio)
  const h = Math.round(height * ratio)
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w
    canvas.height = h
  }
  const context = canvas.getContext('2d')
  if (context === null) return null
  context.setTransform(ratio, 0, 0, ratio, 0, 0)
  context.clearRect(0, 0, width, height)
  return context
}

const waiting = new Set<() => void>()
let timer: ReturnType<typeof setTimeout> | undefined

/**
 * Calls `draw` soon, in a task of its own: the numbers of the page come first, and their task does not include the
 * drawing.
 */
export function drawLater(draw: () => void): void {
  waiting.add(draw)
  timer ??= setTimeout(() => {
    timer = undefined
    const due = [...waiting]
    waiting.clear()
    for (const d of due) d()
  })
}

const soon = new Set<() => void>()
let isAsked = false
/** Drawing time per frame before the rest is deferred, ms. */
const SHARE_MS = 6

function drawDue(): void {
  isAsked = false
  const began = performance.now()
  for (const draw of soon) {
    soon.delete(draw)
    draw()
    if (soon.size > 0 && performance.now() - began > SHARE_MS) {
      setTimeout(drawDue)
      isAsked = true
      return
    }
  }
}
/** Calls `draw` after the page has its numbers, in the same frame if time permits, so that one paint shows both. */
export function drawSoon(draw: () => void): void {
  soon.add(draw)
  if (isAsked) return
  isAsked = true
  queueMicrotask(drawDue)
}

/** True if there is a value to draw: missing and non-finite values are gaps. */
export const isKnown = (value: number | null | undefined): value is number =>
  typeof value === 'number' && Number.isFinite(value)

/** Ranges of indices without a gap, which can be joined by a line. */
export function runs(values: readonly (number | null)[]): [from: number, to: number][] {
  const found: [number, number][] = []
  let from = -1
  for (let i = 0; i <= values.length; i++) {
    const isGap = i === values.length || !isKnown(values[i])
    if (!isGap && from < 0) from = i
    if (isGap && from >= 0) {
      found.push([from, i - 1])
      from = -1
    }
  }
  return found
}

const tiles = new Map<string, HTMLCanvasElement>()

/** Returns the 45 degree hatch of a gap as a repeating canvas; null if there is no canvas. */
export function hatchTile(colour: string): HTMLCanvasElement | null {
  const known = tiles.get(colour)
  if (known) return known
  const tile = document.createElement('canvas')
  tile.width = tile.height = 8
  const context = tile.getContext('2d')
  if (context === null) return null
  context.strokeStyle = colour
  context.lineWidth = 2.5
  context.beginPath()
  for (const shift of [-8, 0, 8]) {
    context.moveTo(shift - 1, 9)
    context.lineTo(shift + 9, -1)
  }
  context.stroke()
  tiles.set(colour, tile)
  return tile
}
