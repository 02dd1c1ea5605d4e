/** Busiest jobs of the span at each instant, and the sum of all others. */
import { plainText } from '#core/base/plain-text.ts'
import { PROMINENT, type JobColors } from '#core/series/job-colors.ts'
import type { ReplayData } from '#core/snapshot/replay-data.ts'
import { Means, rounded, roundedBytes, roundedShare, roundedTokens } from '#core/snapshot/replay-downsample.ts'
import { positionOf } from '../../history/one-series.ts'
import { JOB_COLUMNS, type Block, type HistoryJob } from '../../history/reader.ts'
import type { Reading } from './replay-reading.ts'

/** Points used to find the busiest jobs: answered by a coarse tier, in which every job has its own means. */
const TOP_POINTS = 120
/** Name of the aggregate of jobs without samples at this resolution in an excerpt. */
const SUMMED = /^\((\d+) other jobs\)(?: \d+)?$/

const COLUMN = Object.fromEntries(JOB_COLUMNS.map((name, i) => [name, i])) as Record<
  (typeof JOB_COLUMNS)[number],
  number
>

interface JobMeans {
  readonly rpcs: Means
  readonly readBps: Means
  readonly writeBps: Means
  readonly mdops: Means
  readonly throttled: Means
  readonly record: Means
}

const meansOf = (n: number): JobMeans => ({
  rpcs: new Means(n),
  readBps: new Means(n),
  writeBps: new Means(n),
  mdops: new Means(n),
  throttled: new Means(n),
  record: new Means(n),
})

/** Sum over a column; gaps add nothing. */
function sumOf(values: Float32Array): number {
  let sum = 0
  for (let i = 0; i < values.length; i++) {
    const v = values[i] as number
    if (v === v) sum += v
  }
  return sum
}

const SUMS = ['rpcs', 'readBps', 'writeBps', 'mdops'] as const

interface Chosen {
  readonly key: number
  readonly means: JobMeans
  isSeen: boolean
}

/** Adds one instant: a job missing from its block was idle then, and had no record. */
function addBlock(block: Block, at: number, chosen: readonly Chosen[], rest: JobMeans): void {
  const column = (name: (typeof JOB_COLUMNS)[number]): Float32Array => block.columns[COLUMN[name]] as Float32Array
  const sums = SUMS.map(column)
  const records = column('record')
  const recordRests = column('recordRest')
  const throttled = column('throttled')
  const places = chosen.map(({ key }) => positionOf(block.keys, key))
  SUMS.forEach((name, c) => {
    const values = sums[c] as Float32Array
    let remaining = sumOf(values)
    for (let k = 0; k < chosen.length; k++) {
      const i = places[k] as number
      const v = i < 0 ? 0 : (values[i] as number)
      ;(chosen[k] as Chosen).means[name].add(at, v)
      if (v === v) remaining -= v
    }
    // Rounding error of single precision is not traffic.
    rest[name].add(at, Math.max(0, remaining))
  })
  for (let k = 0; k < chosen.length; k++) {
    const i = places[k] as number
    if (i < 0) continue
    const job = chosen[k] as Chosen
    const { means } = job
    job.isSeen = true
    means.throttled.add(at, throttled[i] as number)
    means.record.add(at, (records[i] as number) + (recordRests[i] as number))
  }
}

/** Gives colors to the jobs that lead the charts of the page: those with most RPCs, and those with most bytes. */
function colorLargest(
  jobs: readonly { readonly job: HistoryJob; readonly means: JobMeans }[],
  jobColors: JobColors,
): void {
  const byBytes = jobs
    .map(({ job: { jobId }, means }) => ({ jobId, bps: (means.readBps.mean() ?? 0) + (means.writeBps.mean() ?? 0) }))
    .sort((a, b) => b.bps - a.bps || (a.jobId < b.jobId ? -1 : 1))
  jobColors.colors(jobs.slice(0, PROMINENT).map(({ job }) => job.jobId))
  jobColors.colors(byBytes.slice(0, PROMINENT).map(({ jobId }) => jobId))
}

/**
 * @param known  number of jobs of the span.
 * @param most   jobs with figures of their own.
 */
export function replayJobs(
  from: Reading,
  known: number,
  most: number,
  jobColors: JobColors,
): Pick<ReplayData, 'jobs' | 'other'> {
  const { reader, tier, fromMs, lastMs, thinned } = from
  const n = thinned.t.length
  const top = reader.top({ fromMs, toMs: lastMs + 1 }, 'job', most + 2, TOP_POINTS).series
  const found = top
    .filter((s) => !SUMMED.test(s.name))
    .slice(0, most)
    .flatMap((s) => reader.jobByName(s.name) ?? [])
  const chosen = found.map((job) => ({ key: job.key, job, means: meansOf(n), isSeen: false }))
  const rest = meansOf(n)
  for (const block of reader.jobsBetween(tier, fromMs, lastMs)) {
    const at = from.indexOf(block.atMs)
    if (at !== undefined) addBlock(block, at, chosen, rest)
  }
  // A job without samples at this resolution is part of the others there: its column is a gap, not zero.
  const jobs = chosen.map(({ job, means, isSeen }) => ({ job, means: isSeen ? means : meansOf(n) }))
  const order = jobs
    .map((j) => ({ ...j, mean: j.means.rpcs.mean() }))
    .sort((a, b) => (b.mean ?? -1) - (a.mean ?? -1) || (a.job.jobId < b.job.jobId ? -1 : 1))
  colorLargest(order, jobColors)
  return {
    jobs: order.map(({ job, means, mean }) => ({
      name: plainText(job.jobId),
      user: plainText(job.user),
      account: plainText(job.account),
      nodes: job.nodes,
      ink: jobColors.of(job.jobId),
      mean,
      rpcs: means.rpcs.column(rounded),
      mdops: means.mdops.column(rounded),
      readBps: means.readBps.column(roundedBytes),
      writeBps: means.writeBps.column(roundedBytes),
      throttled: means.throttled.column(roundedShare),
      record: means.record.column(roundedTokens),
    })),
    other: {
      jobs: Math.max(0, known - jobs.length),
      rpcs: rest.rpcs.column(rounded),
      mdops: rest.mdops.column(rounded),
      readBps: rest.readBps.column(roundedBytes),
      writeBps: rest.writeBps.column(roundedBytes),
    },
  }
}
