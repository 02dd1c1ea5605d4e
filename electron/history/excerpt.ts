/**
 * Excerpts: recordings of a range to share. Names are replaced, and of many jobs only the busiest keep all their samples while the
 * others are summed; means of ten seconds keep every job. The same range yields the same bytes, also from an excerpt.
 */
import type { Database } from 'better-sqlite3'
import type { Span } from '#core/api/history.ts'
import { fail, ok, type Result } from '#core/base/result.ts'
import type { Redactor } from '#core/snapshot/redactor.ts'
import { BlockReader } from './block-reader.ts'
import { copyBlocks, type CopiedSamples } from './copy-blocks.ts'
import { copyFacts, copyJobs, copyPlaneSeries, copyTimedRows, type Copy } from './copy-rows.ts'
import { missingOf } from './excerpt-missing.ts'
import { fitToLimits, thinningOf, type FittedDetail } from './fit-to-limits.ts'
import { KeySet } from './key-set.ts'
import { Refusal, writeNewFile, type NewFileMessages } from './new-file.ts'
import { RECORDING, type RecordingFacts } from './recording-facts.ts'
import { OTHER_JOBS_KEY, reductionOf, type Reduction } from './reduction.ts'
import { tierOf } from './tiers.ts'

export interface ExcerptFacts {
  readonly bytes: number
  readonly jobs: number
  /** Jobs with individual samples in the finest tier. */
  readonly jobsWhole: number
  readonly targets: number
  readonly servers: number
  /** Number of instants in the finest tier. */
  readonly instants: number
  /** Id of the finest tier. */
  readonly tier: string
  /** Description of what is missing and what is summed. */
  readonly missing: string[]
}

export interface ExcerptOptions {
  readonly redactor: Redactor
  /** fit: reduced to a moderate bundle size; all: every sample. */
  readonly detail: 'fit' | 'all'
  /** Job ids, as in the source, whose samples are kept with priority. */
  readonly keepJobs: ReadonlySet<string>
  /** Most samples of jobs in a tier before it is reduced; FIT_JOB_SAMPLES_MAX by default. */
  readonly fitSamples?: number
  readonly signal?: AbortSignal | undefined
  /** Largest size in pages of 4 KiB. */
  readonly pagesMax?: number | undefined
  /** Progress, 0 to 1. */
  readonly progress?: ((done: number) => void) | undefined
}

const MESSAGES: NewFileMessages = {
  code: 'EXCERPT',
  what: 'The excerpt was not written',
  next: 'Free space in the folder for temporary files, or choose a shorter range.',
}

const refuse = (code: string, why: string, next: string): Refusal =>
  new Refusal(fail({ code, what: MESSAGES.what, why, unaffected: 'The history is unchanged.', next }))

const breath = (): Promise<void> => new Promise((done) => setImmediate(done))

const isRecording = (db: Database): boolean =>
  db.prepare('SELECT 1 FROM setting WHERE name = ?').get(RECORDING) !== undefined

/**
 * Writes the samples and all other data of a cluster in [span.fromMs, span.toMs) to a new file, redacted and reduced.
 *
 * @param db  with a read-only connection, read in one transaction and therefore consistent. With a connection that also writes,
 *            data added or evicted meanwhile may or may not be included.
 * @returns   failures: EXCERPT_EXISTS, EXCERPT_EMPTY if the span has no data, EXCERPT_NAMES if two names have one pseudonym,
 *            EXCERPT_CANCELLED, EXCERPT_FAILED (a full disk); none leaves a file behind.
 */
export async function writeExcerpt(
  db: Database,
  cluster: number,
  span: Span,
  file: string,
  o: ExcerptOptions,
): Promise<Result<ExcerptFacts>> {
  const isOne = db.readonly && !db.inTransaction
  try {
    if (isOne) db.exec('BEGIN')
    const written = await writeNewFile(file, MESSAGES, o, (to) => fill(db, to, cluster, span, o))
    if (!written.ok) return written
    return ok({ bytes: written.value.bytes, ...written.value.made })
  } finally {
    if (isOne && db.inTransaction) db.exec('COMMIT')
  }
}

/** Describes the range of the samples. */
function extentText(extent: { readonly fromMs: number; readonly toMs: number } | undefined): string {
  const at = (ms: number): string => new Date(Math.round(ms)).toISOString()
  return extent ? `: data exist from ${at(extent.fromMs)} to ${at(extent.toMs)}` : ''
}

