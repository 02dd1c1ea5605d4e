/**
 * Which variant is best, and the sentence that says so.
 *
 * A variant may win when it keeps at least nine tenths of the baseline's total throughput and does not lengthen the victim's p95
 * wait (medians over the seeds). Of these wins the one with the largest median of Jain's index, if that lies above the baseline's
 * band by at least 0.01. Where none gains fairness, the one with the shortest wait of the victim, if that lies 5 % below the
 * baseline's band and fairness did not fall below its band; where none shortens the wait, the one with the largest throughput, if
 * that lies 1 % above the band and fairness did not fall. Otherwise none is better than the baseline.
 *
 * Ties go to the shorter wait, then to the larger throughput, then to the one named first.
 */
import { bandOf, spreadOf, type Band } from './band.ts'
import type { MetricName, SeedFigures, Verdict } from './comparison.ts'
import type { Roles } from './roles.ts'
import { letterOf } from './variant-words.ts'
import { change, jobWords, percent, waitPair } from './verdict-words.ts'

/** Part of the baseline's throughput that a winner keeps. */
export const THROUGHPUT_KEPT = 0.9
/** Gains that count, beyond the baseline's band. */
export const JAIN_GAIN = 0.01
export const WAIT_GAIN = 0.05
export const THROUGHPUT_GAIN = 0.01

type Totals = 'throughputBps' | 'throughputRpcs'

/** What a variant is weighed by, medians; NaN: not measured. */
interface Weighed {
  readonly index: number
  readonly jain: number
  readonly wait: number
  readonly throughput: number
  readonly hogRate: number
}

const medianIn = (values: Float64Array): number => bandOf(values)?.median ?? NaN

const weigh = (figures: readonly SeedFigures[], total: Totals): Weighed[] =>
  figures.map(({ metrics, hogRate }, index) => ({
    index,
    jain: medianIn(metrics.jain),
    wait: medianIn(metrics.victimP95Ms),
    throughput: medianIn(metrics[total]),
    hogRate: medianIn(hogRate),
  }))

/** NaN never precedes a figure. */
const descending = (a: number, b: number): number =>
  Number.isNaN(a) ? (Number.isNaN(b) ? 0 : 1) : Number.isNaN(b) ? -1 : b - a

const byMerit = (first: (w: Weighed) => number): ((a: Weighed, b: Weighed) => number) => {
  return (a, b) =>
    descending(first(a), first(b)) ||
    descending(-a.wait, -b.wait) ||
    descending(a.throughput, b.throughput) ||
    a.index - b.index
}

/** Why a variant may not win; undefined when it may. */
function excluded(w: Weighed, base: Weighed, victim: string | undefined): string | undefined {
  const name = letterOf(w.index)
  if (!(w.throughput >= THROUGHPUT_KEPT * base.throughput)) {
    return `${name} loses ${percent(1 - w.throughput / base.throughput)} of total throughput`
  }
  if (victim !== undefined && !(w.wait <= base.wait)) {
    const waits = Number.isNaN(w.wait) ? 'is not served at all' : `waits ${percent(w.wait / base.wait - 1)} longer`
    return `under ${name} ${jobWords(victim)} ${waits}`
  }
  return undefined
}

interface Choice {
  readonly best: Weighed
  /** What it is better in. */
  readonly by: 'fairness' | 'wait' | 'throughput'
}

function choose(
  able: readonly Weighed[],
  band: (m: 'jain' | 'victimP95Ms' | 'total') => Band | null,
): Choice | undefined {
  const [jain, wait, total] = [band('jain'), band('victimP95Ms'), band('total')]
  const fairest = able.toSorted(byMerit((w) => w.jain))[0]
  if (fairest && jain && fairest.jain >= jain.high + JAIN_GAIN) return { best: fairest, by: 'fairness' }
  const asFair = able.filter((w) => jain === null || w.jain >= jain.low)
  const quickest = asFair.toSorted(byMerit((w) => -w.wait))[0]
  if (quickest && wait && quickest.wait < wait.low * (1 - WAIT_GAIN)) return { best: quickest, by: 'wait' }
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
    parts.push(plain('Victim '), strong(jobWords(roles.victim)), plain(' p95 wait '))
    parts.push(strong(waitPair(base.wait, best.wait)), plain('; '))
  }
  if (roles.hog !== undefined) {
    parts.push(plain(parts.length > 0 ? 'hog ' : 'Hog '))
    parts.push(strong(`${jobWords(roles.hog)} ${change(best.hogRate, base.hogRate)}`), plain(' throughput; '))
  }
  if (parts.length === 0) parts.push(plain(`Fairness ${base.jain.toFixed(2)} → ${best.jain.toFixed(2)}; `))
  return [...parts, plain('total '), strong(change(best.throughput, base.throughput)), plain('.')]
}

