/**
 * A frozen chart as stand-alone SVG 1.1: light colors, no styles, scripts or external resources, so that it looks the same in a
 * ticket, in a paper and in a bundle's page, which restyles it by class names. Text from other sources is escaped and remains
 * text.
 *
 * Two or more areas are stacked in order, the last on top; lines and a single area start at zero. Gaps are hatched, and no line
 * crosses them.
 */
import { secondShade } from '../base/categorical-color.ts'
import { formatClock, formatDate } from '../base/clock-text.ts'
import { formatNumber, formatTick } from '../base/figure-text.ts'
import { plainText } from '../base/plain-text.ts'
import { niceMax, tickStep } from '../base/scale.ts'
import type { ChartCell } from './notebook.ts'

const TEXT_1 = '#131a20'
const HUES = ['#006aaf', '#b87f00', '#008560', '#2f8fc6', '#bd4c00', '#b65c8c', '#918531']
/** Colors of the light theme (renderer/theme/tokens.css). */
export const LIGHT = {
  surface: '#ffffff',
  sunken: '#eff3f6',
  text1: TEXT_1,
  text2: '#43515d',
  text3: '#5b6975',
  line1: '#e1e7ec',
  grid: '#e6ebef',
  axis: '#b4c0c9',
  hatch: '#d8e0e6',
  inks: ['#69686b', ...HUES, ...HUES.map((hue) => secondShade(hue, TEXT_1))],
  levels: { ok: '#006a4b', watch: '#855600', bad: '#ad4300', idle: '#5b6975', unknown: '#5b6975' },
} as const

const FONT = "Inter, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"

/** Escapes text for XML content and attributes; drops characters that XML does not allow. */
export const xmlText = (text: string): string =>
  plainText(text)
    .replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]|[\uFFFE\uFFFF]/g, '\uFFFD')
    .replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)

export interface ChartSize {
  readonly width?: number
  readonly height?: number
  /** Sluice version that drew it. */
  readonly version?: string
}

interface Plot {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
  /** Ends of the value axis; min is 0 unless there are negative values. */
  readonly min: number
  readonly max: number
  readonly x: (atMs: number) => number
  readonly y: (value: number) => number
}

/** Rounds to a tenth of a pixel. */
const px = (v: number): string => String(Math.round(v * 10) / 10)

type Attributes = Readonly<Record<string, string | number>>
function tag(name: string, attributes: Attributes, inside?: string): string {
  const attrs = Object.entries(attributes).map(([k, v]) => ` ${k}="${typeof v === 'number' ? px(v) : v}"`)
  return inside === undefined ? `<${name}${attrs.join('')}/>` : `<${name}${attrs.join('')}>${inside}</${name}>`
}

const text = (content: string, x: number, y: number, more: Attributes = {}): string =>
  tag('text', { x, y, 'font-size': 10.5, fill: LIGHT.text3, class: 'c-t3', ...more }, xmlText(content))

type Mark = ChartCell['marks'][number]

