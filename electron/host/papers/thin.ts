/** Figures as a window needs them: at most POINTS_MAX points a line, and no more digits than are drawn. */
import { POINTS_MAX, type PaperFigure, type PaperTimeline } from '#core/api/papers.ts'
import type { Figure, Timeline } from '#core/papers/experiment.ts'

/** Digits of a drawn value. */
const DIGITS = 5
const short = (value: number): number => Number(value.toPrecision(DIGITS))

/** A run that lasts longer than this times its neighbours would press their lines into a corner. */
const MUCH_LONGER = 1.3

/** What stands side by side: the timelines of one figure of the paper in one unit. */
const groupOf = ({ id, unit }: Timeline): string => `${id.split('.')[0]} ${unit}`

const lengthOf = ({ series }: Timeline): number => Math.max(0, ...series.map(({ values }) => values.length))

/** Bins that are shown of a group: of its longest run, or of the middle one. */
interface Span {
  readonly shown: number
  readonly longest: number
}

function spanOf(lengths: readonly number[]): Span {
  const sorted = lengths.toSorted((a, b) => a - b)
  const [middle, longest] = [sorted[sorted.length >> 1]!, sorted.at(-1)!]
  return { shown: longest > MUCH_LONGER * middle ? middle : longest, longest }
}

/**
 * Thins the lines by means over whole numbers of bins, so that what was served stays what was served. Timelines that stand
 * side by side are thinned alike: their peaks stay comparable.
 */
export function thinned(figures: readonly Figure[]): PaperFigure[] {
  const timelines = figures.filter((figure) => figure.kind === 'timeline')
  const groups = Map.groupBy(timelines, groupOf)
  const spans = new Map([...groups].map(([name, group]) => [name, spanOf(group.map(lengthOf))]))
  return figures.map((figure) =>
    figure.kind === 'timeline'
      ? thinnedTimeline(figure, spans.get(groupOf(figure))!)
      : {
          ...figure,
          series: [...figure.series],
          groups: figure.groups.map(({ name, values }) => ({ name, values: values.map(short) })),
        },
  )
}

function thinnedTimeline(timeline: Timeline, { shown, longest }: Span): PaperTimeline {
  const { kind, id, title, unit, binS, limit, isStacked } = timeline
  return {
    ...{ kind, id, title, unit, endS: short(lengthOf(timeline) * binS) },
    ...lines(timeline, shown),
    ...(shown < longest ? { whole: lines(timeline, longest) } : {}),
    ...(limit === undefined ? {} : { limit: { ...limit } }),
    ...(isStacked === undefined ? {} : { isStacked }),
  }
}

/** The first `bins` of a timeline. */
function lines({ binS, series }: Timeline, bins: number): Pick<PaperTimeline, 'binS' | 'series'> {
  const each = Math.max(1, Math.ceil(bins / POINTS_MAX))
  return {
    binS: short(binS * each),
    series: series.map(({ name, values }) => ({ name, values: means(values.slice(0, bins), each) })),
  }
}

/** Means of `each` values; the last one of what is left. */
function means(values: readonly number[], each: number): number[] {
  return Array.from({ length: Math.ceil(values.length / each) }, (_, i) => {
    const part = values.slice(i * each, (i + 1) * each)
    return short(part.reduce((sum, value) => sum + value, 0) / part.length)
  })
}
