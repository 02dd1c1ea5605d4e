/** Charts over the span: lines or stacked areas, a common cursor, values at the pointer. */
import { formatClock } from '#core/base/clock-text.ts'
import { niceMax, tickStep } from '#core/base/scale.ts'
import { valuesOf } from '#core/snapshot/column.ts'
import type { Column, ReplayPlane } from '#core/snapshot/replay-data.ts'
import { bytesByJob } from '#core/snapshot/standard-charts.ts'
import { factText, overTime } from '../charts/facts.ts'
import type { Layer, Picture, Size, Values } from '../charts/picture.ts'
import { largest, stackedMax } from '../charts/scale.ts'
import { inkToken, inkVar, type Palette } from '../theme/palette.ts'
import { coursesOf } from './courses.ts'
import { cursorAt, follow, goTo } from './cursor.ts'
import { count, data, nearestTo } from './data.ts'
import { colored, el, panel, setText } from './elements.ts'
import { scaled, scaleOf, type Kind } from './measures.ts'
import { sheetOf, spanPicture, timeAt } from './sheet.ts'

interface Series {
  readonly name: string
  readonly ink: number
  readonly values: Values
}
interface Chart {
  readonly title: string
  readonly unit: string
  readonly kind: Kind
  readonly series: readonly Series[]
  readonly isStacked: boolean
}

/** Time index under the pointer in any chart; -1: none. */
let hovered = -1
const hoverers: (() => void)[] = []
function hover(i: number): void {
  if (i === hovered) return
  hovered = i
  for (const show of hoverers) show()
}

const areaLayer = (p: Palette, ink: number): Pick<Layer, 'stack' | 'fill' | 'stroke'> => ({
  stack: 'jobs',
  fill: { color: p[inkToken(ink)], opacity: 0.82 },
  stroke: { color: p['bg-surface'], width: 0.6 },
})
const lineLayer = (p: Palette, ink: number): Pick<Layer, 'fill' | 'stroke'> => ({
  fill: { color: p[inkToken(ink)], opacity: 0.16 },
  stroke: { color: p[inkToken(ink)], width: 1.3 },
})

function chartPanel({ title, unit, kind, series, isStacked }: Chart): HTMLElement {
  const most = isStacked ? stackedMax(series) : largest(series.flatMap(({ values }) => values))
  const scale = scaleOf(most, kind, unit)
  const end = niceMax(most / scale.divisor)
  // A pool may be negative.
  const lowest = largest(series.flatMap(({ values }) => values.map((v) => (v === null ? null : -v))))
  const low = isStacked || lowest <= 0 ? 0 : -niceMax(lowest / scale.divisor)
  const step = tickStep(Math.max(end, -low))
  const legend = el('ul', { class: 'legend' })
  const readouts = series.map(({ name, ink }) => {
    const readout = el('b')
    legend.append(el('li', {}, colored(el('i', { class: 'sw' }), inkVar(ink)), el('bdi', {}, name), readout))
    return readout
  })
  const { divisor } = scale
  const measure = scale.unit === '' ? title : `${title}, ${scale.unit}`
  const facts = factText(overTime(measure, data.t, series, { divisor, isStacked }))
  const cross = el('i', { class: 'cross' })
  const cursor = el('i', { class: 'cursor' })
  const looksOf = isStacked ? areaLayer : lineLayer
  function picture(p: Palette, size: Size): Picture {
    const courses = coursesOf(
      series.map(({ values }) => values),
      size,
    )
    return {
      ...spanPicture(),
      ends: { min: low * divisor, max: end * divisor, step: step * divisor },
      divisor,
      layers: series.map(({ ink }, s) => ({ t: courses.t, values: courses.values[s] ?? [], ...looksOf(p, ink) })),
    }
  }
  const sheet = sheetOf(picture, () => show())
  const plot = el('div', { class: 'plot', role: 'img', 'aria-label': facts }, sheet.element, cross, cursor)
  const { element, note } = panel(title, scale.unit, legend, plot)

  function show(): void {
    const i = hovered >= 0 ? hovered : cursorAt()
    sheet.place(cursor, cursorAt())
    sheet.place(cross, hovered)
    setText(note, hovered >= 0 ? `${scale.unit} at ${formatClock(data.t[i] ?? 0)}`.trim() : scale.unit)
    readouts.forEach((readout, k) => setText(readout, scaled(series[k]?.values[i], scale)))
  }
  const indexOf = (event: MouseEvent): number => {
    const area = sheet.area()
    return area ? nearestTo(timeAt(area, event.clientX - plot.getBoundingClientRect().left)) : cursorAt()
  }
  plot.addEventListener('pointermove', (event) => {
    hover(indexOf(event))
    if (event.buttons & 1) goTo(hovered)
  })
  plot.addEventListener('pointerleave', () => hover(-1))
  plot.addEventListener('pointerdown', (event) => {
    if (event.button === 0) goTo(indexOf(event))
  })
  hoverers.push(show)
  follow(show)
  return element
}

const lineChart = (title: string, name: string, column: Column, kind: Kind, unit: string, ink: number): HTMLElement =>
  chartPanel({ title, unit, kind, isStacked: false, series: [{ name, ink, values: valuesOf(column, count) }] })

export function charts(): HTMLElement {
  const { rpcs, serviceMs, queued } = data.cluster
  const byJob = bytesByJob(data).map(({ label, ink, values }) => ({ name: label.text, ink, values }))
  return el(
    'div',
    { class: 'charts' },
    chartPanel({ title: 'Bytes by job', unit: '', kind: 'bytes', isStacked: true, series: byJob }),
    lineChart('Total RPCs', 'all jobs', rpcs, 'count', 'RPC/s', 4),
    lineChart('Service time', 'mean over all RPCs', serviceMs, 'ms', 'ms', 2),
    lineChart('Queued RPCs', 'all targets', queued, 'count', '', 5),
  )
}

/** Charts of one of locks, metadata and tokens. */
export function planeCharts(plane: ReplayPlane['plane']): HTMLElement[] {
  return data.planeCharts
    .filter((chart) => chart.plane === plane)
    .map(({ title, unit, isStacked, lines }) =>
      chartPanel({
        title,
        unit,
        isStacked,
        kind: unit === 'ms' ? 'ms' : 'count',
        series: lines.map(({ name, ink, values }) => ({ name, ink, values: valuesOf(values, count) })),
      }),
    )
}

/** Sparkline of a tile, with the cursor. */
export function sparkline(column: Column, ink: number): HTMLElement {
  const values = valuesOf(column, count)
  const cursor = el('i', { class: 'cursor' })
  function picture(p: Palette, size: Size): Picture {
    const courses = coursesOf([values], size)
    return {
      ...spanPicture(),
      ends: { min: 0, max: largest(values) * 1.05 || 1, step: 0 },
      margins: { left: 0, right: 0, top: 3, bottom: 0 },
      ticks: () => [],
      hasGrid: false,
      ranges: [],
      layers: [{ t: courses.t, values: courses.values[0] ?? [], ...lineLayer(p, ink) }],
    }
  }
  const sheet = sheetOf(picture, () => sheet.place(cursor, cursorAt()))
  follow((i) => sheet.place(cursor, i))
  return el('div', { class: 'spark', 'aria-hidden': 'true' }, sheet.element, cursor)
}
