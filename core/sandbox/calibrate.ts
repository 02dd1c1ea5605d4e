/**
 * Model calibration: a range is forked, run with several seeds, and compared with its recording.
 *
 * Errors are mean absolute differences over the recorded mean. A range that the model cannot be expected to follow
 * (gaps, a device whose speed changed, lost servers) is reported as out of range whatever the errors are: small errors
 * are then due to chance.
 */
import type { ForkInputs, ForkTarget } from './fork-inputs.ts'
import { inParts, mean, meanOr0, quantile, sum } from './fork-series.ts'
import type { RunReport } from './run-report.ts'

/**
 * A rate this many times lower, with service times as many times longer, indicates another device; RPC sizes make
 * smaller differences.
 */
const CHANGED = 3
/** Rates within this part of the highest are those of a healthy device. */
const ALIKE = 0.7
/** A shorter range is a burst that has not filled its bin, s. */
const LASTING_S = 2

/**
 * Detects a change of a device within a range.
 *
 * A device serves less because of lower demand, with shorter service times, or because it cannot do more, with longer
 * ones. A falling rate with service times that rise by as much indicates a fault (or a rebuild), and so do requests
 * that wait at a device which serves none.
 *
 * @returns a description of the change; undefined if none is detected.
 */
export function deviceChange(
  target: Pick<ForkTarget, 'rpcs' | 'serviceMs' | 'queued'>,
  binS: number,
): string | undefined {
  // Bins of a second: in shorter ones a slow device serves one RPC, or none.
  const parts = Math.max(1, Math.floor(target.rpcs.length * Math.min(1, binS)))
  const [rpcs, serviceMs, queued] = [target.rpcs, target.serviceMs, target.queued].map((v) => inParts(v, parts)) as [
    number[],
    number[],
    number[],
  ]
  const partS = (target.rpcs.length * binS) / Math.max(1, rpcs.length)
  const least = Math.max(2, Math.ceil(LASTING_S / partS))
  const stopped = longest(rpcs.map((r, i) => r === 0 && (queued[i] ?? 0) > 0))
  if (stopped >= least) return `served nothing for ${Math.round(stopped * partS)} s while requests waited`
  const fast = quantile(rpcs, 0.9)
  const fastMs = quantile(
    serviceMs.filter((_, i) => (rpcs[i] ?? 0) >= ALIKE * fast),
    0.5,
  )
  const slow = rpcs.map((r, i) => r > 0 && r < fast / CHANGED && (serviceMs[i] ?? 0) > CHANGED * fastMs)
  const run = longest(slow)
  return run >= least ? `was ${CHANGED} times slower or more for ${Math.round(run * partS)} s` : undefined
}

/** Length of the longest run. */
function longest(is: readonly boolean[]): number {
  let most = 0
  let now = 0
  for (const b of is) {
    now = b ? now + 1 : 0
    most = Math.max(most, now)
  }
  return most
}

export interface ErrorOf {
  readonly what: string
  readonly unit: string
  readonly recorded: number
  readonly predicted: number
  /** >= 0. */
  readonly error: number
}

export interface Calibrated {
  readonly errors: readonly ErrorOf[]
  readonly targets: { name: string[]; recorded: number[]; predicted: number[]; error: number[] }
  readonly jobs: { jobId: string[]; recorded: number[]; predicted: number[]; error: number[] }
  readonly chart: { t: number[]; recorded: (number | null)[]; predicted: number[] }
  readonly sentence: string
  readonly isInRange: boolean
  readonly knowledge: readonly { readonly level: 'unknown' | 'watch' | 'ok'; readonly text: string }[]
}

/** Errors up to which the model counts as accurate. */
export const RANGE = { total: 0.15, overTime: 0.35, targets: 0.3, gaps: 0.1, service: 0.3 } as const
const POINTS = 60
const JOBS_MAX = 200
/** More than this many times the observed maximum is beyond the data of the fit. */
const BEYOND = 1.15

const figure = (n: number): string => Math.round(n).toLocaleString('en')
const percent = (part: number): string => `${Math.round(100 * part)} %`
const errorOf = (recorded: number, predicted: number): number =>
  recorded > 0 ? Math.abs(predicted - recorded) / recorded : predicted > 0 ? 1 : 0

const median = (values: readonly number[]): number => {
  const m = quantile(values, 0.5)
  return Number.isNaN(m) ? 0 : m
}

export interface CalibrateOptions {
  /** Scenario name of a recorded target. */
  readonly nameOf: (target: string) => string
  /** Events of the cluster in this range, for display. */
  readonly events: readonly string[]
}

/**
 * Compares the recording with the runs.
 *
 * @param inputs   the recording, as it was forked.
 * @param reports  one per seed, each as long as all bins together; at least one.
 */