/** Runs the steps, each with its part of the progress. */
async function fill(
  from: Database,
  to: Database,
  cluster: number,
  { fromMs, toMs }: Span,
  o: ExcerptOptions,
): Promise<Omit<ExcerptFacts, 'bytes'>> {
  let begun = 0
  let part = 0.1
  const breathe = async (done: number): Promise<void> => {
    o.progress?.(Math.min(1, begun + part * Math.max(0, Math.min(1, done))))
    await breath()
    o.signal?.throwIfAborted()
  }
  const next = (length: number): void => {
    begun += part
    part = length
  }
  const span = { fromMs: Math.round(fromMs), toMs: Math.round(toMs) }
  const copy: Copy = { from, to, cluster, span, redactor: o.redactor, breathe }
  o.signal?.throwIfAborted()
  const reader = new BlockReader(from, cluster, isRecording(from))
  const before = reductionOf(from)
  try {
    const known = copyFacts(copy)
    // A reduced source fits as it is; nothing is reduced twice.
    const fit = o.detail === 'fit' && !before ? await fitToLimits(copy, reader, o.keepJobs, o.fitSamples) : undefined
    next(0.6)
    const samples = await copyBlocks(copy, reader, { fit, isRolled: o.detail === 'fit' })
    if (!known || samples.blocks === 0) {
      throw refuse(
        'EXCERPT_EMPTY',
        'the range has no data',
        `Choose a range that has samples${extentText(reader.fullExtent())}.`,
      )
    }
    next(0.2)
    const thin = o.detail === 'fit' && !before ? thinningOf(copy) : undefined
    await copyTimedRows(copy, thin)
    next(0.1)
    const reduction =
      o.detail === 'fit' || before
        ? reductionFrom(fit, before, samples, thin?.withoutMoves ?? before?.withoutMoves)
        : undefined
    const summedJobs = reduction && reduction.others > 0 ? reduction.others : 0
    const sampled = jobsOf(samples).keys()
    await copyJobs(copy, summedJobs > 0 ? sampled.filter((key) => key !== OTHER_JOBS_KEY) : sampled)
    copyPlaneSeries(copy, [...samples.planes.keys()])
    if (summedJobs > 0) putOtherJobs(copy, summedJobs)
    const name = o.redactor.isOn ? o.redactor.name('cluster', known.name) : known.name
    const facts: RecordingFacts & { reduction: Reduction | undefined } = {
      cluster: name,
      kind: known.kind,
      ...span,
      reduction,
    }
    to.prepare('INSERT INTO setting VALUES (?, ?)').run(RECORDING, JSON.stringify(facts))
    return factsOf(copy, samples, reduction)
  } catch (e) {
    if (e instanceof Error && 'code' in e && String(e.code).startsWith('SQLITE_CONSTRAINT')) {
      const why = 'two names of the cluster have the same pseudonym, or the history names one twice'
      throw refuse('EXCERPT_NAMES', `${why} (${e.message})`, 'Export without pseudonyms, or report this.')
    }
    throw e
  }
}

function reductionFrom(
  fit: FittedDetail | undefined,
  before: Reduction | undefined,
  samples: CopiedSamples,
  withoutMoves = false,
): Reduction {
  const hasOtherJobs = samples.jobs.some((keys) => keys.has(OTHER_JOBS_KEY))
  return {
    others: hasOtherJobs ? (fit?.others ?? before?.others ?? 0) : 0,
    left: [...(fit?.left ?? before?.left ?? [])],
    planesLeft: [...(fit?.planesLeft ?? before?.planesLeft ?? [])],
    withoutMoves,
  }
}

function jobsOf({ jobs }: CopiedSamples): KeySet {
  const all = new KeySet()
  for (const keys of jobs) all.add(keys.keys())
  return all
}

/** Adds the job that represents the others; a job that already has that name keeps it. */
function putOtherJobs({ to, cluster, span }: Copy, count: number): void {
  const isTaken = to.prepare('SELECT 1 FROM job WHERE cluster = ? AND job_id = ?')
  const plain = `(${count} other jobs)`
  let name = plain
  for (let i = 2; isTaken.get(cluster, name) !== undefined; i++) name = `${plain} ${i}`
  to.prepare('INSERT INTO job VALUES (?, ?, ?, ?, ?, ?, NULL, ?, ?)').run(
    ...[OTHER_JOBS_KEY, cluster, name, '', '', '', span.fromMs, span.toMs],
  )
}

/** Read from the written file: an excerpt of it reports the same. */
function factsOf(copy: Copy, samples: CopiedSamples, reduction: Reduction | undefined): Omit<ExcerptFacts, 'bytes'> {
  const { to, cluster, span } = copy
  const of = 'FROM instant WHERE cluster = ? AND tier = ? AND at_ms >= ? AND at_ms < ?'
  const count = to.prepare(`SELECT count(*) ${of}`).pluck()
  const counts = samples.jobs.map((_, tier) => Number(count.get(cluster, tier, span.fromMs, span.toMs)))
  const finest = Math.max(
    0,
    counts.findIndex((n) => n > 0),
  )
  const otherRows = reduction && reduction.others > 0 ? 1 : 0
  const jobs = jobsOf(samples).size - otherRows
  const jobCount =
    (samples.jobs[finest]?.size ?? 0) - (otherRows === 1 && samples.jobs[finest]?.has(OTHER_JOBS_KEY) ? 1 : 0)
  const keys = JSON.stringify([...samples.targets.keys()])
  const servers = to
    .prepare('SELECT count(DISTINCT node) FROM target WHERE cluster = ? AND id IN (SELECT value FROM json_each(?))')
    .pluck()
  return {
    jobs,
    jobsWhole: jobCount,
    targets: samples.targets.size,
    servers: Number(servers.get(cluster, keys)),
    instants: counts[finest] ?? 0,
    tier: tierOf(finest),
    missing: missingOf(copy, reduction),
  }
}
