/**
 * Text and table form of a chart: every chart has a name with its main figures, and its values can be read at the
 * cursor without seeing it.
 */
import { mean } from '#core/base/statistics.ts'
import { formatClock, formatDate, formatNumber, formatPercent, plural } from '../format/units.ts'
import { isKnown } from '../widgets/canvas.ts'
import { nearest } from './scale.ts'

type Values = readonly (number | null | undefined)[]

export interface FactSeries {
  readonly name: string
  readonly values: Values
  /** Texts instead of numbers: messages, events. */
  readonly texts?: readonly string[]
}
/** Returns a column of texts. */
export const textColumn = (name: string, texts: readonly string[]): FactSeries => ({ name, values: [], texts })
export interface ChartFacts {
  readonly title: string
  /** Name and values of the x axis; as many as in each series. */
  readonly across: string
  readonly at: readonly number[]
  readonly formatAt: (value: number) => string
  readonly series: readonly FactSeries[]
  readonly formatValue: (value: number) => string
  /** The series are parts of a whole: their sum comes first in the name. */
  readonly isStacked?: boolean
  /** Complete name, if the chart's own text is better than figures. */
  readonly description?: string
}

/** Formats a value so that a small share is not shown as zero. */
export function formatFigure(value: number): string {
  const size = Math.abs(value)
  return formatNumber(value, size >= 100 || Number.isInteger(value) ? 0 : size >= 1 ? 1 : 3)
}
/** Facts of a chart over time. */
export function overTime(
  title: string,
  t: readonly number[],
  series: readonly FactSeries[],
  more: { readonly divisor?: number | undefined; readonly isStacked?: boolean } = {},
): ChartFacts {
  const divisor = more.divisor ?? 1
  const span = (t.at(-1) ?? 0) - (t[0] ?? 0)
  const step = (t[1] ?? 0) - (t[0] ?? 0)
  const isLong = span > 86_400_000
  const isFine = step > 0 && step < 1000
  return {
    title,
    across: 'Time',
    at: t,
    series,
    isStacked: more.isStacked === true,
    formatAt: (ms) => `${isLong ? `${formatDate(ms)} ` : ''}${formatClock(ms, true, isFine ? 1 : 0)}`,
    formatValue: (value) => formatFigure(value / divisor),
  }
}

const known = (values: Values): number[] => values.filter(isKnown)
function sums(series: readonly FactSeries[]): (number | null)[] {
  const long = Math.max(0, ...series.map(({ values }) => values.length))
  return Array.from({ length: long }, (_, i) => {
    const parts = known(series.map(({ values }) => values[i]))
    return parts.length === 0 ? null : parts.reduce((sum, v) => sum + v, 0)
  })
}

/** Trend: compares the last third with the first; it counts from a tenth of the value range on. */
function trend(values: readonly number[]): string {
  if (values.length < 6) return ''
  const third = Math.floor(values.length / 3)
  const change = mean(values.slice(-third)) - mean(values.slice(0, third))
  const range = Math.max(...values) - Math.min(...values)
  if (range === 0 || Math.abs(change) < range / 10) return ', level'
  return change > 0 ? ', rising' : ', falling'
}

/** Describes the course of a small series without its figures, which are shown beside it: trend, lowest point, gaps. */
export function courseText(values: Values): string {
  const all = known(values)
  if (all.length === 0) return 'not measured'
  const least = Math.min(...all)
  const most = Math.max(...all)
  const depth = most <= 0 ? 'always 0' : `lowest ${formatPercent(least / most)} of the highest`
  const gaps = values.length - all.length
  return `${depth}${trend(all)}${gaps > 0 ? `, ${plural(gaps, 'value')} not measured` : ''}`
}

function lineWords({ name, values }: FactSeries, words: (v: number) => string, isAlone: boolean): string {
  const all = known(values)
  const head = isAlone ? '' : `${name} `
  if (all.length === 0) return `${head}not measured`
  const newest = values.at(-1)
  const last = isKnown(newest) ? `newest ${words(newest)}` : 'newest not measured'
  return `${head}${last}, lowest ${words(Math.min(...all))}, highest ${words(Math.max(...all))}${trend(all)}`
}

/** Series described in the name of a chart; the others are counted. */
const NAMED_MOST = 3

/** Accessible name of a chart: its title, then its main figures. */
export function factText({ title, series, formatValue, isStacked, description }: ChartFacts): string {
  if (description !== undefined) return description
  if (series.length === 0) return `${title}: no data`
  if (isStacked && series.length > 1) {
    const parts = series
      .flatMap(({ name, values }) => {
        const newest = values.at(-1)
        return isKnown(newest) ? [{ name, newest }] : []
      })
      .sort((a, b) => b.newest - a.newest)
      .slice(0, NAMED_MOST)
      .map(({ name, newest }) => `${name} ${formatValue(newest)}`)
    const all = lineWords({ name: 'all', values: sums(series) }, formatValue, false)
    return `${title}: ${all}${parts.length > 0 ? `; most: ${parts.join(', ')}` : ''}`
  }
  const named = series.slice(0, NAMED_MOST).map((line) => lineWords(line, formatValue, series.length === 1))
  const more = series.length - NAMED_MOST
  return `${title}: ${named.join('; ')}${more > 0 ? `; ${more} more` : ''}`
}

export interface FactRow {
  readonly index: number
  readonly at: string
  readonly values: readonly string[]
}
export interface FactTable {
  readonly heads: readonly string[]
  readonly rows: readonly FactRow[]
  /** Row nearest to the cursor, else the last; -1 without rows. */
  readonly current: number
}

/** Values of a chart as a table; times include the date if they span more than a day. */
export function factTable(facts: ChartFacts, cursor: number | null): FactTable {
  const { at, series } = facts
  return {
    heads: [facts.across, ...series.map(({ name }) => name)],
    rows: at.map((value, index) => ({
      index,
      at: facts.formatAt(value),
      values: series.map(({ values, texts }) => {
        const v = values[index]
        if (texts !== undefined) return texts[index] ?? ''
        return isKnown(v) ? facts.formatValue(v) : 'not measured'
      }),
    })),
    current: cursor === null ? at.length - 1 : nearest(at, cursor),
  }
}
