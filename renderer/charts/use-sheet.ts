/**
 * ECharts instance in one element, drawn in the frame of the numbers beside it and sized with its element: of a picture,
 * or of an option of its own.
 */
import { init, use, type EChartsCoreOption, type EChartsType } from 'echarts/core'
import { CanvasRenderer, SVGRenderer } from 'echarts/renderers'
import { useDevicePixelRatio } from '@vueuse/core'
import { onBeforeUnmount, onMounted, watch, type Ref } from 'vue'
import { useBoxSize, type BoxSize } from '../composables/use-box-size.ts'
import { palette, type Palette } from '../theme/palette.ts'
import { drawSoon, hasCanvas } from '../widgets/canvas.ts'
import { chartOption } from './option.ts'
import type { Picture, Size } from './picture.ts'

use([CanvasRenderer, SVGRenderer])

const charts = new WeakMap<Element, () => string>()
/** SVG text of the chart in an element as it is drawn now; null if there is none. */
export function chartSvg(element: Element): string | null {
  const inner = element.querySelector('.chart') ?? element
  return (charts.get(element) ?? charts.get(inner))?.() ?? null
}

interface DrawOptions {
  /** Inputs of the drawing; it is drawn again when one of them changes. */
  readonly depends: () => readonly unknown[]
  readonly onDrawn?: () => void
}
export interface SheetOptions extends DrawOptions {
  readonly picture: (size: Size) => Picture
}
export interface OptionSheetOptions extends DrawOptions {
  readonly option: (p: Palette, size: Size) => EChartsCoreOption
}
export interface Sheet extends BoxSize {
  /** Picture that was drawn last. */
  readonly shown: () => Picture | null
}

export function useSheet(element: Readonly<Ref<HTMLElement | null>>, options: SheetOptions): Sheet {
  let shown: Picture | null = null
  const size = useOptionSheet(element, {
    ...options,
    option: (p, box) => {
      shown = options.picture(box)
      return chartOption(p, shown, box)
    },
  })
  return { ...size, shown: () => shown }
}

export function useOptionSheet(element: Readonly<Ref<HTMLElement | null>>, options: OptionSheetOptions): BoxSize {
  const { width, height } = useBoxSize(element)
  const { pixelRatio } = useDevicePixelRatio()
  let chart: EChartsType | null = null
  let seriesCount = 0

  function draw(): void {
    const box = { width: width.value, height: height.value }
    if (element.value === null || box.width <= 0 || box.height <= 0) return
    const option = options.option(palette.value, box)
    if (!hasCanvas()) return options.onDrawn?.()
    const devicePixelRatio = pixelRatio.value || 1
    if (chart === null) {
      chart = init(element.value, null, { renderer: 'canvas', devicePixelRatio, ...box })
      // Nothing is animated and each change is flushed: its own loop would only request empty frames.
      chart.getZr().animation.start = () => undefined
      drawnRatio = devicePixelRatio
    } else if (devicePixelRatio !== drawnRatio) {
      chart.dispose()
      chart = null
      return draw()
    } else if (chart.getWidth() !== box.width || chart.getHeight() !== box.height) chart.resize(box)
    const { length } = option['series'] as readonly unknown[]
    // A removed series must not stay drawn.
    chart.setOption(option, length < seriesCount ? { replaceMerge: ['series'] } : {})
    seriesCount = length
    chart.getZr().flush()
    options.onDrawn?.()
  }
  let drawnRatio = 1
  let last: readonly unknown[] = []
  watch([options.depends, palette, width, height, pixelRatio], ([next, ...rest]) => {
    const now = [...next, ...rest]
    if (now.length === last.length && now.every((v, i) => Object.is(v, last[i]))) return
    last = now
    drawSoon(draw)
  })
  onMounted(() => {
    if (element.value === null) return
    charts.set(element.value, () => {
      const size = { width: width.value, height: height.value }
      return svgText(options.option(palette.value, size), size)
    })
    drawSoon(draw)
  })
  onBeforeUnmount(() => {
    chart?.dispose()
    chart = null
    if (element.value !== null) charts.delete(element.value)
  })
  return { width, height }
}

function svgText(option: EChartsCoreOption, size: Size): string {
  const sheet = init(null, null, { renderer: 'svg', ssr: true, width: size.width, height: size.height })
  sheet.setOption({ ...option, backgroundColor: palette.value['bg-surface'] })
  const text = sheet.renderToSVGString()
  sheet.dispose()
  return text
}
