/** Charts over the span: lines or stacked areas, a common cursor, values at the pointer. */
/** @typedef {import("./data.js").Column} Column */
import { all, both, data, largest, meanOf, nearestTo } from './data.js'
import { clock, day, scaled, scaleOf, tick } from './figures.js'
import { el, panel, setText, svg } from './make.js'
import { clockTicks, hatch, msOf, niceEnd, paths, xOf } from './plot.js'
import { cursorAt, follow, goTo } from './time.js'

/**
 * @typedef {{ name: string, ink: number, values: (number | null)[] }} Series
 * @typedef {{ title: string, unit: string, of: 'count' | 'bytes' | 'ms', series: Series[], isStacked: boolean }} Chart
 */

const CHART_PX = 188
/** Time index under the pointer in any chart; -1: none. */
let hovered = -1
/** @type {(() => void)[]} */
const hoverers = []

/** @param {number} i */
function hover(i) {
  if (i === hovered) return
  hovered = i
  for (const show of hoverers) show()
}

/**
 * Baseline of each series.
 *
 * @param {Chart} chart
 */
function layersOf({ series, isStacked }) {
  const sums = data.t.map(() => 0)
  return series.map((s) => {
    const under = isStacked ? [...sums] : undefined
    const top = s.values.map((v, i) => {
      if (v === null || !under) return v
      sums[i] = (sums[i] ?? 0) + v
      return sums[i] ?? 0
    })
    return { ...s, top, under }
  })
}

/** @param {Chart} chart */
export function chartPanel(chart) {
  const layers = layersOf(chart)
  const most = layers.reduce((m, l) => Math.max(m, largest(l.top)), 0)
  const scale = scaleOf(most, chart.of, chart.unit)
  const end = niceEnd(most / scale.divisor)
  const legend = el('ul', { class: 'legend' })
  const values = layers.map((l) => {
    const value = el('b', {})
    legend.append(el('li', {}, el('i', { class: `sw k${l.ink}` }), el('bdi', {}, l.name), value))
    return value
  })
  const picture = svg('svg', {
    role: 'img',
    'aria-label': `${chart.title}, ${scale.unit}`,
    class: 'plot',
    height: CHART_PX,
  })
  const { element, note } = panel(chart.title, scale.unit, legend, picture)
  const cursor = svg('line', { class: 'cursor' })
  const cross = svg('line', { class: 'cross' })
  let box = { left: 46, right: 400, top: 8, bottom: CHART_PX - 20, max: end.max * scale.divisor }

  function draw() {
    const width = Math.max(240, picture.clientWidth || element.clientWidth)
    box = { ...box, right: width - 12 }
    picture.setAttribute('viewBox', `0 0 ${width} ${CHART_PX}`)
    /** @type {Element[]} */
    const parts = [svg('path', { d: hatch(box), class: 'hatch' })]
    for (let v = 0; v <= end.max * 1.0001; v += end.step) {
      const y = Math.round(box.bottom - (v / end.max) * (box.bottom - box.top)) + 0.5
      parts.push(svg('line', { x1: box.left, x2: box.right, y1: y, y2: y, class: v === 0 ? 'axis' : 'grid' }))
      parts.push(svg('text', { x: box.left - 6, y: y + 3.5, class: 'end' }, tick(Number(v.toPrecision(6)))))
    }
    const { out, every } = clockTicks(Math.floor((box.right - box.left) / 80))
    for (const t of out) {
      const words = every >= 86400000 ? day(t) : clock(t, every < 60000)
      const x = Math.max(box.left + 8, Math.min(box.right - 16, xOf(box, t)))
      parts.push(svg('text', { x, y: CHART_PX - 5, class: 'mid' }, words))
    }
    for (const l of layers) {
      const { line, area } = paths(box, l.top, l.under)
      parts.push(svg('path', { d: area, class: `area k${l.ink}${chart.isStacked ? ' stacked' : ''}` }))
      parts.push(svg('path', { d: line, class: `line k${l.ink}${chart.isStacked ? ' stacked' : ''}` }))
    }
    picture.replaceChildren(...parts, cross, cursor)
    show()
  }
  function show() {
    const i = hovered >= 0 ? hovered : cursorAt()
    place(cursor, cursorAt())
    place(cross, hovered)
    setText(note, hovered >= 0 ? `${scale.unit} at ${clock(data.t[i] ?? 0)}` : scale.unit)
    layers.forEach((l, k) => setText(/** @type {Node} */ (values[k]), scaled(l.values[i], scale)))
  }
  /**
   * @param {SVGLineElement} line
   * @param {number} i
   */
  function place(line, i) {
    line.style.display = i < 0 ? 'none' : ''
    if (i < 0) return
    const x = String(Math.round(xOf(box, data.t[i] ?? 0) * 2) / 2)
    for (const name of ['x1', 'x2']) line.setAttribute(name, x)
    line.setAttribute('y1', String(box.top))
    line.setAttribute('y2', String(box.bottom))
  }
  /** @param {PointerEvent} event */
  const instant = (event) => nearestTo(msOf(box, event.clientX - picture.getBoundingClientRect().left))
  picture.addEventListener('pointermove', (event) => {
    hover(instant(event))
    if (event.buttons & 1) goTo(hovered)
  })
  picture.addEventListener('pointerleave', () => hover(-1))
  picture.addEventListener('pointerdown', (event) => {
    if (event.button === 0) goTo(instant(event))
  })
  hoverers.push(show)
  new ResizeObserver(draw).observe(picture)
  draw()
  follow(show)
  return element
}

