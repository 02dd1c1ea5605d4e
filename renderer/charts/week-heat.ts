/** Heatmap of days by quarter hours: its cells, and its ECharts option. */
import { HeatmapChart } from 'echarts/charts'
import { VisualMapContinuousComponent } from 'echarts/components'
import { use, type EChartsCoreOption } from 'echarts/core'
import { formatDay } from '../format/units.ts'
import type { Palette } from '../theme/palette.ts'
import { gapHatch } from './option.ts'

use([HeatmapChart, VisualMapContinuousComponent])

export const QUARTER_MS = 900_000
/** Quarter hours of a day. */
export const QUARTERS = 96
export const ROW_PX = 18
export const WEEK_MARGINS = { left: 52, right: 14 } as const
const SCALE = ['seq-0', 'seq-1', 'seq-2', 'seq-3', 'seq-4', 'seq-5', 'seq-6', 'seq-7', 'seq-8', 'seq-9'] as const

export interface WeekProps {
  readonly days: readonly { readonly fromMs: number; readonly values: readonly (number | null)[] }[]
  /** End of the scale. */
  readonly top: number
  readonly kept: { readonly fromMs: number; readonly toMs: number } | null
  /** Day shown in the day chart. */
  readonly dayMs: number
}
export interface WeekCell {
  readonly quarter: number
  readonly row: number
  /** null: a gap between measured cells. */
  readonly value: number | null
}

/** True if a quarter hour lies between measured ones, so that a missing value is a gap. */
export const isGap = ({ kept }: Pick<WeekProps, 'kept'>, fromMs: number): boolean =>
  kept !== null && fromMs >= kept.fromMs && fromMs + QUARTER_MS <= kept.toMs

/** Measured cells and gaps; other cells are empty. */
export const weekCells = (props: Pick<WeekProps, 'days' | 'kept'>): WeekCell[] =>
  props.days.flatMap(({ fromMs, values }, row) =>
    values
      .slice(0, QUARTERS)
      .map((value, quarter) => ({ quarter, row, value }))
      .filter(({ quarter, value }) => value !== null || isGap(props, fromMs + quarter * QUARTER_MS)),
  )

const hourText = (quarter: number): string => `${String(quarter / 4).padStart(2, '0')}:00`

export function weekOption(props: WeekProps, p: Palette, width: number): EChartsCoreOption {
  const { days, dayMs, top } = props
  const cellPx = Math.max(1, (width - WEEK_MARGINS.left - WEEK_MARGINS.right) / QUARTERS)
  const label = { fontSize: 10, fontFamily: p['font-ui'], color: p['text-3'] }
  const bare = { axisLine: { show: false }, axisTick: { show: false }, splitLine: { show: false } }
  return {
    animation: false,
    stateAnimation: { duration: 0 },
    hoverLayerThreshold: Infinity,
    grid: { ...WEEK_MARGINS, top: -1, height: days.length * ROW_PX, containLabel: false, outerBoundsMode: 'none' },
    xAxis: {
      type: 'category',
      data: Array.from({ length: QUARTERS }, (_, quarter) => hourText(quarter)),
      ...bare,
      axisLabel: {
        ...label,
        interval: (quarter: number) => quarter % 12 === 0,
        align: 'left',
        padding: [0, 0, 0, -cellPx / 2],
        margin: 6,
      },
    },
    yAxis: {
      type: 'category',
      inverse: true,
      data: days.map(({ fromMs }) => formatDay(fromMs).split(' ').slice(0, 2).join(' ')),
      ...bare,
      axisLabel: {
        ...label,
        interval: 0,
        margin: 7,
        color: (_: string, row: number) => (days[row]?.fromMs === dayMs ? p['text-2'] : p['text-3']),
      },
    },
    visualMap: {
      type: 'continuous',
      show: false,
      min: 0,
      max: top || 1,
      dimension: 2,
      inRange: { color: SCALE.map((token) => p[token]) },
    },
    series: [
      {
        id: 'cells',
        type: 'heatmap',
        silent: true,
        animation: false,
        emphasis: { disabled: true },
        itemStyle: { borderColor: p['bg-surface'], borderWidth: 1, borderRadius: 1 },
        data: weekCells(props).map(({ quarter, row, value }) =>
          value === null
            ? { value: [quarter, row, 0], visualMap: false, itemStyle: gapHatch(p) }
            : { value: [quarter, row, value] },
        ),
      },
    ],
  }
}
