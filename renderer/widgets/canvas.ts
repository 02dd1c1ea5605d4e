/** Canvas in device pixels, drawn in CSS pixels. */
import { areFramesDense } from '../composables/animation-frame.ts'

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

let isAvailable: boolean | undefined
/** False where nothing can be drawn: in tests without a browser. */
export function hasCanvas(): boolean {
  isAvailable ??= document.createElement('canvas').getContext('2d') !== null
  return isAvailable
}

const soon = new Set<() => void>()
let isRequested = false
/**
 * Drawing time of one task before the rest is deferred, ms: more where frames are rare, because each task with drawing
 * costs a paint of its own; less where they follow each other, because their tasks are longer.
 */
const SHARE_MS = { rare: 14, dense: 6 } as const
/** Time after a key press for which its result comes before the charts, ms. */
const KEY_MS = 250
let keyAt = -Infinity
addEventListener('keydown', () => (keyAt = performance.now()), { capture: true, passive: true })

/** A timer set in an animation frame runs after that frame is painted; a hidden page has no frames. */
function afterPaint(call: () => void): void {
  if (document.hidden) setTimeout(call)
  else requestAnimationFrame(() => setTimeout(call))
}

function drawDue(): void {
  isRequested = false
  const began = performance.now()
  const shareMs = areFramesDense() ? SHARE_MS.dense : SHARE_MS.rare
  for (const draw of soon) {
    soon.delete(draw)
    draw()
    if (soon.size > 0 && performance.now() - began > shareMs) {
      isRequested = true
      setTimeout(drawDue)
      return
    }
  }
}
/**
 * Calls `draw` soon: after a key press when the numbers are painted, so that a step of the cursor does not wait for the
 * charts; else in the same frame if time permits, because a second frame costs as much as the first.
 */
export function drawSoon(draw: () => void): void {
  soon.add(draw)
  if (isRequested) return
  isRequested = true
  if (performance.now() - keyAt < KEY_MS) afterPaint(drawDue)
  else queueMicrotask(drawDue)
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
