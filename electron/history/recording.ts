/**
 * Writes a range of a cluster's history into a separate file with the tables of the history, so that any console can open it.
 * Samples are copied in small batches, so that sampling into the source continues.
 */
import type Database from 'better-sqlite3'
import type { Span } from '#core/api/history.ts'
import { fail, ok, type Result } from '#core/base/result.ts'
import { PLAIN } from '#core/snapshot/redactor.ts'
import { BlockReader } from './block-reader.ts'
import { copyBlocks } from './copy-blocks.ts'
import { copyFacts, copyJobs, copyPlaneSeries, copyTimedRows, type Copy } from './copy-rows.ts'
import { KeySet } from './key-set.ts'
import { Refusal, writeNewFile } from './new-file.ts'
import { RECORDING, type RecordingFacts } from './recording-facts.ts'
import { reductionOf } from './reduction.ts'

export interface WrittenRecording {
  readonly file: string
  readonly bytes: number
}

const MESSAGES = {
  code: 'RECORDING',
  what: 'The recording was not written',
  next: 'Free space where recordings are kept, or choose a shorter range.',
}

const breath = (): Promise<void> => new Promise((done) => setImmediate(done))

/**
 * Copies the audit of the range; for live clusters only from before the enforcement store existed. The anchor is the last record
 * that is left out.
 */
function copyAudit({ from, to, span }: Copy, kind: string): void {
  const { fromMs, toMs } = span
  const chain = 'chain = ? AND at_ms >= ? AND at_ms < ?'
  const records = from.prepare(`SELECT * FROM audit WHERE ${chain} ORDER BY number`).raw().all(kind, fromMs, toMs)
  const insert = to.prepare('INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?)')
  to.transaction(() => {
    for (const r of records) insert.run(r)
  })()
  const anchor = from
    .prepare(
      `SELECT chain, number, hash FROM audit WHERE chain = ? AND number < (SELECT min(number) FROM audit WHERE ${chain})
       ORDER BY number DESC LIMIT 1`,
    )
    .raw()
    .get(kind, kind, fromMs, toMs)
  if (anchor) to.prepare('INSERT INTO audit_anchor VALUES (?, ?, ?)').run(anchor)
}

/**
 * Writes the samples and all other data of a cluster in [fromMs, toMs) to a new file.
 *
 * @param options  pagesMax: largest size in pages of 4 KiB.
 * @returns        failures: RECORDING_EXISTS, RECORDING_EMPTY if the span has no data, RECORDING_FAILED (a full disk).
 */
export async function writeRecording(
  db: Database.Database,
  cluster: number,
  { fromMs, toMs }: Span,
  file: string,
  options: { readonly pagesMax?: number } = {},
): Promise<Result<WrittenRecording>> {
  const span = { fromMs: Math.round(fromMs), toMs: Math.round(toMs) }
  const written = await writeNewFile(file, MESSAGES, options, async (to) => {
    const copy: Copy = { from: db, to, cluster, span, redactor: PLAIN, breathe: breath }
    const known = copyFacts(copy)
    const samples = await copyBlocks(copy, new BlockReader(db, cluster), {})
    if (!known || samples.blocks === 0) {
      throw new Refusal(
        fail({
          code: 'RECORDING_EMPTY',
          what: MESSAGES.what,
          why: 'the range has no data',
          next: 'Choose a range that has samples.',
        }),
      )
    }
    copyAudit(copy, known.kind)
    await copyTimedRows(copy)
    const jobs = new KeySet()
    for (const keys of samples.jobs) jobs.add(keys.keys())
    await copyJobs(copy, jobs.keys())
    copyPlaneSeries(copy, [...samples.planes.keys()])
    const facts: RecordingFacts = { cluster: known.name, kind: known.kind, ...span }
    const setting = JSON.stringify({ ...facts, reduction: reductionOf(db) })
    to.prepare('INSERT INTO setting VALUES (?, ?)').run(RECORDING, setting)
  })
  return written.ok ? ok({ file, bytes: written.value.bytes }) : written
}
