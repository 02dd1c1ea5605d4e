/** Rows of figures, laid out as in the paper: parts of one figure with the same unit are side by side. */
import type { PaperBars, PaperCurve, PaperFigure, PaperTimeline } from '#core/api/papers.ts'
import { jobLook, type Look } from '../../charts/patterns.ts'
import type { ValueEnds } from '../../charts/picture.ts'
import { niceMax, stackedMax, tickStep } from '../../charts/scale.ts'
import { formatNumber } from '../../format/units.ts'

export interface TimelineRow {
  readonly kind: 'timeline'
  readonly key: string
  readonly timelines: readonly PaperTimeline[]
}
export interface BarsRow {
  readonly kind: 'bars'
  readonly key: string
  readonly bars: readonly PaperBars[]
}
export interface CurveRow {
  readonly kind: 'curve'
  readonly key: string
  readonly curves: readonly PaperCurve[]
}
export type FigureRow = TimelineRow | BarsRow | CurveRow

/** `fig7` of `fig7.static`, `fig4` of `fig4b`. */
const figureOf = (id: string): string => id.split('.')[0]!.replace(/(\d)[a-z]$/, '$1')

/** Groups figures into rows, in the order in which the host sends them. */
export function figureRows(figures: readonly PaperFigure[]): FigureRow[] {
  const rows = new Map<string, FigureRow>()
  for (const figure of figures) {
    const key = `${figure.kind} ${figureOf(figure.id)} ${figure.kind === 'timeline' ? figure.unit : ''}`
    const row = rows.get(key)
    if (figure.kind === 'timeline') {
      const before = row?.kind === 'timeline' ? row.timelines : []
      rows.set(key, { kind: 'timeline', key, timelines: [...before, figure] })
    } else if (figure.kind === 'curve') {
      const before = row?.kind === 'curve' ? row.curves : []
      rows.set(key, { kind: 'curve', key, curves: [...before, figure] })
    } else {
      const before = row?.kind === 'bars' ? row.bars : []
      rows.set(key, { kind: 'bars', key, bars: [...before, figure] })
    }
  }
  return [...rows.values()]
}

/** `Figure 3`, `Figure 4b`; `as Figure 7` for a figure that the paper has in another setting. */
export function figureName(id: string): string {
  const match = /^fig(\d+)([a-z]?)(-.*)?$/.exec(id.split('.')[0]!)
  if (!match) return id
  return `${match[3] === undefined ? '' : 'as '}Figure ${match[1]}${match[2]}`
}

/** True for rates, which add up to that of the target; records and demands do not. */
export const isAdditive = ({ unit, isStacked }: Pick<PaperTimeline, 'unit' | 'isStacked'>): boolean =>
  unit.endsWith('/s') && isStacked !== false

type Lines = Pick<PaperTimeline, 'binS' | 'series'>

/** Lines to show: the part that can be compared, or the whole runs. */
export const linesOf = (timeline: PaperTimeline, isWhole: boolean): Lines =>
  isWhole && timeline.whole ? timeline.whole : timeline

const lengthS = ({ binS, series }: Lines): number => binS * Math.max(0, ...series.map(({ values }) => values.length))

/** Length of the longest lines, s. */
export const spanS = (all: readonly Lines[]): number => Math.max(0, ...all.map(lengthS)) || 1

type Published = Pick<PaperTimeline, 'published'>
const publishedValues = ({ published = [] }: Published): number[] =>
  published.flatMap(({ points }) => points.map(([, value]) => value))

/** Range of the value axis that all lines share, measured and published. */
export function commonEnds(all: readonly Lines[], isStacked: boolean, timelines: readonly Published[] = []): ValueEnds {
  const published = timelines.flatMap(publishedValues)
  if (isStacked) {
    const max = niceMax(Math.max(...all.map(({ series }) => stackedMax(series)), ...published))
    return { min: 0, max, step: tickStep(max) }
  }
  let low = Math.min(0, ...published)
  let high = Math.max(0, ...published)
  for (const { series } of all)
    for (const { values } of series)
      for (const value of values) {
        low = Math.min(low, value)
        high = Math.max(high, value)
      }
  const step = tickStep(niceMax(Math.max(high, -low)))
  return { min: Math.floor(low / step) * step, max: Math.ceil(high / step) * step || step, step }
}

type PublishedLine = NonNullable<PaperTimeline['published']>[number]

/** Published lines in the look of the measured line of the same name, or in one that no line has. */
export function publishedLines(
  published: readonly PublishedLine[],
  lines: readonly { readonly name: string; readonly look: Look }[],
): (PublishedLine & { readonly look: Look })[] {
  return published.map((line, i) => {
    const look = lines.find(({ name }) => name === line.name)?.look ?? jobLook(lines.length + i)
    return { ...line, look }
  })
}

/** Measured value at a crosshair, with the published one in parentheses. */
export function readingText(
  measured: number | null,
  published: number | null,
  format: (value: number | null) => string = formatNumber,
): string {
  return published === null ? format(measured) : `${format(measured)} (${format(published)})`
}

export interface NamePlace {
  readonly name: string
  readonly x: number
  readonly y: number
}

/** Width of a name as a share of the time axis, and its height as a share of the value axis. */
const WIDE = 0.14
const HIGH = 0.09

/** Places names in their bands, each where the band is thickest over the width of the name; thin bands get none. */
export function bandNames({ binS, series }: Lines, toS: number, max: number): NamePlace[] {
  const length = series[0]?.values.length ?? 0
  const half = Math.max(1, Math.ceil((WIDE * toS) / binS / 2))
  const below = new Float64Array(length)
  return series.flatMap(({ name, values }) => {
    let best = HIGH * max
    let at = -1
    for (let i = half; i + half < length; i++) {
      let least = Infinity
      for (let j = i - half; j <= i + half; j++) least = Math.min(least, values[j] ?? 0)
      if (least > best) [best, at] = [least, i]
    }
    const place = at < 0 ? [] : [{ name, x: ((at + 0.5) * binS) / toS, y: (below[at]! + (values[at] ?? 0) / 2) / max }]
    for (let i = 0; i < length; i++) below[i]! += values[i] ?? 0
    return place
  })
}