export function calibrate(inputs: ForkInputs, reports: readonly RunReport[], options: CalibrateOptions): Calibrated {
  const lengthS = inputs.binAtS.length * inputs.binS
  const osts = new Map(inputs.targets.map((t) => [options.nameOf(t.name), t]))
  const predictedOf = (name: string): number =>
    median(reports.map((r) => (r.targets.find((t) => t.name === name)?.servedRpcs ?? 0) / r.seconds))
  const targets = [...osts].map(([name, t]) => {
    const recorded = meanOr0(t.rpcs)
    const predicted = predictedOf(name)
    return { name: t.name, recorded, predicted, error: errorOf(recorded, predicted) }
  })
  const jobs = jobErrors(inputs, reports)
  const recordedTotal = sum(inputs.targets.map((t) => t.rpcs))
  const chart = chartOf(inputs, recordedTotal, reports, new Set(osts.keys()), lengthS)
  const total: ErrorOf = totalError(
    meanOr0(recordedTotal),
    targets.map((t) => t.predicted),
  )
  const overTime = timeError(chart)
  const worst = quantile(
    targets.filter((t) => t.recorded > 0).map((t) => t.error),
    0.95,
  )
  const targetError = Number.isNaN(worst) ? 0 : worst
  const errors: ErrorOf[] = [
    total,
    { ...total, what: 'RPC/s over time', error: overTime },
    ...serviceError(inputs, reports, options),
    { ...total, what: 'RPC/s by target, p95 of the errors', error: targetError },
    { what: 'RPC/s by job, weighted', unit: 'RPC/s', ...jobs.sum },
    ...metadataError(inputs, reports, osts),
  ]
  const doubts = doubtsOf(inputs, { whole: total, overTime, targetError, lengthS, options, targets, chart })
  const isInRange = doubts.length === 0
  const sentence =
    `predicted ${figure(total.predicted)} RPC/s, recorded ${figure(total.recorded)} (${percent(total.error)}); ` +
    `p95 of target errors ${percent(targetError)}; jobs ${percent(jobs.sum.error)}${isInRange ? '' : '; out of range'}`
  return {
    errors,
    targets: columnsOf(targets),
    jobs: jobs.columns,
    chart,
    sentence,
    isInRange,
    knowledge: [
      ...doubts.map((text) => ({ level: 'unknown' as const, text })),
      ...watched(errors),
      ...(isInRange
        ? [{ level: 'ok' as const, text: `Errors are within ${percent(RANGE.total)} of the total: in range.` }]
        : []),
    ],
  }
}

/** Rates may be right while waits are not: near saturation a little more demand means much more waiting. */
function watched(errors: readonly ErrorOf[]): { level: 'watch'; text: string }[] {
  const service = errors.find((e) => e.what === 'service time')
  if (!service || service.error <= RANGE.service) return []
  const p = service.predicted.toFixed(1)
  const r = service.recorded.toFixed(1)
  return [
    {
      level: 'watch',
      text: `Service times are ${percent(service.error)} off (${p} ms, recorded ${r} ms): trust rates more than waits.`,
    },
  ]
}

const totalError = (recorded: number, predictedParts: readonly number[]): ErrorOf => {
  const predicted = predictedParts.reduce((a, b) => a + b, 0)
  return { what: 'RPC/s on OSTs', unit: 'RPC/s', recorded, predicted, error: errorOf(recorded, predicted) }
}

function columnsOf(
  rows: readonly { name: string; recorded: number; predicted: number; error: number }[],
): Calibrated['targets'] {
  return {
    name: rows.map((r) => r.name),
    recorded: rows.map((r) => r.recorded),
    predicted: rows.map((r) => r.predicted),
    error: rows.map((r) => r.error),
  }
}

function jobErrors(
  inputs: ForkInputs,
  reports: readonly RunReport[],
): { columns: Calibrated['jobs']; sum: { recorded: number; predicted: number; error: number } } {
  const served = new Map<string, number[]>()
  for (const r of reports) {
    for (const j of r.jobs) {
      const list = served.get(j.jobId)
      if (list) list.push(j.servedRpcs / r.seconds)
      else served.set(j.jobId, [j.servedRpcs / r.seconds])
    }
  }
  const rows = inputs.jobs
    .map((j) => {
      const recorded = meanOr0(j.rpcs) + meanOr0(j.mdops)
      const predicted = median(served.get(j.jobId) ?? [])
      return { jobId: j.jobId, recorded, predicted, error: errorOf(recorded, predicted) }
    })
    // A job that was merged into others has no prediction of its own.
    .filter((r) => r.recorded > 0 && served.has(r.jobId))
    .sort((a, b) => b.recorded - a.recorded)
  const recorded = rows.reduce((n, r) => n + r.recorded, 0)
  const predicted = rows.reduce((n, r) => n + r.predicted, 0)
  const off = rows.reduce((n, r) => n + Math.abs(r.predicted - r.recorded), 0)
  const shown = rows.slice(0, JOBS_MAX)
  return {
    columns: {
      jobId: shown.map((r) => r.jobId),
      recorded: shown.map((r) => r.recorded),
      predicted: shown.map((r) => r.predicted),
      error: shown.map((r) => r.error),
    },
    sum: { recorded, predicted, error: recorded > 0 ? off / recorded : 0 },
  }
}