/** Estimated width, px, because the chart is laid out without known fonts: wide scripts take an em, others a little over half. */
export function widthOf(text: string, fontPx: number): number {
  let ems = 0
  for (const c of text) {
    const code = c.codePointAt(0) ?? 0
    ems += code >= 0x1100 ? 1 : /[\sil.,:;'|!·]/.test(c) ? 0.3 : /[A-Zmw@%]/.test(c) ? 0.72 : 0.57
  }
  return ems * fontPx
}

/** Cuts a text to `most` characters including an ellipsis, never within a character. */
function clipped(text: string, most: number): string {
  const characters = [...text]
  return characters.length <= most ? text : `${characters.slice(0, Math.max(1, most - 1)).join('')}…`
}

interface PlacedMark {
  readonly x: number
  readonly level: Mark['level']
  readonly text: string
  /** Label row above the plot; null: no space, so the stroke has no label. */
  readonly row: number | null
  readonly textX: number
  readonly anchor: 'start' | 'end'
}

const LABEL_ROWS = 3
const LABEL_PX = 10.5

/** Places mark labels from left to right in up to three rows, without overlap. */
export function placeMarks(
  marks: readonly Mark[],
  x: (atMs: number) => number,
  left: number,
  right: number,
): { readonly placed: PlacedMark[]; readonly rows: number } {
  const ends = Array.from({ length: LABEL_ROWS }, () => -Infinity)
  const inside = [...marks].sort((a, b) => a.atMs - b.atMs).filter((m) => x(m.atMs) >= left && x(m.atMs) <= right)
  let rows = 0
  const placed = inside.map((m): PlacedMark => {
    const at = x(m.atMs)
    const text = clipped(plainText(m.text), 36)
    const width = widthOf(text, LABEL_PX)
    const isBefore = at + 4 + width > right
    const [from, to] = isBefore ? [at - 4 - width, at - 4] : [at + 4, at + 4 + width]
    const row = from < left ? -1 : ends.findIndex((end) => from > end + 8)
    if (row < 0) return { x: at, level: m.level, text, row: null, textX: at, anchor: 'start' }
    ends[row] = Math.max(to, at)
    rows = Math.max(rows, row + 1)
    return { x: at, level: m.level, text, row, textX: isBefore ? at - 4 : at + 4, anchor: isBefore ? 'end' : 'start' }
  })
  return { placed, rows }
}

type Values = readonly (number | null)[]

/** Runs of indices without a gap; a hole in time counts as a gap. */
function runs(t: readonly number[], values: Values): [number, number][] {
  const steps = t.slice(1).map((at, i) => at - (t[i] ?? at))
  const usual = steps.toSorted((a, b) => a - b)[steps.length >> 1] ?? 0
  const out: [number, number][] = []
  let from = -1
  for (let i = 0; i <= t.length; i++) {
    const isGap = i === t.length || (values[i] ?? null) === null
    if (from >= 0 && (isGap || (steps[i - 1] ?? 0) > usual * 3.5)) {
      out.push([from, i - 1])
      from = -1
    }
    if (!isGap && from < 0) from = i
  }
  return out
}

const line = (plot: Plot, t: readonly number[], top: Values, [from, to]: readonly [number, number]): string => {
  let d = ''
  for (let i = from; i <= to; i++) d += `${d === '' ? 'M' : 'L'}${px(plot.x(t[i] ?? 0))} ${px(plot.y(top[i] ?? 0))}`
  // A single sample between two gaps is drawn as a point.
  return from === to ? `${d}h0.01` : d
}

function area(plot: Plot, t: readonly number[], top: Values, under: Values, run: readonly [number, number]): string {
  let d = line(plot, t, top, run)
  for (let i = run[1]; i >= run[0]; i--) d += `L${px(plot.x(t[i] ?? 0))} ${px(plot.y(under[i] ?? 0))}`
  return `${d}Z`
}

/** Slanted strokes that fill a box: a pattern needs an id, which two charts of one page would share. */
function hatch(x0: number, x1: number, y0: number, y1: number): string {
  const h = y1 - y0
  let d = ''
  for (let c = x0 - h; c < x1; c += 6) {
    const a = Math.max(c, x0)
    const b = Math.min(c + h, x1)
    if (b > a) d += `M${px(a)} ${px(y1 - (a - c))}L${px(b)} ${px(y1 - (b - c))}`
  }
  return d
}

/** Time ranges in which no series has a value. */
function gapsOf(cell: ChartCell): [number, number][] {
  const { t, series } = cell
  const any = t.map((_, i) => (series.some((s) => (s.values[i] ?? null) !== null) ? 1 : null))
  const joined = runs(t, any)
  const from = cell.of.fromMs
  const to = cell.of.toMs
  const edges = [from, ...joined.flatMap(([a, b]) => [t[a] ?? from, t[b] ?? to]), to]
  const usual = t.length > 1 ? ((t.at(-1) ?? 0) - (t[0] ?? 0)) / (t.length - 1) : to - from
  const out: [number, number][] = []
  for (let i = 0; i + 1 < edges.length; i += 2) {
    const a = edges[i] ?? 0
    const b = edges[i + 1] ?? 0
    if (b - a > 2.5 * usual) out.push([a, b])
  }
  return joined.length === 0 ? [[from, to]] : out
}

/** Tick intervals, s. */
const STEPS_S = [1, 2, 5, 10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400]
export function clockStepMs(spanMs: number, most: number): number {
  const step = STEPS_S.find((s) => spanMs / (s * 1000) <= most)
  return (step ?? 86_400 * Math.ceil(spanMs / 86_400_000 / most)) * 1000
}

function axes(plot: Plot, fromMs: number, toMs: number): string {
  let out = ''
  const step = tickStep(Math.max(plot.max, -plot.min))
  for (let k = Math.ceil(plot.min / step - 1e-4); k * step <= plot.max * 1.0001; k++) {
    const v = k * step
    const y = Math.round(plot.y(v)) + 0.5
    const stroke = v === 0 ? LIGHT.axis : LIGHT.grid
    out += tag('line', {
      fill: 'none',
      x1: plot.left,
      x2: plot.right,
      y1: y,
      y2: y,
      stroke,
      class: v === 0 ? 'c-axis' : 'c-grid',
    })
    out += text(formatTick(Number(v.toPrecision(6))), plot.left - 6, y + 3.5, { 'text-anchor': 'end' })
  }
  const every = clockStepMs(toMs - fromMs, Math.max(2, Math.floor((plot.right - plot.left) / 90)))
  for (let at = Math.ceil(fromMs / every) * every; at <= toMs; at += every) {
    const label = every >= 86_400_000 ? formatDate(at) : formatClock(at, every < 60_000)
    const half = widthOf(label, 10.5) / 2
    const x = Math.min(Math.max(plot.x(at), plot.left + half - 6), plot.right - half + 6)
    out += tag('line', {
      fill: 'none',
      x1: plot.x(at),
      x2: plot.x(at),
      y1: plot.bottom,
      y2: plot.bottom + 4,
      stroke: LIGHT.axis,
      class: 'c-axis',
    })
    out += text(label, x, plot.bottom + 16, { 'text-anchor': 'middle' })
  }
  return out
}

/** Baseline of each series; only stacked areas have another series as baseline. */
function grounds(cell: ChartCell): { under: number[][]; top: (number | null)[][] } {
  const isStacked = cell.series.filter((s) => s.area).length > 1
  const sums = cell.t.map(() => 0)
  const under: number[][] = []
  const top = cell.series.map((s) => {
    const below = s.area && isStacked ? [...sums] : cell.t.map(() => 0)
    under.push(below)
    return cell.t.map((_, i) => {
      const v = s.values[i] ?? null
      if (v === null) return null
      if (s.area && isStacked) sums[i] = (sums[i] ?? 0) + v
      return (below[i] ?? 0) + v
    })
  })
  return { under, top }
}

function seriesOf(cell: ChartCell, plot: Plot, { under, top }: ReturnType<typeof grounds>): string {
  const isStacked = cell.series.filter((s) => s.area).length > 1
  return cell.series
    .map((s, k) => {
      const color = LIGHT.inks[s.ink] ?? LIGHT.inks[0]
      const upper = top[k] ?? []
      const below = under[k] ?? []
      const parts = runs(cell.t, upper)
      const areas = s.area ? parts.map((r) => area(plot, cell.t, upper, below, r)).join('') : ''
      const lines = parts.map((r) => line(plot, cell.t, upper, r)).join('')
      const fill = { fill: color, 'fill-opacity': isStacked ? '0.72' : '0.16', class: `c-i${s.ink}` }
      const stroke = {
        fill: 'none',
        stroke: color,
        'stroke-width': isStacked ? '0.8' : '1.6',
        class: `c-s${s.ink}`,
        'stroke-linejoin': 'round',
        'stroke-linecap': 'round',
      }
      return (areas ? tag('path', { d: areas, ...fill }) : '') + (lines ? tag('path', { d: lines, ...stroke }) : '')
    })
    .join('')
}

/** Right-aligned legend in one or more lines; returns its height. */
function legend(cell: ChartCell, left: number, right: number, y: number): { svg: string; lines: number } {
  let svg = ''
  let x = left
  let row = 0
  for (const s of cell.series) {
    const label = clipped(plainText(s.label.text), 28)
    const width = widthOf(label, 10.5) + 30
    if (x + width > right && x > left) [x, row] = [left, row + 1]
    const color = LIGHT.inks[s.ink] ?? LIGHT.inks[0]
    const at = y + row * 16
    const [y0, height] = s.area ? [at - 8, 8] : [at - 5.2, 2.4]
    svg += tag('rect', { x, y: y0, width: 10, height, rx: 1.2, fill: color, class: `c-i${s.ink}` })
    svg += text(label, x + 15, at, { fill: LIGHT.text2, class: 'c-t2' })
    x += width
  }
  return { svg, lines: cell.series.length === 0 ? 0 : row + 1 }
}

/** Text description of the values, for accessibility. */
function description(cell: ChartCell): string {
  const each = cell.series.map((s) => {
    const known = s.values.filter((v): v is number => v !== null)
    if (known.length === 0) return `${s.label.text}: no samples`
    const low = known.reduce((a, b) => Math.min(a, b))
    const high = known.reduce((a, b) => Math.max(a, b))
    const mean = known.reduce((a, b) => a + b, 0) / known.length
    const figure = (v: number): string => formatTick(Number(v.toPrecision(3)))
    return `${s.label.text}: ${figure(low)} to ${figure(high)}, mean ${figure(mean)}`
  })
  const marks = cell.marks.slice(0, 20).map((m) => `${formatClock(m.atMs)} ${m.text}`)
  const limit = cell.limit ? [`Limit ${formatNumber(cell.limit.value, 0)}: ${cell.limit.label}`] : []
  return [`Unit: ${cell.unit}`, ...each, ...limit, ...marks].join('. ')
}

/** Provenance of a chart, one line. */
export const provenanceText = (of: ChartCell['of'], version = ''): string[] => [
  `${of.cluster} ${of.kind}`,
  `${formatDate(of.fromMs)} ${formatClock(of.fromMs)}\u2013${formatClock(of.toMs)} UTC`,
  of.tier === 'raw' ? 'raw samples' : `means of ${of.tier}`,
  ...(of.frozenMs > 0 ? [`frozen ${formatClock(of.frozenMs)}`] : []),
  ...(version === '' ? [] : [`Sluice ${version}`]),
]

/** @param size  px; default 760 by 260. */
export function chartSvg(cell: ChartCell, size: ChartSize = {}): string {
  const { width = 760, height = 260, version = '' } = size
  const key = legend(cell, 14, width - 14, 44)
  const layers = grounds(cell)
  const high = layers.top.flat().reduce<number>((m, v) => Math.max(m, v ?? 0), cell.limit?.value ?? 0)
  const low = layers.top.flat().reduce<number>((m, v) => Math.min(m, v ?? 0), 0)
  const max = niceMax(high)
  const min = low < 0 ? -niceMax(-low) : 0
  const fromMs = cell.of.fromMs
  const toMs = Math.max(cell.of.toMs, cell.of.fromMs + 1)
  const left = 52
  const right = width - 16
  const bottom = height - 46
  const marks = placeMarks(cell.marks, (at) => left + ((at - fromMs) / (toMs - fromMs)) * (right - left), left, right)
  const top = 40 + key.lines * 16 + marks.rows * 13
  const plot: Plot = {
    left,
    right,
    top,
    bottom,
    min,
    max,
    x: (at) => left + Math.max(0, Math.min(1, (at - fromMs) / (toMs - fromMs))) * (right - left),
    y: (v) => bottom - ((Math.max(min, Math.min(v, max)) - min) / (max - min)) * (bottom - top),
  }
  const title = plainText(cell.title)
  const place = cell.place.names.length === 0 ? '' : clipped(plainText(cell.place.names.join(', ')), 40)
  const heading = clipped(title, Math.max(8, Math.floor((width - 40) / 7.4) - place.length - cell.unit.length))
  let body = tag('rect', { width, height, fill: LIGHT.surface, class: 'c-ground' })
  body += text(heading, 14, 23, { 'font-size': 13, 'font-weight': 600, fill: LIGHT.text1, class: 'c-t1' })
  body += text([place, cell.unit].filter(Boolean).join(' · '), 14 + widthOf(heading, 13) * 1.06 + 10, 23)
  body += key.svg
  const gaps = gapsOf(cell)
    .map(([a, b]) => hatch(plot.x(a), plot.x(b), top, bottom))
    .join('')
  if (gaps) body += tag('path', { d: gaps, stroke: LIGHT.hatch, 'stroke-width': 1.5, fill: 'none', class: 'c-hatch' })
  body += axes(plot, fromMs, toMs) + seriesOf(cell, plot, layers)
  if (cell.limit) {
    const y = plot.y(cell.limit.value)
    body += tag('line', {
      fill: 'none',
      x1: left,
      x2: right,
      y1: y,
      y2: y,
      stroke: LIGHT.text2,
      'stroke-dasharray': '5 4',
      class: 'c-limit',
    })
    body += text(clipped(plainText(cell.limit.label), 40), right, y - 4, {
      'text-anchor': 'end',
      fill: LIGHT.text2,
      class: 'c-t2',
    })
  }
  for (const m of marks.placed) {
    // A tick without space for its label only indicates an event; a full stroke would hide the curves.
    const y1 = m.row === null ? bottom - 7 : 40 + key.lines * 16 + m.row * 13 + 3
    const stroke = LIGHT.levels[m.level]
    body += tag('line', {
      fill: 'none',
      x1: m.x,
      x2: m.x,
      y1,
      y2: bottom,
      stroke,
      'stroke-dasharray': m.row === null ? '7 0' : '3 3',
      class: `c-l-${m.level}`,
    })
    if (m.row !== null) {
      const at = 40 + key.lines * 16 + m.row * 13 + 7
      body += text(m.text, m.textX, at, { 'text-anchor': m.anchor, fill: LIGHT.text2, class: 'c-t2' })
    }
  }
  if (cell.series.every((s) => s.values.every((v) => v === null)))
    body += text('No samples in this range', (left + right) / 2, (top + bottom) / 2, {
      'text-anchor': 'middle',
      'font-size': 12,
    })
  body += tag('rect', { y: height - 22, width, height: 22, fill: LIGHT.sunken, class: 'c-sunken' })
  body += text(
    provenanceText(cell.of, version)
      .map((w) => clipped(plainText(w), 60))
      .join('   \u00B7   '),
    14,
    height - 7.5,
    { 'font-size': 10 },
  )
  const head = { xmlns: 'http://www.w3.org/2000/svg', width, height, viewBox: `0 0 ${width} ${height}`, role: 'img' }
  const about = tag('title', {}, xmlText(title)) + tag('desc', {}, xmlText(description(cell)))
  return tag('svg', { ...head, 'font-family': FONT.replaceAll("'", '&#39;') }, about + body)
}
