/**
 * An excerpt: a recording of a stretch for people elsewhere. Names are replaced on the way, and of many jobs the busiest keep all their
 * samples while the others are one sum; means of ten seconds keep every job. The same stretch gives the same bytes, of an excerpt too.
 */
import type { Database } from 'better-sqlite3'
import type { Span } from '#core/api/history.ts'
import { fail, ok, type Result } from '#core/base/result.ts'
import type { Redactor } from '#core/snapshot/redactor.ts'
import { BlockReader } from './block-reader.ts'
import { copyBlocks, type CopiedSamples } from './copy-blocks.ts'
import { copyFacts, copyJobs, copyMoments, type Copy } from './copy-rows.ts'
import { missingOf } from './excerpt-missing.ts'
import { chooseFit, thinningOf, type Fit } from './fit.ts'
import { KeySet } from './key-set.ts'
import { Refusal, writeNewFile, type NewFileWords } from './new-file.ts'
import { RECORDING, type RecordingFacts } from './recording-facts.ts'
import { OTHERS_KEY, reductionOf, type Reduction } from './reduction.ts'
import { tierOf } from './tiers.ts'

export interface ExcerptFacts {
  readonly bytes: number
  readonly jobs: number
  /** Jobs with samples of their own in the finest tier. */
  readonly jobsWhole: number
  readonly targets: number
  readonly servers: number
  /** Of the finest tier, and which it is. */
  readonly instants: number
  readonly tier: string
  /** In words: what could not be in it, and what is summed. */
  readonly missing: string[]
}

export interface ExcerptOptions {
  readonly redactor: Redactor
  /** fit: what a bundle of a moderate size takes; all: every sample. */
  readonly detail: 'fit' | 'all'
  /** Job ids, as the source has them, that keep their samples before others. */
  readonly keepJobs: ReadonlySet<string>
  /** Samples of jobs that a tier may have before it is reduced; JOB_SAMPLES_FIT by default. */
  readonly fitSamples?: number
  readonly signal?: AbortSignal | undefined
  /** Largest size in pages of 4 KiB. */
  readonly pagesMax?: number | undefined
  /** Part that is done, 0 to 1. */
  readonly progress?: ((done: number) => void) | undefined
}

const WORDS: NewFileWords = {
  code: 'EXCERPT',
  what: 'The part of the history was not written',
  next: 'Free space in the folder for temporary files, or choose a shorter stretch.',
}

const refuse = (code: string, why: string, next: string): Refusal =>
  new Refusal(fail({ code, what: WORDS.what, why, unaffected: 'The history is as it was.', next }))

const breath = (): Promise<void> => new Promise((done) => setImmediate(done))

const isRecording = (db: Database): boolean =>
  db.prepare('SELECT 1 FROM setting WHERE name = ?').get(RECORDING) !== undefined

/**
 * Writes the samples and everything else of a cluster in [span.fromMs, span.toMs) to a new file, redacted and reduced.
 *
 * @param db  is read in one transaction where it is a connection for reading only: all is of one moment. Of one that is written to as
 *            well, what is added or evicted meanwhile may be in it or not.
 * @returns   failures: EXCERPT_EXISTS, EXCERPT_EMPTY where nothing is kept of the span, EXCERPT_NAMES where two names have one
 *            stand-in, EXCERPT_CANCELLED, EXCERPT_FAILED (a full disk); none leaves anything behind.
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
    const written = await writeNewFile(file, WORDS, o, (to) => fill(db, to, cluster, span, o))
    if (!written.ok) return written
    return ok({ bytes: written.value.bytes, ...written.value.made })
  } finally {
    if (isOne && db.inTransaction) db.exec('COMMIT')
  }
}

/** Where samples are. */
function keptText(kept: { readonly fromMs: number; readonly toMs: number } | undefined): string {
  const at = (ms: number): string => new Date(Math.round(ms)).toISOString()
  return kept ? `: they are of ${at(kept.fromMs)} to ${at(kept.toMs)}` : ''
}

