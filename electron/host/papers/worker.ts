/**
 * Thread that runs one experiment, so that sampling is not delayed: reports progress before every part, and then the
 * result. It ends by itself, or is terminated when its caller stops waiting.
 */
import { parentPort, workerData } from 'node:worker_threads'
import {
  type ClaimResult,
  type MeasuredValue,
  type PapersEvent,
  POINTS_MAX,
  type PaperCurve,
  type PaperFigure,
  type PaperTimeline,
} from '#core/api/papers.ts'
import { type Claim, runPapers } from '#core/papers/claims.ts'
import type { Measured } from '#core/papers/expectation.ts'
import { EXPERIMENTS } from '#core/papers/registry.ts'
import type { Curve, Figure, PublishedLine, Timeline } from '#core/papers/experiment.ts'
import { paperHost } from '../../base/paper-host.ts'

/** Digits of a drawn value. */
const DIGITS = 5
const short = (value: number): number => Number(value.toPrecision(DIGITS))

/** A run longer than this times its neighbors is cut, because it would compress their lines. */
const MUCH_LONGER = 1.3

/** Key of timelines shown side by side: those of one figure of the paper in one unit. */
const groupOf = ({ id, unit }: Timeline): string => `${id.split('.')[0]} ${unit}`

const lengthOf = ({ series }: Timeline): number => Math.max(0, ...series.map(({ values }) => values.length))

/** Bins shown of a group: of its longest run, or of the middle one. */
interface Span {
  readonly shown: number
  readonly longest: number
}

function spanOf(lengths: readonly number[]): Span {
  const sorted = lengths.toSorted((a, b) => a - b)
  const middle = sorted[sorted.length >> 1]!
  const longest = sorted.at(-1)!
  return { shown: longest > MUCH_LONGER * middle ? middle : longest, longest }
}

/**
 * Reduces figures for a window: at most POINTS_MAX points a line, and no more digits than are drawn. Lines are
 * downsampled by means over whole numbers of bins, which preserves totals. Timelines shown side by side use the same
 * factor, so that peaks stay comparable.
 */
function thinned(figures: readonly Figure[]): PaperFigure[] {
  const timelines = figures.filter((figure) => figure.kind === 'timeline')
  const groups = Map.groupBy(timelines, groupOf)
  const spans = new Map([...groups].map(([name, group]) => [name, spanOf(group.map(lengthOf))]))
  return figures.map((figure): PaperFigure => {
    if (figure.kind === 'timeline') return thinnedTimeline(figure, spans.get(groupOf(figure))!)
    if (figure.kind === 'curve') return thinnedCurve(figure)
    return {
      ...figure,
      series: [...figure.series],
      groups: figure.groups.map(({ name, values, published }) => ({
        name,
        values: values.map(short),
        ...(published === undefined ? {} : { published: [...published] }),
      })),
    }
  })
}

/** Curves have few points; the first POINTS_MAX of a line are kept. */
const points = (all: readonly PublishedLine[]): PaperCurve['series'] =>
  all.map(({ name, points }) => ({
    name,
    points: points.slice(0, POINTS_MAX).map(([x, y]): [number, number] => [short(x), short(y)]),
  }))

const thinnedCurve = ({ series, published, ...curve }: Curve): PaperCurve => ({
  ...curve,
  series: points(series),
  ...(published === undefined ? {} : { published: points(published) }),
})

function thinnedTimeline(timeline: Timeline, { shown, longest }: Span): PaperTimeline {
  const { kind, id, title, unit, binS, limit, isStacked, published } = timeline
  return {
    kind,
    id,
    title,
    unit,
    endS: short(lengthOf(timeline) * binS),
    ...lines(timeline, shown),
    ...(shown < longest ? { whole: lines(timeline, longest) } : {}),
    ...(limit === undefined ? {} : { limit: { ...limit } }),
    ...(isStacked === undefined ? {} : { isStacked }),
    ...(published === undefined ? {} : { published: points(published) }),
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

/** Means of `each` values; the last mean covers the remainder. */
function means(values: readonly number[], each: number): number[] {
  return Array.from({ length: Math.ceil(values.length / each) }, (_, i) => {
    const part = values.slice(i * each, (i + 1) * each)
    return short(part.reduce((sum, value) => sum + value, 0) / part.length)
  })
}

/** Input of the thread. */
export interface WorkerTask {
  readonly experiment: string
  readonly seeds: readonly number[]
}

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null)

const measuredValue = (measured: Measured): MeasuredValue =>
  typeof measured === 'number'
    ? finite(measured)
    : Object.fromEntries(Object.entries(measured).map(([name, value]) => [name, finite(value)]))

function claimResult(claim: Claim): ClaimResult {
  const { id, system, ref, what, metric, published, comparator, bound, ok, note, range } = claim
  const { verdict, deviation, target, tolerance, calibrates, proof, required, met, original } = claim
  return {
    id,
    system,
    ref,
    what,
    metric,
    published,
    comparator,
    ok,
    bound: bound === null || typeof bound === 'number' ? bound : [bound[0], bound[1]],
    measured: measuredValue(claim.measured),
    range: range && [finite(range[0]), finite(range[1])],
    failed_seeds: [...claim.failed_seeds],
    verdict,
    deviation,
    ...(target === undefined ? {} : { target }),
    ...(tolerance === undefined ? {} : { tolerance }),
    ...(calibrates === undefined ? {} : { calibrates }),
    ...(proof === undefined ? {} : { proof }),
    ...(note === undefined ? {} : { note }),
    ...(required === undefined ? {} : { required }),
    ...(met === undefined ? {} : { met }),
    ...(original === undefined ? {} : { original: measuredValue(original) }),
  }
}

function run({ experiment, seeds }: WorkerTask, emit: (event: PapersEvent) => void): void {
  const chosen = EXPERIMENTS.filter(({ id }) => id === experiment)
  const steps = runPapers(chosen, seeds, paperHost)
  const beganMs = performance.now()
  let step = steps.next()
  for (; !step.done; step = steps.next()) {
    const { done, of, part, seed } = step.value
    emit({ kind: 'progress', done, of, fraction: done / of, part, seed })
  }
  const { claims, figures } = step.value
  emit({
    kind: 'result',
    experiment,
    seeds: [...seeds],
    seconds: Number(((performance.now() - beganMs) / 1000).toFixed(3)),
    claims: claims.map(claimResult),
    figures: thinned(figures.get(experiment) ?? []),
  })
}

run(workerData as WorkerTask, (event) => parentPort?.postMessage(event))
