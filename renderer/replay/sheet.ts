/** Pictures on the page, drawn by ECharts in the colors of the theme and sized with their elements. */
import { init, use, type EChartsType } from 'echarts/core'
import { CanvasRenderer } from 'echarts/renderers'
import { chartOption } from '../charts/option.ts'
import { plotArea, type Picture, type PlotArea, type Size } from '../charts/picture.ts'
import { palette, refreshPalette, type Palette } from '../theme/palette.ts'
import { data } from './data.ts'
import { el } from './elements.ts'
import { timeAxis } from './time-axis.ts'

use([CanvasRenderer])

/** Redraws each picture at a number of device pixels per pixel. */
const drawers: ((pixelRatio: number) => void)[] = []

/** Element with a picture in it. */
export interface Sheet {
  readonly element: HTMLElement
  /** Places of the picture as it is drawn; undefined before. */
  readonly area: () => PlotArea | undefined
  /** Places a line above the picture at a sample; hides it for -1. */
  readonly place: (line: HTMLElement, i: number) => void
}

/** @param onDrawn  called after each drawing: the size of the element changed, or the theme. */
export function sheetOf(picture: (p: Palette, size: Size) => Picture, onDrawn: (size: Size) => void): Sheet {
  const element = el('div', { class: 'sheet' })
  let chart: EChartsType | null = null
  let drawnRatio = 0
  let size: Size = { width: 0, height: 0 }
  let area: PlotArea | undefined
  function draw(pixelRatio: number): void {
    size = { width: element.clientWidth, height: element.clientHeight }
    if (size.width <= 0 || size.height <= 0) return
    if (chart !== null && drawnRatio === pixelRatio) chart.resize(size)
    else {
      chart?.dispose()
      chart = init(element, null, { renderer: 'canvas', devicePixelRatio: pixelRatio, ...size })
      // Its own loop would paint ten idle frames after every change.
      chart.getZr().setSleepAfterStill(1)
      drawnRatio = pixelRatio
    }
    const drawn = picture(palette.value, size)
    chart.setOption(chartOption(palette.value, drawn, size))
    chart.getZr().flush()
    area = plotArea(drawn, size)
    onDrawn(size)
  }
  function place(line: HTMLElement, i: number): void {
    line.hidden = i < 0 || area === undefined
    if (i < 0 || area === undefined) return
    // Shares of the size, because a print scales the picture.
    line.style.left = `${(area.x(data.t[i] ?? 0) / size.width) * 100}%`
    line.style.top = `${(area.top / size.height) * 100}%`
    line.style.height = `${((area.floor - area.top) / size.height) * 100}%`
  }
  drawers.push(draw)
  new ResizeObserver(() => draw(devicePixelRatio)).observe(element)
  return { element, area: () => area, place }
}

/** Redraws all pictures after a change of theme, or for a sheet of paper. */
export function redraw(pixelRatio = devicePixelRatio): void {
  refreshPalette()
  for (const draw of drawers) draw(pixelRatio)
}

/** Axis of the span and its hatched gaps: the part that all pictures of the page have in common. */
export const spanPicture = (): Pick<Picture, 'from' | 'to' | 'ticks' | 'ranges'> => ({
  from: data.fromMs,
  to: data.toMs,
  ticks: timeAxis,
  ranges: data.gaps.map(({ fromMs, toMs }) => ({ from: fromMs, to: toMs, fill: 'gap' })),
})

/** Time at a distance from the left edge of a picture, px. */
export const timeAt = ({ left, right }: PlotArea, x: number): number =>
  data.fromMs + ((x - left) / Math.max(1, right - left)) * (data.toMs - data.fromMs)
