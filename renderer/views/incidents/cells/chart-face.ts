/** A frozen chart as it is drawn: its scale, where the words of its marks stand, and what it says without being seen. */
import type { Cell } from '#core/api/incidents.ts'
import { niceMax, tickStep } from '../../../charts/scale.ts'
import { gapSpans, type Ends } from '../../../charts/plot.ts'
import { plainText } from '../../../format/plain-text.ts'
import { formatNumber } from '../../../format/units.ts'

export type ChartOf = Extract<Cell, { kind: 'chart' }>

/** Ends of the value axis: zero and a round number that holds every value and the limit; below zero only where a value is. */
export function valueEnds({ series, limit }: Pick<ChartOf, 'series' | 'limit'>): Ends & { step: number } {
  let [low, high] = [0, limit?.value ?? 0]
  for (const { values } of series)
    for (const v of values) {
      if (v === null) continue
      if (v > high) high = v
      if (v < low) low = v
    }
  const [up, down] = [high > 0 ? niceMax(high) : 0, low < 0 ? niceMax(-low) : 0]
  const step = tickStep(Math.max(up, down) || 1)
  return {
    min: down > 0 ? -Math.ceil(down / step - 1e-9) * step : 0,
    max: up > 0 ? Math.ceil(up / step - 1e-9) * step : down > 0 ? 0 : 1,
    step,
  }
}

/** Decimals of the second that tell two instants of a chart apart. */
export const clockDecimals = (t: readonly number[]): number =>
  t.length > 1 && ((t.at(-1) ?? 0) - (t[0] ?? 0)) / (t.length - 1) < 1000 ? 1 : 0

/** A value with as many decimals as its size asks for. */
export const valueWords = (value: number | null | undefined): string => {
  const size = Math.abs(value ?? 0)
  return formatNumber(value, size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : 2)
}

export interface PlacedMark {
  readonly x: number
  readonly words: string
  readonly title: string
  readonly level: string
  /** Row of its words from above; null: there was no room for them, only for its line. */
  readonly lane: number | null
  readonly isLeft: boolean
}
const [CHAR_PX, WORDS_MOST, LANES, AIR_PX] = [5.4, 30, 3, 8]
/** Marks with words, how far their lines stay apart, and how many are of one subject: more of them hide the curves. */
const [SAID_MOST, APART_PX, SUBJECT_MOST] = [8, 24, 2]
const WEIGHT: Readonly<Record<string, number>> = { bad: 0, watch: 1, ok: 2, unknown: 3, idle: 4 }
const shorten = (text: string): string => (text.length > WORDS_MOST ? `${text.slice(0, WORDS_MOST - 1)}\u2026` : text)

/**
 * Words of marks in up to three rows, so that no two of them meet: the worse ones first, each in the first row that is free to the right
 * of its line, else to the left. Where there is no room, or enough is said, only a tick stands; its words are in its title and in the table.
 */
export function placeMarks(
  marks: ChartOf['marks'],
  x: (atMs: number) => number,
  left: number,
  right: number,
): PlacedMark[] {
  const taken: { from: number; to: number }[][] = Array.from({ length: LANES }, () => [])
  const said: number[] = []
  const ofSubject = new Map<string, number>()
  return [...marks]
    .sort((a, b) => (WEIGHT[a.level] ?? 5) - (WEIGHT[b.level] ?? 5) || a.atMs - b.atMs)
    .map((mark) => {
      const at = x(mark.atMs)
      const title = plainText(mark.text)
      const words = shorten(title)
      const unsaid = { x: at, words, title, level: mark.level, lane: null, isLeft: false }
      const subject = title.includes(': ') ? title.slice(0, title.indexOf(': ')) : title
      const alike = ofSubject.get(subject) ?? 0
      if (alike >= SUBJECT_MOST) return unsaid
      if (said.length >= SAID_MOST || said.some((other) => Math.abs(other - at) < APART_PX)) return unsaid
      const wide = words.length * CHAR_PX + AIR_PX
      const sides = [
        { from: at, to: at + wide, isLeft: false },
        { from: at - wide, to: at, isLeft: true },
      ].filter(({ from, to }) => from >= left && to <= right)
      for (let lane = 0; lane < LANES; lane++)
        for (const { from, to, isLeft } of sides) {
          if (taken[lane]?.some((other) => from < other.to && to > other.from)) continue
          taken[lane]?.push({ from, to })
          said.push(at)
          ofSubject.set(subject, alike + 1)
          return { x: at, words, title, level: mark.level, lane, isLeft }
        }
      return unsaid
    })
}

/** Stretches of its span in which no series has a value, those before the first one and after the last one too. */
export function gapsOf({ t, series, of }: Pick<ChartOf, 't' | 'series' | 'of'>): [from: number, to: number][] {
  const known = t.map((_, i) => (series.some(({ values }) => (values[i] ?? null) !== null) ? 1 : null))
  const [first, last] = [t[known.indexOf(1)], t[known.lastIndexOf(1)]]
  if (first === undefined || last === undefined) return [[of.fromMs, of.toMs]]
  const gaps = gapSpans(t, known).filter(([from]) => from >= first)
  // An instant's distance at either end is no gap: the span need not begin at one.
  const step = t.length > 1 ? ((t.at(-1) ?? 0) - (t[0] ?? 0)) / (t.length - 1) : 0
  if (first - of.fromMs > 2 * step) gaps.unshift([of.fromMs, first])
  if (of.toMs - last > 2 * step) gaps.push([last, of.toMs])
  return gaps
}

/** The chart in a sentence: what, of whom, from where to where each line goes. */
export function chartSentence(cell: ChartOf): string {
  const lines = cell.series.slice(0, 12).map(({ label, values }) => {
    const known = values.filter((v) => v !== null)
    const name = plainText(label.text)
    if (known.length === 0) return `${name}: not measured`
    const [low, high] = known.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity])
    return `${name} from ${valueWords(low)} to ${valueWords(high)} ${plainText(cell.unit)}`.trim()
  })
  const limit = cell.limit ? [`limit ${plainText(cell.limit.label)}`] : []
  const marks = cell.marks.length > 0 ? [`${cell.marks.length} marks`] : []
  return [plainText(cell.title), ...lines, ...limit, ...marks].join('; ')
}
