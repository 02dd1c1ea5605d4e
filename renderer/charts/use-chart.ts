/**
 * Chart with a crosshair linked over the page, a tooltip with all values, zoom by dragging, wheel and pinch, and a range
 * dragged with Shift. Crosshair, tooltip and dragged range are elements above the canvas: moving them redraws nothing.
 */
import { useEventListener } from '@vueuse/core'
import { inject, onBeforeUnmount, provide, shallowRef, watch } from 'vue'
import type { InjectionKey, Ref, ShallowRef } from 'vue'
import { marginsOf, type Bars, type Layer, type Picture } from './picture.ts'
import { formatClock } from '../format/units.ts'
import { isKnown } from '../widgets/canvas.ts'
import { formatFigure } from './facts.ts'
import { nearest } from './scale.ts'
import { useSheet } from './use-sheet.ts'

/** Instant under the pointer, in any chart over the page's time. */
const pointedMs = shallowRef<number | null>(null)
export const crosshairMs = (): number | null => pointedMs.value

/** Gestures on charts over the page's time; the application binds them to its time cursor. */
export interface ChartGestures {
  /** Shows from..to in all charts of the page. */
  readonly zoom: (fromMs: number, toMs: number) => void
  /** Shows the range before the last zoom. */
  readonly out: () => void
  /** Compares two instants. */
  readonly compare: (aMs: number, bMs: number) => void
}
export const chartGestures: InjectionKey<ChartGestures> = Symbol('chart gestures')

type ZoomRange = ShallowRef<readonly [from: number, to: number] | null>
const sharedZoom: InjectionKey<ZoomRange> = Symbol('zoom range')
/** Makes the charts below that have an axis of their own zoom together. */
export function provideZoom(): ZoomRange {
  const zoom: ZoomRange = shallowRef(null)
  provide(sharedZoom, zoom)
  return zoom
}

interface ReadingLine {
  readonly name: string
  readonly color: string
  /** Value; empty for an event. */
  readonly text: string
}
/** Values and events of a picture at an instant, as its tooltip lists them. */
interface Reading {
  readonly head: string
  readonly lines: readonly ReadingLine[]
}

/** Share of the axis within which a value counts at an instant, if the values are not further apart. */
const READING_REACH = 0.02

function valueAt(series: Layer | Bars, at: number, span: number): number | null {
  const { t, values } = series
  const i = nearest(t, at)
  if (i < 0) return null
  const apart = ((t.at(-1) ?? 0) - (t[0] ?? 0)) / Math.max(1, t.length - 1)
  const isHeld = 'stepped' in series && series.stepped === true
  if (!isHeld && Math.abs((t[i] ?? 0) - at) > Math.max(apart, span * READING_REACH)) return null
  return values[i] ?? null
}

/**
 * Reading of a picture at an instant.
 *
 * @param reach  distance up to which an event is named, in units of the axis.
 */
export function readingAt(picture: Picture, at: number, reach = 0): Reading {
  const { from, to, layers = [], bars = [], notes = [] } = picture
  const formatValue = picture.formatValue ?? formatFigure
  const formatAt = picture.formatAt ?? ((ms: number) => formatClock(ms, true))
  const values = [...layers, ...bars].flatMap((series) => {
    if (series.name === undefined) return []
    const value = valueAt(series, at, to - from)
    const color = series.color ?? ('stroke' in series ? series.stroke?.color : undefined) ?? 'currentColor'
    return [{ name: series.name, color, text: isKnown(value) ? formatValue(value) : 'not measured' }]
  })
  const near = notes.filter((note) => Math.abs(note.at - at) <= reach)
  return { head: formatAt(at), lines: [...values, ...near.map(({ text, color }) => ({ name: text, color, text: '' }))] }
}

export interface ChartOptions {
  /** Inputs of the picture; it is drawn again when one of them changes. */
  readonly depends: () => readonly unknown[]
  readonly picture: () => Picture
  /** Called with the value under the crosshair, null when it leaves. */
  readonly hover?: (at: number | null) => void
  /** Crosshair of charts with an axis of their own, set by the parent; without it the page's time is the axis. */
  readonly at?: () => number | null
  /** Called with the value at which the plot was clicked. */
  readonly click?: (at: number) => void
  /** Called with a range dragged with Shift; without it the range is compared on the page's time. */
  readonly brush?: (from: number, to: number) => void
  /** False if a legend shows the values at the crosshair. */
  readonly hasTip?: boolean
}

