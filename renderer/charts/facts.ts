/**
 * What a chart draws, as words and as a table: every chart has a name with its main figures, and its values can be read under
 * the cursor without seeing it.
 */
import { mean } from '#core/base/statistics.ts'
import { formatClock, formatDate, formatNumber, formatPercent, plural } from '../format/units.ts'
import { isKnown } from '../widgets/canvas.ts'
import { nearest } from './scale.ts'

type Values = readonly (number | null | undefined)[]

export interface FactSeries {
  readonly name: string
  readonly values: Values
  /** What stands there in words, where that is no figure: a message, an event. */
  readonly texts?: readonly string[]
}
/** A column of words. */
export const inWords = (name: string, texts: readonly string[]): FactSeries => ({ name, values: [], texts })
export interface ChartFacts {
  readonly title: string
  /** Name of what runs across, and its values; the same number of them as of each series. */
  readonly across: string
  readonly at: readonly number[]
  readonly atWords: (value: number) => string
  readonly series: readonly FactSeries[]
  readonly valueWords: (value: number) => string
  /** The series are parts of a whole: their sum is what is told first. */
  readonly isStacked?: boolean
  /** The whole name, where the chart's own words say more than figures do. */
  readonly words?: string
}

/** Four figures that count, so that a small share is no zero. */
export function figureWords(value: number): string {
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
  const [span, step] = [(t.at(-1) ?? 0) - (t[0] ?? 0), (t[1] ?? 0) - (t[0] ?? 0)]
  const [isLong, isFine] = [span > 86_400_000, step > 0 && step < 1000]
  return {
    ...{ title, across: 'Time', at: t, series, isStacked: more.isStacked === true },
    atWords: (ms) => `${isLong ? `${formatDate(ms)} ` : ''}${formatClock(ms, true, isFine ? 1 : 0)}`,
    valueWords: (value) => figureWords(value / divisor),
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

/** Rising or falling: the last third against the first, by more than a tenth of the range the values have. */
function trend(values: readonly number[]): string {
  if (values.length < 6) return ''
  const third = Math.floor(values.length / 3)
  const change = mean(values.slice(-third)) - mean(values.slice(0, third))
  const range = Math.max(...values) - Math.min(...values)
  if (range === 0 || Math.abs(change) < range / 10) return ', level'
  return change > 0 ? ', rising' : ', falling'
}

/** The course of a small series without its figures, which stand beside it: where it goes, how far it falls, what is missing. */
export function courseWords(values: Values): string {
  const all = known(values)
  if (all.length === 0) return 'nothing measured'
  const [least, most] = [Math.min(...all), Math.max(...all)]
  const depth = most <= 0 ? 'nothing all the time' : `lowest ${formatPercent(least / most)} of the highest`
  const gaps = values.length - all.length
  return `${depth}${trend(all)}${gaps > 0 ? `, ${plural(gaps, 'value')} not measured` : ''}`
}

function lineWords({ name, values }: FactSeries, words: (v: number) => string, isAlone: boolean): string {
  const all = known(values)
  const head = isAlone ? '' : `${name} `
  if (all.length === 0) return `${head}nothing measured`
  const newest = values.at(-1)
  const last = isKnown(newest) ? `newest ${words(newest)}` : 'newest not measured'
  return `${head}${last}, lowest ${words(Math.min(...all))}, highest ${words(Math.max(...all))}${trend(all)}`
}

/** Series that are told in the name of a chart; the others are counted. */
const TOLD = 3

/** The name of a chart: what it shows, then its main figures. */
export function factWords({ title, series, valueWords, isStacked, words }: ChartFacts): string {
  if (words !== undefined) return words
  if (series.length === 0) return `${title}: nothing to draw`
  if (isStacked && series.length > 1) {
    const parts = series
      .flatMap(({ name, values }) => {
        const newest = values.at(-1)
        return isKnown(newest) ? [{ name, newest }] : []
      })
      .sort((a, b) => b.newest - a.newest)
      .slice(0, TOLD)
      .map(({ name, newest }) => `${name} ${valueWords(newest)}`)
    const all = lineWords({ name: 'all', values: sums(series) }, valueWords, false)
    return `${title}: ${all}${parts.length > 0 ? `; most: ${parts.join(', ')}` : ''}`
  }
  const told = series.slice(0, TOLD).map((line) => lineWords(line, valueWords, series.length === 1))
  const more = series.length - TOLD
  return `${title}: ${told.join('; ')}${more > 0 ? `; ${more} more` : ''}`
}

export interface FactRow {
  readonly index: number
  readonly at: string
  readonly values: readonly string[]
}
export interface FactTable {
  readonly heads: readonly string[]
  readonly rows: readonly FactRow[]
  /** Row under the cursor: the instant nearest to it, else the last; -1 without rows. */
  readonly current: number
}

/** What is drawn as a table; instants have their date where they are of more than a day. */
export function factTable(facts: ChartFacts, cursor: number | null): FactTable {
  const { at, series } = facts
  return {
    heads: [facts.across, ...series.map(({ name }) => name)],
    rows: at.map((value, index) => ({
      ...{ index, at: facts.atWords(value) },
      values: series.map(({ values, texts }) => {
        const v = values[index]
        if (texts !== undefined) return texts[index] ?? ''
        return isKnown(v) ? facts.valueWords(v) : 'not measured'
      }),
    })),
    current: cursor === null ? at.length - 1 : nearest(at, cursor),
  }
}
