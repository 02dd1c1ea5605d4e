/**
 * Verdict of a comparison: the best variant, and a sentence that explains it.
 *
 * A variant may win if it keeps at least nine tenths of the baseline's total throughput and of the victim's, and does
 * not lengthen the victim's p95 wait (medians over the seeds; a run that does not serve the victim counts as an endless
 * wait). The p95 alone would not suffice: it covers only replies, and a job that is held back indefinitely has few. Of
 * these the one with the largest median of Jain's index wins, if that lies above the baseline's band by at least 0.01.
 * If none gains fairness, the one with the shortest wait of the victim, if that lies 5 % below the baseline's band and
 * fairness did not fall below its band; if none shortens the wait, the one with the largest throughput, if that lies 1
 * % above the band and fairness did not fall. Otherwise none is better than the baseline.
 *
 * Ties go to the shorter wait, then to the larger throughput, then to the one named first.
 */
import { bandOf, spreadOf, type Band } from './band.ts'
import type { MetricName, SeedFigures, Verdict } from './comparison.ts'
import type { Roles } from './roles.ts'
import { letterOf, bounded } from './variant-summary.ts'

const ID_LONGEST = 40

/** Name of a job in a sentence: its number if its id begins with one, else the id, truncated if long. */
export const jobLabel = (jobId: string): string => /^(\d{1,12})[._@:]/.exec(jobId)?.[1] ?? bounded(jobId, ID_LONGEST)

/** A part as percent without its sign: whole from 1 % on. */
export function percent(part: number): string {
  const v = Math.abs(part) * 100
  if (!Number.isFinite(v)) return '? %'
  return v < 0.05 ? '0 %' : v < 0.95 ? `${v.toFixed(1)} %` : `${Math.round(v)} %`
}

/** Change from one value to another as signed percent. */
export function change(now: number, before: number): string {
  const part = now / before - 1
  if (!Number.isFinite(part)) return 'not comparable'
  const text = percent(part)
  return text === '0 %' ? '±0 %' : `${part < 0 ? '−' : '+'}${text}`
}

const significant = (v: number): string => {
  if (v >= 10) return String(Math.round(v))
  return v >= 1 ? v.toFixed(1) : v === 0 ? '0' : String(Number(v.toPrecision(1)))
}

/** Formats two waits in one unit; a non-finite one as not served. */
export function waitPair(beforeMs: number, nowMs: number): string {
  const isSeconds = [beforeMs, nowMs].some((v) => Number.isFinite(v) && v >= 1000)
  const one = (v: number): string =>
    !Number.isFinite(v) ? 'not served' : isSeconds ? `${significant(v / 1000)} s` : `${significant(v)} ms`
  return `${one(beforeMs)} → ${one(nowMs)}`
}

/** Part of the baseline's throughput that a winner must keep, in total and for the victim. */
export const THROUGHPUT_LEAST = 0.9
/** Minimum gains beyond the baseline's band. */
export const JAIN_GAIN = 0.01
export const WAIT_GAIN = 0.05
export const THROUGHPUT_GAIN = 0.01

type Totals = 'throughputBps' | 'throughputRpcs'

/** Medians by which a variant is compared; NaN if not measured. */
interface Weighed {
  readonly index: number
  readonly jain: number
  /** Infinity if most runs do not serve the victim. NaN without a victim. */
  readonly wait: number
  readonly throughput: number
  readonly hogRate: number
  readonly victimRate: number
}

const medianIn = (values: Float64Array): number => bandOf(values)?.median ?? NaN

/** Median of waits; a missing one counts as endless. */
function endlessMedian(values: Float64Array): number {
  const sorted = Float64Array.from(values, (v) => (Number.isNaN(v) ? Infinity : v)).sort()
  const below = sorted[(sorted.length - 1) >> 1]
  const above = sorted[sorted.length >> 1]
  return below === undefined || above === undefined ? NaN : (below + above) / 2
}

const weigh = (figures: readonly SeedFigures[], total: Totals, { victim }: Roles): Weighed[] =>
  figures.map(({ metrics, hogRate, victimRate }, index) => ({
    index,
    jain: medianIn(metrics.jain),
    wait: victim === undefined ? NaN : endlessMedian(metrics.victimP95Ms),
    throughput: medianIn(metrics[total]),
    hogRate: medianIn(hogRate),
    victimRate: medianIn(victimRate),
  }))

/** NaN sorts after numbers. */
const descending = (a: number, b: number): number =>
  Number.isNaN(a) ? (Number.isNaN(b) ? 0 : 1) : Number.isNaN(b) ? -1 : b - a