/** Runs, paired by seed, in which one variant has more of something than another. */
function wins(a: SeedFigures, b: SeedFigures, metric: MetricName): number {
  const other = new Map(b.seeds.map((seed, i) => [seed, b.metrics[metric][i] as number]))
  return a.seeds.filter((seed, i) => (a.metrics[metric][i] as number) > (other.get(seed) ?? NaN)).length
}

function howSure(figures: readonly SeedFigures[], best: Weighed, rival: Weighed, total: Totals): string {
  const [own, other] = [figures[best.index], figures[rival.index]]
  if (!own || !other) return ''
  const n = own.seeds.length
  const spread = spreadOf(bandOf(own.metrics[total]))
  const waits = spreadOf(bandOf(own.metrics.victimP95Ms))
  const bands = [
    ...(Number.isNaN(spread) ? [] : [`±${percent(spread)} of throughput`]),
    ...(Number.isNaN(waits) ? [] : [`±${percent(waits)} of the wait`]),
  ]
  const seeds = `${n} ${n === 1 ? 'seed, so the scatter is not known' : 'seeds'}`
  const head = n === 1 || bands.length === 0 ? seeds : `${seeds}, band ${bands.join(' and ')}`
  const against = rival.index === 0 ? 'the baseline' : letterOf(rival.index)
  const fair = wins(own, other, 'jain')
  const more = wins(own, other, total)
  return `${head}. ${letterOf(best.index)} beats ${against} on fairness in ${fair} of ${n} runs and on total throughput in ${more}.`
}

function nobody(figures: readonly SeedFigures[], weighed: readonly Weighed[], whys: readonly string[]): Verdict {
  const n = figures[0]?.seeds.length ?? 0
  const seeds = `${n} ${n === 1 ? 'seed' : 'seeds'}`
  if (weighed.length === 1) return { best: null, parts: [plain('Only the baseline was run.')], detail: `${seeds}.` }
  const jain = bandOf(figures[0]?.metrics.jain ?? [])
  const band = jain === null ? '' : `, baseline fairness ${jain.low.toFixed(2)} to ${jain.high.toFixed(2)}`
  const why = whys.length > 0 ? `; ${whys.join('; ')}` : ''
  const within = whys.length === weighed.length - 1 ? '' : ': the difference is within the scatter of the seeds'
  return {
    best: null,
    parts: [strong('No variant is better than the baseline'), plain(`${within}${why}.`)],
    detail: `${seeds}${band}.`,
  }
}

/**
 * The verdict of a comparison. Independent of the order of the seeds.
 *
 * @param figures  by variant, the baseline first.
 */
export function verdictOf(figures: readonly SeedFigures[], roles: Roles): Verdict {
  const movesBytes = figures.some((f) => (bandOf(f.metrics.throughputBps)?.high ?? 0) > 0)
  const total: Totals = movesBytes ? 'throughputBps' : 'throughputRpcs'
  const weighed = weigh(figures, total)
  const [base, ...others] = weighed
  const baseline = figures[0]
  if (!base || !baseline) return { best: null, parts: [plain('Nothing was run.')], detail: '' }
  const whys = others.map((w) => excluded(w, base, roles.victim))
  const able = others.filter((_, i) => whys[i] === undefined)
  const choice = choose(able, (m) => bandOf(baseline.metrics[m === 'total' ? total : m]))
  if (!choice) {
    return nobody(
      figures,
      weighed,
      whys.filter((w) => w !== undefined),
    )
  }
  const { best } = choice
  const merit = byMerit(
    choice.by === 'wait' ? (w) => -w.wait : (w) => (choice.by === 'fairness' ? w.jain : w.throughput),
  )
  const rivals = (able.length > 1 ? able : others).filter((w) => w !== best).toSorted(merit)
  return {
    best: best.index,
    parts: sentence(best, base, roles),
    detail: howSure(figures, best, rivals[0] ?? base, total),
  }
}
