/**
 * One ECharts instance in one element: only the parts in use, canvas, no animation, no tooltip (values stand in the
 * legend, as text). Charts of a page share their crosshair through one group.
 */
import { BarChart, LineChart } from 'echarts/charts'
import { AxisPointerComponent, GridComponent, MarkAreaComponent, MarkLineComponent } from 'echarts/components'
import { connect, init, use, type EChartsCoreOption, type EChartsType } from 'echarts/core'
import { CanvasRenderer } from 'echarts/renderers'
import { useResizeObserver } from '@vueuse/core'
import { onBeforeUnmount, onMounted, watch, type Ref } from 'vue'

use([LineChart, BarChart, GridComponent, AxisPointerComponent, MarkAreaComponent, MarkLineComponent, CanvasRenderer])
const GROUP = 'page'
connect(GROUP)

interface PointerEvent {
  axesInfo?: { value?: number }[]
}

/**
 * @param option  read reactively; called again when what it reads changes.
 * @param hover   instant under the crosshair, null when it leaves.
 */
export function useEChart(
  element: Readonly<Ref<HTMLElement | null>>,
  option: () => EChartsCoreOption | null,
  hover?: (atMs: number | null) => void,
): void {
  let chart: EChartsType | null = null
  let series = 0
  function apply(): void {
    const next = option()
    if (chart === null || next === null) return
    const count = Array.isArray(next['series']) ? next['series'].length : 0
    // A series that has gone must not stay drawn.
    chart.setOption(next, count < series ? { lazyUpdate: true, replaceMerge: ['series'] } : { lazyUpdate: true })
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
  watch(option, apply)
  onBeforeUnmount(() => chart?.dispose())
}