/** Distance up to which the tooltip names an event, px. */
const NOTE_PX = 5
/** Distance from which a press is a drag, px. */
const DRAG_PX = 4
/** Smallest range that the wheel can reach, as a share of the whole axis. */
const LEAST_SHARE = 0.002

function overlay(name: string): HTMLElement {
  const element = document.createElement('div')
  element.className = name
  element.hidden = true
  return element
}
const isScrollable = (element: Element | null): boolean => {
  for (let at = element; at !== null; at = at.parentElement) {
    const { overflowY } = getComputedStyle(at)
    if ((overflowY === 'auto' || overflowY === 'scroll') && at.scrollHeight > at.clientHeight + 1) return true
  }
  return false
}

export function useChart(element: Readonly<Ref<HTMLElement | null>>, options: ChartOptions): void {
  const isPageTime = options.at === undefined
  const gestures = inject(chartGestures, null)
  const zoomed: ZoomRange = inject(sharedZoom, () => shallowRef(null), true)
  const cross = overlay('chart-cross')
  const tip = overlay('tip chart-tip')
  const range = overlay('chart-range')
  /** x of the resting pointer, px; the instant below it changes as the window moves. */
  let pointerX: number | null = null

  function picture(): Picture {
    const whole = options.picture()
    if (isPageTime || zoomed.value === null) return whole
    const from = Math.max(whole.from, zoomed.value[0])
    const to = Math.min(whole.to, zoomed.value[1])
    return to > from ? { ...whole, from, to } : whole
  }
  const sheet = useSheet(element, {
    depends: () => [...options.depends(), zoomed.value],
    picture,
    onDrawn: () => {
      // Creating the chart empties its element.
      if (!cross.isConnected) element.value?.append(cross, tip, range)
      if (pointerX === null) placeCross()
      else point(pointerX)
    },
  })
  const { width } = sheet

  const plot = () => {
    const margins = marginsOf(sheet.shown() ?? options.picture())
    return { margins, across: Math.max(1, width.value - margins.left - margins.right) }
  }
  const valueAt = (x: number): number => {
    const { margins, across } = plot()
    const { from, to } = sheet.shown() ?? { from: 0, to: 1 }
    return from + ((x - margins.left) / across) * (to - from)
  }
  const xOf = (at: number): number => {
    const { margins, across } = plot()
    const { from, to } = sheet.shown() ?? { from: 0, to: 1 }
    return margins.left + ((at - from) / (to - from || 1)) * across
  }
  const clampX = (x: number): number => {
    const { margins, across } = plot()
    return Math.max(margins.left, Math.min(margins.left + across, x))
  }
  const crosshair = (): number | null => options.at?.() ?? (isPageTime ? pointedMs.value : null)

  function placeCross(): void {
    const at = crosshair()
    const shown = sheet.shown()
    const isIn = shown !== null && at !== null && at >= shown.from && at <= shown.to
    cross.hidden = !isIn
    if (!isIn) return
    const { margins } = plot()
    cross.style.top = `${margins.top}px`
    cross.style.bottom = `${margins.bottom}px`
    cross.style.transform = `translateX(${Math.round(xOf(at))}px)`
  }
  function point(x: number | null): void {
    pointerX = x
    if (sheet.shown() === null) return
    const { margins, across } = plot()
    const share = x === null ? -1 : (x - margins.left) / across
    const at = x === null || share < 0 || share > 1 ? null : valueAt(x)
    if (isPageTime) pointedMs.value = at
    else {
      options.hover?.(at)
      placeCross()
    }
    fillTip(at)
  }
  function fillTip(at: number | null): void {
    const shown = sheet.shown()
    tip.hidden = at === null || shown === null || dragX !== null || options.hasTip === false
    if (tip.hidden || at === null || shown === null) return
    const { across } = plot()
    const { head: when, lines } = readingAt(shown, at, (NOTE_PX / across) * (shown.to - shown.from))
    tip.hidden = lines.length === 0
    const head = document.createElement('div')
    head.className = 't3'
    head.textContent = when
    const rows = lines.map(({ name, color, text }) => {
      const row = document.createElement('div')
      row.className = text === '' ? 'note' : ''
      const swatch = document.createElement('i')
      swatch.style.background = color
      const label = document.createElement('span')
      label.textContent = name
      const value = document.createElement('b')
      value.textContent = text
      row.append(swatch, label, value)
      return row
    })
    tip.replaceChildren(head, ...rows)
    const x = xOf(at)
    const isRight = x > width.value / 2
    tip.style.left = isRight ? 'auto' : `${x + 10}px`
    tip.style.right = isRight ? `${width.value - x + 10}px` : 'auto'
  }

  let dragX: number | null = null
  let isDrag = false
  const zoom = (from: number, to: number): void => {
    if (isPageTime) gestures?.zoom(from, to)
    else zoomed.value = [from, to]
  }
  function zoomOut(): void {
    if (isPageTime) gestures?.out()
    else zoomed.value = null
  }
  const offsetOf = (event: MouseEvent): number => event.clientX - (element.value?.getBoundingClientRect().left ?? 0)
  function onDown(event: PointerEvent): void {
    const { margins, across } = plot()
    const x = offsetOf(event)
    if (event.button !== 0 || x < margins.left || x > margins.left + across) return
    dragX = x
    isDrag = false
    element.value?.setPointerCapture?.(event.pointerId)
  }
  function placeRange(x: number): void {
    if (dragX === null) return
    isDrag ||= Math.abs(x - dragX) >= DRAG_PX
    range.hidden = !isDrag
    const { margins } = plot()
    range.style.top = `${margins.top}px`
    range.style.bottom = `${margins.bottom}px`
    range.style.left = `${clampX(Math.min(x, dragX))}px`
    range.style.width = `${Math.abs(clampX(x) - clampX(dragX))}px`
  }
  function onUp(event: PointerEvent): void {
    const from = dragX
    dragX = null
    range.hidden = true
    if (from === null) return
    const x = clampX(offsetOf(event))
    if (!isDrag) return options.click?.(valueAt(x))
    const low = valueAt(Math.min(from, x))
    const high = valueAt(Math.max(from, x))
    if (!event.shiftKey) zoom(low, high)
    else if (options.brush) options.brush(low, high)
    else gestures?.compare(low, high)
  }
  /** Changes the range around the pointer; a factor under 1 zooms in. */
  function zoomBy(factor: number, x: number): void {
    const shown = sheet.shown()
    if (shown === null) return
    const whole = options.picture()
    const centre = valueAt(clampX(x))
    const from = centre - (centre - shown.from) * factor
    const to = centre + (shown.to - centre) * factor
    if (!isPageTime && to - from >= whole.to - whole.from) return zoomOut()
    if (!isPageTime && to - from < (whole.to - whole.from) * LEAST_SHARE) return
    zoom(isPageTime ? from : Math.max(whole.from, from), isPageTime ? to : Math.min(whole.to, to))
  }
  /** A trackpad sends a pinch as a wheel with Ctrl. A plain wheel scrolls where there is something to scroll. */
  function onWheel(event: WheelEvent): void {
    if (event.deltaY === 0 || (!event.ctrlKey && isScrollable(element.value))) return
    event.preventDefault()
    zoomBy(event.deltaY < 0 ? 0.8 : 1.25, offsetOf(event))
  }
  let pinchPx: number | null = null
  function onTouch(event: TouchEvent): void {
    const [one, two] = [event.touches[0], event.touches[1]]
    if (one === undefined || two === undefined) {
      pinchPx = null
      return
    }
    event.preventDefault()
    const apart = Math.hypot(one.clientX - two.clientX, one.clientY - two.clientY)
    const middle = (one.clientX + two.clientX) / 2 - (element.value?.getBoundingClientRect().left ?? 0)
    if (pinchPx !== null && Math.abs(apart / pinchPx - 1) > 0.08) {
      zoomBy(pinchPx / apart, middle)
      pinchPx = apart
    } else pinchPx ??= apart
  }

  useEventListener(element, 'pointermove', (event: PointerEvent) => {
    if (dragX !== null) placeRange(offsetOf(event))
    point(offsetOf(event))
  })
  useEventListener(element, 'pointerleave', () => point(null))
  useEventListener(element, 'pointerdown', onDown)
  useEventListener(element, 'pointerup', onUp)
  useEventListener(element, 'pointercancel', () => {
    dragX = null
    range.hidden = true
  })
  useEventListener(element, 'dblclick', zoomOut)
  useEventListener(element, 'wheel', onWheel, { passive: false })
  useEventListener(element, ['touchstart', 'touchmove', 'touchend'], onTouch, { passive: false })
  watch(crosshair, (at) => {
    placeCross()
    const shown = sheet.shown()
    if (isPageTime) options.hover?.(at !== null && shown !== null && at >= shown.from && at <= shown.to ? at : null)
  })
  onBeforeUnmount(() => {
    if (pointerX !== null && isPageTime) pointedMs.value = null
  })
}
