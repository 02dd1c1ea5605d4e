/**
 * Chart over time in one element: its canvas, and a crosshair shared by all charts of the page. A change is drawn in
 * the same frame as the numbers beside it; the crosshair moves without redrawing.
 */
import { useDevicePixelRatio, useEventListener } from '@vueuse/core'
import { onBeforeUnmount, onMounted, shallowRef, watch, type Ref } from 'vue'
import { useBoxSize } from '../composables/use-box-size.ts'
import { palette } from '../theme/palette.ts'
import { drawSoon, prepareCanvas } from '../widgets/canvas.ts'
import { boxOf, drawTimePicture, timePlot, type TimePicture } from './time-draw.ts'

/** Instant under the pointer, in any chart. */
const pointedMs = shallowRef<number | null>(null)
export const crosshairMs = (): number | null => pointedMs.value

/**
 * @param depends  inputs of the picture; it is redrawn when one of them changes.
 * @param hover    instant under the crosshair, null when it leaves.
 */
export function useTimeChart(
  element: Readonly<Ref<HTMLElement | null>>,
  depends: () => readonly unknown[],
  picture: () => TimePicture,
  hover?: (atMs: number | null) => void,
): void {
  const { width, height } = useBoxSize(element)
  const { pixelRatio } = useDevicePixelRatio()
  let canvas: HTMLCanvasElement | null = null
  let line: HTMLElement | null = null
  let shown: TimePicture | null = null
  /** x of the resting pointer, px; its instant changes as the window moves. */
  let pointerX: number | null = null

  function draw(): void {
    const context = prepareCanvas(canvas, width.value, height.value)
    if (context === null) return
    shown = picture()
    drawTimePicture(context, palette.value, shown, boxOf(shown, width.value, height.value))
    if (pointerX !== null) point(pointerX)
    else placeLine()
  }
  /** Places the crosshair; hides it if its instant is outside the window. */
  function placeLine(): void {
    if (line === null) return
    const at = pointedMs.value
    const isIn = shown !== null && at !== null && at >= shown.from && at <= shown.to
    line.hidden = !isIn
    if (shown === null || at === null || !isIn) return
    const box = boxOf(shown, width.value, height.value)
    line.style.top = `${box.margins.top}px`
    line.style.bottom = `${box.margins.bottom}px`
    line.style.borderColor = palette.value.crosshair
    line.style.transform = `translateX(${Math.round(timePlot(shown, box).x(at))}px)`
  }
  function point(x: number | null): void {
    pointerX = x
    if (shown === null) return
    const { margins } = boxOf(shown, width.value, height.value)
    const across = width.value - margins.left - margins.right
    const share = x === null ? -1 : (x - margins.left) / across
    pointedMs.value = share < 0 || share > 1 ? null : shown.from + share * (shown.to - shown.from)
  }
  onMounted(() => {
    if (element.value === null) return
    canvas = document.createElement('canvas')
    line = document.createElement('div')
    line.className = 'chart-cross'
    line.hidden = true
    element.value.append(canvas, line)
    draw()
  })
  useEventListener(element, 'pointermove', (event: PointerEvent) =>
    point(event.clientX - (element.value?.getBoundingClientRect().left ?? 0)),
  )
  useEventListener(element, 'pointerleave', () => point(null))
  watch(pointedMs, (at) => {
    placeLine()
    hover?.(at !== null && shown !== null && at >= shown.from && at <= shown.to ? at : null)
  })
  let last: readonly unknown[] = []
  watch([depends, palette, width, height, pixelRatio], ([next, ...rest]) => {
    const now = [...next, ...rest]
    if (now.length === last.length && now.every((v, i) => Object.is(v, last[i]))) return
    last = now
    drawSoon(draw)
  })
  onBeforeUnmount(() => {
    if (pointerX !== null) pointedMs.value = null
    canvas = line = null
  })
}
