/**
 * One ECharts instance in one element: only the required parts, canvas, no animation, no tooltip (values are shown in
 * the legend, as text). Charts of a page share their crosshair through one group.
 */
import { LineChart } from 'echarts/charts'
import { AxisPointerComponent, GridComponent, MarkLineComponent } from 'echarts/components'
import { connect, init, use, type EChartsCoreOption, type EChartsType } from 'echarts/core'
import { CanvasRenderer } from 'echarts/renderers'
import { useResizeObserver } from '@vueuse/core'
import { onBeforeUnmount, onMounted, watch, type Ref } from 'vue'

use([LineChart, GridComponent, AxisPointerComponent, MarkLineComponent, CanvasRenderer])
const GROUP = 'page'
connect(GROUP)

interface PointerEvent {
  axesInfo?: { value?: number }[]
}

/**
 * @param depends  inputs of the option. A change is drawn in a task of its own: the numbers of the page come first, and
 * the charts of a view do not add up to one long task.
 * @param hover    instant under the crosshair, null when it leaves.
 */
export function useEChart(
  element: Readonly<Ref<HTMLElement | null>>,
  depends: () => readonly unknown[],
  option: () => EChartsCoreOption,
  hover?: (atMs: number | null) => void,
): void {
  let chart: EChartsType | null = null
  let series = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  function apply(): void {
    timer = undefined
    if (chart === null) return
    const next = option()
    const count = Array.isArray(next['series']) ? next['series'].length : 0
    // A removed series must not stay drawn.
    chart.setOption(next, count < series ? { replaceMerge: ['series'] } : {})
    series = count
  }
  onMounted(() => {
    if (element.value === null || element.value.clientWidth === 0) return
    chart = init(element.value, null, { renderer: 'canvas', useDirtyRect: false })
    chart.group = GROUP
    chart.getZr().setSleepAfterStill(1) // its own loop would paint ten idle frames after every change
    if (hover) {
      chart.on('updateAxisPointer', (event) => hover((event as PointerEvent).axesInfo?.[0]?.value ?? null))
      chart.getZr().on('globalout', () => hover(null))
    }
    apply()
  })
  useResizeObserver(element, ([entry]) => {
    const box = entry?.contentRect
    if (chart !== null && box && box.width > 0 && (box.width !== chart.getWidth() || box.height !== chart.getHeight()))
      chart.resize()
  })
  watch(depends, () => {
    timer ??= setTimeout(apply)
  })
  onBeforeUnmount(() => {
    clearTimeout(timer)
    chart?.dispose()
  })
}