const byMerit = (first: (w: Weighed) => number): ((a: Weighed, b: Weighed) => number) => {
  return (a, b) =>
    descending(first(a), first(b)) ||
    descending(-a.wait, -b.wait) ||
    descending(a.throughput, b.throughput) ||
    a.index - b.index
}

/** Returns why a variant may not win; undefined if it may. */
function excluded(w: Weighed, base: Weighed, victim: string | undefined): string | undefined {
  const name = letterOf(w.index)
  if (!(w.throughput >= THROUGHPUT_LEAST * base.throughput)) {
    return `${name} loses ${percent(1 - w.throughput / base.throughput)} of total throughput`
  }
  if (victim !== undefined && !(w.wait <= base.wait)) {
    const waits = Number.isFinite(w.wait) ? `waits ${percent(w.wait / base.wait - 1)} longer` : 'is not served at all'
    return `under ${name} ${jobLabel(victim)} ${waits}`
  }
  if (victim !== undefined && w.victimRate < THROUGHPUT_LEAST * base.victimRate) {
    return `under ${name} ${jobLabel(victim)} is served ${percent(1 - w.victimRate / base.victimRate)} less`
  }
  return undefined
}

/** Describes a variant that gains at the cost of fairness. */
function lessFair(w: Weighed, base: Weighed, jain: Band | null): string | undefined {
  const gains = w.wait < base.wait * (1 - WAIT_GAIN) || w.throughput > base.throughput * (1 + THROUGHPUT_GAIN)
  return gains && jain !== null && w.jain < jain.low
    ? `${letterOf(w.index)} lowers fairness to ${w.jain.toFixed(2)}`
    : undefined
}

interface Choice {
  readonly best: Weighed
  /** Metric in which it is better. */
  readonly by: 'fairness' | 'wait' | 'throughput'
}

function choose(
  able: readonly Weighed[],
  base: Weighed,
  band: (m: 'jain' | 'victimP95Ms' | 'total') => Band | null,
): Choice | undefined {
  const jain = band('jain')
  const wait = band('victimP95Ms')
  const total = band('total')
  const fairest = able.toSorted(byMerit((w) => w.jain))[0]
  if (fairest && jain && fairest.jain >= jain.high + JAIN_GAIN) return { best: fairest, by: 'fairness' }
  const asFair = able.filter((w) => jain === null || w.jain >= jain.low)
  const quickest = asFair.toSorted(byMerit((w) => -w.wait))[0]
  const isQuicker =
    base.wait === Infinity
      ? quickest !== undefined && Number.isFinite(quickest.wait)
      : quickest && wait && quickest.wait < wait.low * (1 - WAIT_GAIN)
  if (quickest && isQuicker) return { best: quickest, by: 'wait' }
  const largest = asFair.toSorted(byMerit((w) => w.throughput))[0]
  if (largest && total && largest.throughput > total.high * (1 + THROUGHPUT_GAIN)) {
    return { best: largest, by: 'throughput' }
  }
  return undefined
}

type Parts = Verdict['parts']

const plain = (text: string): Parts[number] => ({ text, strong: false })
const strong = (text: string): Parts[number] => ({ text, strong: true })

function sentence(best: Weighed, base: Weighed, roles: Roles): Parts {
  const parts: Parts = []
  if (roles.victim !== undefined) {
    parts.push(plain('Victim '), strong(jobLabel(roles.victim)), plain(' p95 wait '))
    parts.push(strong(waitPair(base.wait, best.wait)), plain('; '))
  }
  if (roles.hog !== undefined && Number.isFinite(best.hogRate / base.hogRate)) {
    parts.push(plain(parts.length > 0 ? 'hog ' : 'Hog '))
    parts.push(strong(`${jobLabel(roles.hog)} ${change(best.hogRate, base.hogRate)}`), plain(' throughput; '))
  }
  if (parts.length === 0 && !Number.isNaN(base.jain + best.jain)) {
    parts.push(plain(`Fairness ${base.jain.toFixed(2)} → ${best.jain.toFixed(2)}; `))
  }
  return [
    ...parts,
    plain(parts.length > 0 ? 'total ' : 'Total '),
    strong(change(best.throughput, base.throughput)),
    plain('.'),
  ]
}

/**
 * Counts the runs, paired by seed, in which one variant exceeds another, among those that measured the metric in both.
 */
