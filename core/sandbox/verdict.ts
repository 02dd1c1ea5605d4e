/**
 * Verdict of a comparison: the best variant, and a sentence that explains it.
 *
 * A variant may win if it keeps at least nine tenths of the baseline's total throughput and of the victim's, and does
 * not lengthen the victim's p95 wait (medians over the seeds; a run that does not serve the victim counts as an endless
 * wait). The p95 alone would not suffice: it covers only replies, and a job that is held back indefinitely has few. Of
 * these the one with the largest median of Jain's index wins, if that lies above the baseline's band by at least 0.01.
 * If none gains fairness, the one with the shortest wait of the victim, if that lies 5 % below the baseline's band and
 * fairness did not fall below its band; if none shortens the wait, the one with the largest throughput, if that lies 1
 * % above the band, fairness did not fall, and no plane loses.
 *
 * If none gains on the OSTs, the planes decide (metadata, locks, tokens: `core/controllers/objectives.ts`): of the
 * variants that may win, keep fairness, gain in some objective and lose in none, the one with the largest gains.
 * Otherwise none wins; the gains and losses of each variant in the planes are named, also for a winner by the OSTs.
 * Only without any difference in the planes no variant is better than the baseline.
 *
 * Ties go to the shorter wait, then to the larger throughput, then to the one named first.
 */