/**
 * Bytes/s of the jobs with the most bytes, and of all other jobs together.
 *
 * @returns {Series[]}
 */
function bytesByJob() {
  const jobs = data.jobs.map((job) => ({ job, values: both(job.readBps, job.writeBps) }))
  jobs.sort((a, b) => meanOf(b.values) - meanOf(a.values))
  const shown = jobs.slice(0, 7).filter(({ values }) => meanOf(values) > 0)
  const rest = both(data.other.readBps, data.other.writeBps)
  for (const { values } of jobs.slice(shown.length))
    values.forEach((v, i) => (rest[i] = v === null ? (rest[i] ?? null) : (rest[i] ?? 0) + v))
  const free = [1, 2, 3, 4, 5, 6, 7].filter((ink) => !shown.some(({ job }) => job.ink === ink))
  const series = shown.map(({ job, values }) => ({ name: job.name, ink: job.ink || (free.shift() ?? 0), values }))
  return data.other.jobs > 0 || jobs.length > shown.length
    ? [...series, { name: 'other', ink: 0, values: rest }]
    : series
}

export function charts() {
  const { rpcs, serviceMs, queued } = data.cluster
  return el(
    'div',
    { class: 'charts' },
    chartPanel({
      title: 'Bytes by job',
      unit: '',
      of: 'bytes',
      isStacked: true,
      series: bytesByJob(),
    }),
    chartPanel({
      title: 'Total RPCs',
      unit: 'RPC/s',
      of: 'count',
      isStacked: false,
      series: [{ name: 'all jobs', ink: 4, values: all(rpcs) }],
    }),
    chartPanel({
      title: 'Service time',
      unit: 'ms',
      of: 'ms',
      isStacked: false,
      series: [{ name: 'mean over all RPCs', ink: 2, values: all(serviceMs) }],
    }),
    chartPanel({
      title: 'Queued RPCs',
      unit: '',
      of: 'count',
      isStacked: false,
      series: [{ name: 'all targets', ink: 5, values: all(queued) }],
    }),
  )
}

/**
 * Sparkline of a tile, with the cursor.
 *
 * @param {Column} column
 * @param {number} ink
 */
export function sparkline(column, ink) {
  const values = all(column)
  const box = { left: 0, right: 200, top: 3, bottom: 36, max: largest(values) * 1.05 || 1 }
  const { line, area } = paths(box, values)
  const cursor = svg('line', { class: 'cursor', y1: 0, y2: 36, 'vector-effect': 'non-scaling-stroke' })
  follow((i) => {
    const x = String(xOf(box, data.t[i] ?? 0))
    cursor.setAttribute('x1', x)
    cursor.setAttribute('x2', x)
  })
  const stroke = { d: line, class: `line k${ink}`, 'vector-effect': 'non-scaling-stroke' }
  const attributes = { viewBox: '0 0 200 36', preserveAspectRatio: 'none', class: 'spark', 'aria-hidden': 'true' }
  return svg('svg', attributes, svg('path', { d: area, class: `area k${ink}` }), svg('path', stroke), cursor)
}