function wins(a: SeedFigures, b: SeedFigures, metric: MetricName): { readonly won: number; readonly of: number } {
  const other = new Map(b.seeds.map((seed, i) => [seed, b.metrics[metric][i] as number]))
  const gains = a.seeds
    .map((seed, i) => (a.metrics[metric][i] as number) - (other.get(seed) ?? NaN))
    .filter((gain) => !Number.isNaN(gain))
  return { won: gains.filter((gain) => gain > 0).length, of: gains.length }
}

function howSure(figures: readonly SeedFigures[], best: Weighed, rival: Weighed, total: Totals): string {
  const winner = figures[best.index]
  const other = figures[rival.index]
  if (!winner || !other) return ''
  const n = winner.seeds.length
  const spread = spreadOf(bandOf(winner.metrics[total]))
  const waits = spreadOf(bandOf(winner.metrics.victimP95Ms))
  const bands = [
    ...(Number.isNaN(spread) ? [] : [`±${percent(spread)} of throughput`]),
    ...(Number.isNaN(waits) ? [] : [`±${percent(waits)} of the wait`]),
  ]
  const seeds = `${n} ${n === 1 ? 'seed, so the spread is not known' : 'seeds'}`
  const head = n === 1 || bands.length === 0 ? seeds : `${seeds}, band ${bands.join(' and ')}`
  const against = rival.index === 0 ? 'the baseline' : letterOf(rival.index)
  const ofRuns = ({ won, of }: ReturnType<typeof wins>): string => `${won} of ${of} ${of === 1 ? 'run' : 'runs'}`
  const fair = wins(winner, other, 'jain')
  const more = wins(winner, other, total)
  const beats = [
    ...(fair.of > 0 ? [`on fairness in ${ofRuns(fair)}`] : []),
    `on total throughput in ${fair.of === more.of ? more.won : ofRuns(more)}`,
  ]
  return `${head}. ${letterOf(best.index)} beats ${against} ${beats.join(' and ')}.`
}

function noWinner(figures: readonly SeedFigures[], weighed: readonly Weighed[], whys: readonly string[]): Verdict {
  const n = figures[0]?.seeds.length ?? 0
  const seeds = `${n} ${n === 1 ? 'seed' : 'seeds'}`
  if (weighed.length === 1) return { best: null, parts: [plain('Only the baseline was run.')], detail: `${seeds}.` }
  const jain = bandOf(figures[0]?.metrics.jain ?? [])
  const band = jain === null ? '' : `, baseline fairness ${jain.low.toFixed(2)} to ${jain.high.toFixed(2)}`
  const why = whys.length > 0 ? `; ${whys.join('; ')}` : ''
  const beyond = n === 1 ? 'no gain is large enough to count' : 'no gain exceeds the spread of the seeds'
  const within = whys.length === weighed.length - 1 ? '' : `: ${beyond}`
  return {
    best: null,
    parts: [strong('No variant is better than the baseline'), plain(`${within}${why}.`)],
    detail: `${seeds}${band}.`,
  }
}

/**
 * Returns the verdict of a comparison. Independent of the order of the seeds.
 *
 * @param figures  by variant, the baseline first.
 */
export function verdictOf(figures: readonly SeedFigures[], roles: Roles): Verdict {
  const movesBytes = figures.some((f) => (bandOf(f.metrics.throughputBps)?.high ?? 0) > 0)
  const total: Totals = movesBytes ? 'throughputBps' : 'throughputRpcs'
  const weighed = weigh(figures, total, roles)
  const [base, ...challengers] = weighed
  const baseline = figures[0]
  if (!base || !baseline) return { best: null, parts: [plain('Nothing was run.')], detail: '' }
  const whys = challengers.map((w) => excluded(w, base, roles.victim))
  const able = challengers.filter((_, i) => whys[i] === undefined)
  const choice = choose(able, base, (m) => bandOf(baseline.metrics[m === 'total' ? total : m]))
  if (!choice) {
    const jain = bandOf(baseline.metrics.jain)
    return noWinner(
      figures,
      weighed,
      challengers.flatMap((w, i) => whys[i] ?? lessFair(w, base, jain) ?? []),
    )
  }
  const { best } = choice
  const merit = byMerit(
    choice.by === 'wait' ? (w) => -w.wait : (w) => (choice.by === 'fairness' ? w.jain : w.throughput),
  )
  const rivals = (able.length > 1 ? able : challengers).filter((w) => w !== best).toSorted(merit)
  return {
    best: best.index,
    parts: sentence(best, base, roles),
    detail: howSure(figures, best, rivals[0] ?? base, total),
  }
}