import { OBJECTIVES } from '../controllers/objectives.ts'
import { bandOf, spreadOf, type Band } from './band.ts'
import type { SeedFigures, Verdict } from './comparison.ts'
import type { Roles } from './roles.ts'
import { letterOf } from './variant-summary.ts'
import {
  differenceText,
  meritOf,
  planeDifferences,
  type PlaneDifference,
  type PlaneDifferences,
} from './verdict-planes.ts'
import { change, jobLabel, percent, waitPair } from './verdict-text.ts'

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
  /** Against the baseline. */
  readonly planes: PlaneDifferences
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
  figures.map((of, index) => ({
    index,
    planes: planeDifferences(figures[0] ?? of, of),
    jain: medianIn(of.metrics.jain),
    wait: victim === undefined ? NaN : endlessMedian(of.metrics.victimP95Ms),
    throughput: medianIn(of.metrics[total]),
    hogRate: medianIn(of.hogRate),
    victimRate: medianIn(of.victimRate),
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
  readonly by: 'fairness' | 'wait' | 'throughput' | 'planes'
}

/** Value by which variants are ranked; larger is better. */
const MERITS: Readonly<Record<Choice['by'], (w: Weighed) => number>> = {
  fairness: (w) => w.jain,
  wait: (w) => -w.wait,
  throughput: (w) => w.throughput,
  planes: (w) => meritOf(w.planes),
}

function choose(
  able: readonly Weighed[],
  base: Weighed,
  band: (m: 'jain' | 'victimP95Ms' | 'total') => Band | null,
): Choice | undefined {
  const jain = band('jain')
  const wait = band('victimP95Ms')
  const total = band('total')
  const fairest = able.toSorted(byMerit(MERITS.fairness))[0]
  if (fairest && jain && fairest.jain >= jain.high + JAIN_GAIN) return { best: fairest, by: 'fairness' }
  const asFair = able.filter((w) => jain === null || w.jain >= jain.low)
  const quickest = asFair.toSorted(byMerit(MERITS.wait))[0]
  const isQuicker =
    base.wait === Infinity
      ? quickest !== undefined && Number.isFinite(quickest.wait)
      : quickest && wait && quickest.wait < wait.low * (1 - WAIT_GAIN)
  if (quickest && isQuicker) return { best: quickest, by: 'wait' }
  const unharmed = asFair.filter(({ planes }) => planes.losses.length === 0)
  const largest = unharmed.toSorted(byMerit(MERITS.throughput))[0]
  if (largest && total && largest.throughput > total.high * (1 + THROUGHPUT_GAIN)) {
    return { best: largest, by: 'throughput' }
  }
  const best = unharmed.filter(({ planes }) => planes.gains.length > 0).toSorted(byMerit(MERITS.planes))[0]
  return best && { best, by: 'planes' }
}

type Parts = Verdict['parts']

const plain = (text: string): Parts[number] => ({ text, strong: false })
const strong = (text: string): Parts[number] => ({ text, strong: true })

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

/** Most objectives named in a sentence. */
const NAMED = 4

/** `lock wait p95 40 ms → 3 ms, ccPFS writes +1300 %`. */
function listed(differences: readonly PlaneDifference[]): Parts {
  const more = differences.length - NAMED
  return [
    ...differences.slice(0, NAMED).flatMap((d, i) => {
      const { name, values } = differenceText(d)
      return [plain(`${i > 0 ? ', ' : ''}${name} `), strong(values)]
    }),
    ...(more > 0 ? [plain(` and ${more} more`)] : []),
  ]
}

/** Gains and losses of a winner by the OSTs in the planes, as further sentences. */
function alsoInPlanes({ gains, losses }: PlaneDifferences): Parts {
  return [
    ...(gains.length > 0 ? [plain(' Also better: '), ...listed(gains), plain('.')] : []),
    ...(losses.length > 0 ? [plain(' Worse: '), ...listed(losses), plain('.')] : []),
  ]
}

function sentence({ best, by }: Choice, base: Weighed, roles: Roles): Parts {
  const total = [strong(change(best.throughput, base.throughput)), plain('.')]
  if (by === 'planes') {
    const [first, ...rest] = listed(best.planes.gains)
    const isServed = !Number.isNaN(base.throughput + best.throughput) && base.throughput > 0
    return [plain(capital(first?.text ?? '')), ...rest, ...(isServed ? [plain('; total '), ...total] : [plain('.')])]
  }
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
  return [...parts, plain(parts.length > 0 ? 'total ' : 'Total '), ...total, ...alsoInPlanes(best.planes)]
}

interface Wins {
  readonly won: number
  readonly of: number
}

/** Counts the runs, paired by seed, in which one variant exceeds another, among those that measured the value in both. */
function wins(a: SeedFigures, b: SeedFigures, valuesOf: (f: SeedFigures) => Float64Array | undefined): Wins {
  const ofA = valuesOf(a)
  const ofB = valuesOf(b)
  const other = new Map(b.seeds.map((seed, i) => [seed, ofB?.[i] ?? NaN]))
  const gains = a.seeds
    .map((seed, i) => (ofA?.[i] ?? NaN) - (other.get(seed) ?? NaN))
    .filter((gain) => !Number.isNaN(gain))
  return { won: gains.filter((gain) => gain > 0).length, of: gains.length }
}

const ofRuns = ({ won, of }: Wins): string => `${won} of ${of} ${of === 1 ? 'run' : 'runs'}`

/** `on lock wait p95 in 20 of 20 runs`, for the first gains of a winner by the planes. */
function beatsInPlanes(winner: SeedFigures, other: SeedFigures, gains: readonly PlaneDifference[]): string[] {
  return gains.slice(0, 2).flatMap(({ key }) => {
    const { name, better } = OBJECTIVES[key]
    const valuesOf = (f: SeedFigures): Float64Array | undefined => f.planes.get(key)
    const won = better === 'higher' ? wins(winner, other, valuesOf) : wins(other, winner, valuesOf)
    return won.of > 0 ? [`on ${name} in ${ofRuns(won)}`] : []
  })
}

function beatsOnOsts(winner: SeedFigures, other: SeedFigures, total: Totals): string[] {
  const fair = wins(winner, other, (f) => f.metrics.jain)
  const more = wins(winner, other, (f) => f.metrics[total])
  return [
    ...(fair.of > 0 ? [`on fairness in ${ofRuns(fair)}`] : []),
    `on total throughput in ${fair.of === more.of ? more.won : ofRuns(more)}`,
  ]
}

function howSure(figures: readonly SeedFigures[], { best, by }: Choice, rival: Weighed, total: Totals): string {
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
  const beats = by === 'planes' ? beatsInPlanes(winner, other, best.planes.gains) : beatsOnOsts(winner, other, total)
  return `${head}. ${letterOf(best.index)} beats ${against} ${beats.join(' and ')}.`
}

/** `A gains lock wait p95 40 ms → 3 ms and loses ccPFS writes −20 %`; empty without a difference in the planes. */
function inPlanes({ index, planes: { gains, losses } }: Weighed): Parts {
  const name = letterOf(index)
  return [
    ...(gains.length > 0 ? [plain(`${name} gains `), ...listed(gains)] : []),
    ...(losses.length > 0 ? [plain(gains.length > 0 ? ' and loses ' : `${name} loses `), ...listed(losses)] : []),
  ]
}

/** @param whys  reason why a variant does not win on the OSTs, by challenger. */
function noWinner(
  figures: readonly SeedFigures[],
  [, ...challengers]: readonly Weighed[],
  whys: readonly (string | undefined)[],
): Verdict {
  const n = figures[0]?.seeds.length ?? 0
  const seeds = `${n} ${n === 1 ? 'seed' : 'seeds'}`
  if (challengers.length === 0) return { best: null, parts: [plain('Only the baseline was run.')], detail: `${seeds}.` }
  const jain = bandOf(figures[0]?.metrics.jain ?? [])
  const band = jain === null ? '' : `, baseline fairness ${jain.low.toFixed(2)} to ${jain.high.toFixed(2)}`
  const detail = `${seeds}${band}.`
  const gains = challengers.some((w) => w.planes.gains.length > 0)
  const losses = challengers.some((w) => w.planes.losses.length > 0)
  if (gains || losses) {
    const clauses = challengers.flatMap((w, i) => {
      const why = whys[i]
      return [inPlanes(w), why === undefined ? [] : [plain(why)]].filter((clause) => clause.length > 0)
    })
    const head = strong(gains ? 'No variant gains without a loss' : 'The baseline is better')
    return {
      best: null,
      parts: [head, ...clauses.flatMap((clause, i) => [plain(i === 0 ? ': ' : '; '), ...clause]), plain('.')],
      detail,
    }
  }
  const known = whys.filter((why) => why !== undefined)
  const why = known.length > 0 ? `; ${known.join('; ')}` : ''
  const beyond = n === 1 ? 'no gain is large enough to count' : 'no gain exceeds the spread of the seeds'
  const within = known.length === challengers.length ? '' : `: ${beyond}`
  return { best: null, parts: [strong('No variant is better than the baseline'), plain(`${within}${why}.`)], detail }
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
      challengers.map((w, i) => whys[i] ?? lessFair(w, base, jain)),
    )
  }
  const { best } = choice
  if (choice.by === 'planes') {
    return { best: best.index, parts: sentence(choice, base, roles), detail: howSure(figures, choice, base, total) }
  }
  const rivals = (able.length > 1 ? able : challengers).filter((w) => w !== best).toSorted(byMerit(MERITS[choice.by]))
  return {
    best: best.index,
    parts: sentence(choice, base, roles),
    detail: howSure(figures, choice, rivals[0] ?? base, total),
  }
}