/** RPC/s of all OSTs in parts of equal length. */
function chartOf(
  inputs: ForkInputs,
  recorded: readonly number[],
  reports: readonly RunReport[],
  osts: ReadonlySet<string>,
  lengthS: number,
): Calibrated['chart'] {
  const parts = inParts(recorded, POINTS)
  const stepS = lengthS / parts.length
  const series = reports.map((r) => {
    const all = r.targets.filter((t) => osts.has(t.name)).map((t) => Array.from(t.rpcs))
    const total = sum(all).map((v) => (Number.isNaN(v) ? 0 : v))
    return parts.map((_, i) => between(total, r.binS, i * stepS, (i + 1) * stepS) / stepS)
  })
  return {
    t: parts.map((_, i) => i * stepS),
    recorded: parts.map((v) => (Number.isNaN(v) ? null : v)),
    predicted: parts.map((_, i) => median(series.map((s) => s[i] ?? 0))),
  }
}

/** Sums the counts of bins in [from, to) s, partial bins in proportion. */
function between(counts: readonly number[], binS: number, from: number, to: number): number {
  let n = 0
  for (let i = Math.max(0, Math.floor(from / binS)); i * binS < to && i < counts.length; i++) {
    const overlap = Math.min(to, (i + 1) * binS) - Math.max(from, i * binS)
    n += ((counts[i] as number) * Math.max(0, overlap)) / binS
  }
  return n
}

function timeError({ recorded, predicted }: Calibrated['chart']): number {
  let off = 0
  let all = 0
  recorded.forEach((r, i) => {
    if (r === null) return
    off += Math.abs(r - (predicted[i] ?? 0))
    all += r
  })
  return all > 0 ? off / all : 0
}

function serviceError(inputs: ForkInputs, reports: readonly RunReport[], { nameOf }: CalibrateOptions): ErrorOf[] {
  let recorded = 0
  let predicted = 0
  let weight = 0
  for (const t of inputs.targets) {
    const rate = meanOr0(t.rpcs)
    const ms = mean(t.serviceMs)
    const seen = reports.map((r) => r.targets.find((x) => x.name === nameOf(t.name))?.serviceMs ?? NaN)
    const model = quantile(seen, 0.5)
    if (!(rate > 0) || Number.isNaN(ms) || Number.isNaN(model)) continue
    recorded += ms * rate
    predicted += model * rate
    weight += rate
  }
  if (weight === 0) return []
  const r = recorded / weight
  const p = predicted / weight
  return [{ what: 'service time', unit: 'ms', recorded: r, predicted: p, error: errorOf(r, p) }]
}

function metadataError(
  inputs: ForkInputs,
  reports: readonly RunReport[],
  osts: ReadonlyMap<string, unknown>,
): ErrorOf[] {
  const recorded = inputs.jobs.reduce((n, j) => n + meanOr0(j.mdops), 0)
  if (recorded === 0 || inputs.mdts.length === 0) return []
  const predicted = median(
    reports.map((r) => r.targets.filter((t) => !osts.has(t.name)).reduce((n, t) => n + t.servedRpcs, 0) / r.seconds),
  )
  return [{ what: 'metadata operations', unit: 'op/s', recorded, predicted, error: errorOf(recorded, predicted) }]
}

interface Found {
  readonly whole: ErrorOf
  readonly overTime: number
  readonly targetError: number
  readonly lengthS: number
  readonly options: CalibrateOptions
  readonly targets: readonly { readonly name: string; readonly predicted: number }[]
  readonly chart: Calibrated['chart']
}

/** Reasons why the model does not apply to this range; empty if there are none. */
function doubtsOf(inputs: ForkInputs, found: Found): string[] {
  const { whole, overTime, targetError, options, targets } = found
  const out: string[] = []
  const lost = inputs.gaps.reduce((n, g) => n + g.toS - g.fromS, 0) / inputs.spanS
  if (lost > RANGE.gaps) out.push(`${percent(lost)} of the range was not measured.`)
  for (const t of inputs.targets) {
    const change = deviceChange(t, inputs.binS)
    if (change !== undefined) out.push(`${t.name} ${change}: the model has one device for the whole range.`)
  }
  out.push(...options.events.slice(0, 5).map((e) => `In this range: ${e}.`))
  if (whole.error > RANGE.total)
    out.push(`The total is ${percent(whole.error)} off, more than ${percent(RANGE.total)}.`)
  else if (overTime > RANGE.overTime)
    out.push(`Over time it is ${percent(overTime)} off: the mean matches, the shape does not.`)
  if (targetError > RANGE.targets) out.push(`The p95 of the errors by target is ${percent(targetError)}.`)
  const beyond = targets.filter(({ name, predicted }) => {
    const most = quantile(inputs.targets.find((t) => t.name === name)?.rpcs ?? [], 0.99)
    return predicted > BEYOND * most
  })
  if (beyond.length > 0)
    out.push(
      `Predicted above the recorded maximum: ${beyond
        .slice(0, 4)
        .map((t) => t.name)
        .join(', ')}.`,
    )
  return out.slice(0, 30)
}