/** Steps of the work and what part of it each takes. */
async function fill(
  from: Database,
  to: Database,
  cluster: number,
  { fromMs, toMs }: Span,
  o: ExcerptOptions,
): Promise<Omit<ExcerptFacts, 'bytes'>> {
  let [begun, part] = [0, 0.1]
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
    // What was reduced once fits; nothing is taken away twice.
    const fit = o.detail === 'fit' && !before ? await chooseFit(copy, reader, o.keepJobs, o.fitSamples) : undefined
    next(0.6)
    const samples = await copyBlocks(copy, reader, { fit, isRolled: o.detail === 'fit' })
    if (!known || samples.blocks === 0) {
      throw refuse(
        'EXCERPT_EMPTY',
        'nothing is kept of that stretch',
        `Choose a stretch that has samples${keptText(reader.kept())}.`,
      )
    }
    next(0.2)
    const thin = o.detail === 'fit' && !before ? thinningOf(copy) : undefined
    await copyMoments(copy, thin)
    next(0.1)
    const reduction =
      o.detail === 'fit' || before
        ? reductionFrom(fit, before, samples, thin?.withoutMoves ?? before?.withoutMoves)
        : undefined
    const others = reduction && reduction.others > 0 ? reduction.others : 0
    const sampled = jobsOf(samples).keys()
    await copyJobs(copy, others > 0 ? sampled.filter((key) => key !== OTHERS_KEY) : sampled)
    if (others > 0) putOthers(copy, others)
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
      const why = 'two names of the cluster have the same stand-in, or the history names one twice'
      throw refuse('EXCERPT_NAMES', `${why} (${e.message})`, 'Export without pseudonyms, or report this.')
    }
    throw e
  }
}

function reductionFrom(
  fit: Fit | undefined,
  before: Reduction | undefined,
  samples: CopiedSamples,
  withoutMoves = false,
): Reduction {
  const hasOthers = samples.jobs.some((keys) => keys.has(OTHERS_KEY))
  return {
    others: hasOthers ? (fit?.others ?? before?.others ?? 0) : 0,
    left: [...(fit?.left ?? before?.left ?? [])],
    withoutMoves,
  }
}

function jobsOf({ jobs }: CopiedSamples): KeySet {
  const all = new KeySet()
  for (const keys of jobs) all.add(keys.keys())
  return all
}

/** The job that is the others; a job that somebody gave that very name keeps it. */
function putOthers({ to, cluster, span }: Copy, others: number): void {
  const isTaken = to.prepare('SELECT 1 FROM job WHERE cluster = ? AND job_id = ?')
  const plain = `(${others} other jobs)`
  let name = plain
  for (let i = 2; isTaken.get(cluster, name) !== undefined; i++) name = `${plain} ${i}`
  to.prepare('INSERT INTO job VALUES (?, ?, ?, ?, ?, ?, NULL, ?, ?)').run(
    ...[OTHERS_KEY, cluster, name, '', '', '', span.fromMs, span.toMs],
  )
}

/** All from the written file: an excerpt of it says the same. */
function factsOf(copy: Copy, samples: CopiedSamples, reduction: Reduction | undefined): Omit<ExcerptFacts, 'bytes'> {
  const { to, cluster, span } = copy
  const of = 'FROM instant WHERE cluster = ? AND tier = ? AND at_ms >= ? AND at_ms < ?'
  const count = to.prepare(`SELECT count(*) ${of}`).pluck()
  const counts = samples.jobs.map((_, tier) => Number(count.get(cluster, tier, span.fromMs, span.toMs)))
  const finest = Math.max(
    0,
    counts.findIndex((n) => n > 0),
  )
  const others = reduction && reduction.others > 0 ? 1 : 0
  const jobs = jobsOf(samples).size - others
  const whole = (samples.jobs[finest]?.size ?? 0) - (others === 1 && samples.jobs[finest]?.has(OTHERS_KEY) ? 1 : 0)
  const keys = JSON.stringify([...samples.targets.keys()])
  const servers = to
    .prepare('SELECT count(DISTINCT node) FROM target WHERE cluster = ? AND id IN (SELECT value FROM json_each(?))')
    .pluck()
  return {
    ...{ jobs, jobsWhole: whole, targets: samples.targets.size, servers: Number(servers.get(cluster, keys)) },
    ...{ instants: counts[finest] ?? 0, tier: tierOf(finest), missing: missingOf(copy, reduction) },
  }
}
