/**
 * Writes a stretch of a cluster's past into a file of its own, of the same tables as the history, so that it opens on any console. It is
 * written beside its name and takes that name when it is whole: nothing half-written is ever left. Samples are copied a few at a time,
 * so that the source's own are still taken.
 */
import Database from 'better-sqlite3'
import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, linkSync, mkdirSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Span } from '#core/api/history.ts'
import { fail, ok, type Result } from '#core/base/result.ts'
import { BlockReader } from './block-reader.ts'
import { BlockTable } from './block-table.ts'
import { KINDS, pack } from './block.ts'
import { migrate } from './schema.ts'
import { floorTo, stepOf, TIER_COUNT } from './tiers.ts'

export interface WrittenRecording {
  readonly file: string
  readonly bytes: number
}

/** Setting of a recording that says what it is of. */
export const RECORDING = 'recording'

export interface RecordingFacts {
  readonly cluster: string
  readonly kind: string
  readonly fromMs: number
  readonly toMs: number
}

/** Blocks written in one transaction. */
const BLOCKS_AT_ONCE = 64
/** Rows of other tables are copied a stretch of the span at a time. */
const STRETCHES = 500
const STRETCH_LEAST_MS = 60_000

const breath = (): Promise<void> => new Promise((done) => setImmediate(done))

type Value = string | number | null
interface Copy {
  readonly from: Database.Database
  readonly to: Database.Database
  readonly cluster: number
  readonly span: Span
}

/** Copies rows as they are; the query's columns are those of the table. */
function copyRows({ from, to }: Copy, table: string, query: string, values: readonly Value[]): number {
  const rows = from.prepare(query).raw().all(values) as Value[][]
  const first = rows[0]
  if (!first) return 0
  const insert = to.prepare(`INSERT OR IGNORE INTO ${table} VALUES (${first.map(() => '?').join(', ')})`)
  to.transaction(() => {
    for (const r of rows) insert.run(r)
  })()
  return rows.length
}

async function copyBlocks(copy: Copy): Promise<{ blocks: number; jobs: Set<number> }> {
  const [reader, table] = [new BlockReader(copy.from, copy.cluster), new BlockTable(copy.to)]
  const jobs = new Set<number>()
  let blocks = 0
  for (let tier = 0; tier < TIER_COUNT; tier++) {
    // The interval in which the stretch begins belongs to it.
    const fromMs = tier === 0 ? copy.span.fromMs : floorTo(copy.span.fromMs, stepOf(tier))
    for (const kind of [KINDS.jobs, KINDS.targets, KINDS.cluster]) {
      const all = reader.between(kind, tier, fromMs, copy.span.toMs - 1)
      let isOver = false
      while (!isOver) {
        copy.to.transaction(() => {
          for (let i = 0; i < BLOCKS_AT_ONCE; i++) {
            const next = all.next()
            isOver = next.done === true
            if (next.done) return
            const { atMs, keys, columns } = next.value
            const n = keys.length
            table.put({ cluster: copy.cluster, kind, tier, atMs, ...pack(kind, { n, keys, columns }) })
            if (kind === KINDS.jobs) for (const k of keys) jobs.add(k)
            blocks++
          }
        })()
        await breath()
      }
    }
  }
  return { blocks, jobs }
}

/** What is of an instant, a stretch at a time. */
async function copyMoments(copy: Copy): Promise<void> {
  const { cluster, span } = copy
  const width = Math.max(STRETCH_LEAST_MS, Math.ceil((span.toMs - span.fromMs) / STRETCHES))
  const own = 'source IN (SELECT id FROM source WHERE cluster_id = ?) AND at_ms >= ? AND at_ms < ?'
  for (let from = span.fromMs; from < span.toMs; from += width) {
    const values = [cluster, Math.round(from), Math.round(Math.min(from + width, span.toMs))]
    copyRows(copy, 'decision', `SELECT * FROM decision WHERE ${own}`, values)
    copyRows(copy, 'adaptbf_moves', `SELECT * FROM adaptbf_moves WHERE ${own}`, values)
    copyRows(copy, 'event', `SELECT * FROM event WHERE ${own}`, values)
    copyRows(
      copy,
      'ldlm_sample',
      `SELECT * FROM ldlm_sample WHERE namespace IN (SELECT id FROM ldlm_namespace WHERE source IN
       (SELECT id FROM source WHERE cluster_id = ?)) AND at_ms >= ? AND at_ms < ?`,
      values,
    )
    copyRows(copy, 'kept_frame', 'SELECT * FROM kept_frame WHERE cluster = ? AND at_ms >= ? AND at_ms < ?', values)
    await breath()
  }
}

/** Who was there: the cluster, its starts until the end of the stretch, targets, rules that stood in it, and what had gone. */
function copyFacts(copy: Copy): RecordingFacts | undefined {
  const { from, to, cluster, span } = copy
  const [fromMs, toMs] = [Math.round(span.fromMs), Math.round(span.toMs)]
  const row = from.prepare('SELECT kind, name FROM cluster WHERE id = ?').get(cluster) as
    { kind: string; name: string } | undefined
  if (!row) return undefined
  copyRows(copy, 'cluster', 'SELECT * FROM cluster WHERE id = ?', [cluster])
  copyRows(copy, 'source', 'SELECT * FROM source WHERE cluster_id = ? AND started_ms < ?', [cluster, toMs])
  copyRows(copy, 'target', 'SELECT * FROM target WHERE cluster = ?', [cluster])
  const sources = 'source IN (SELECT id FROM source WHERE cluster_id = ?)'
  copyRows(copy, 'ldlm_namespace', `SELECT * FROM ldlm_namespace WHERE ${sources}`, [cluster])
  copyRows(copy, 'rule', `SELECT * FROM rule WHERE ${sources} AND from_ms < ? AND (to_ms IS NULL OR to_ms >= ?)`, [
    ...[cluster, toMs, fromMs],
  ])
  copyRows(copy, 'eviction', 'SELECT * FROM eviction WHERE cluster = ? AND from_ms < ? AND to_ms >= ?', [
    ...[cluster, toMs, fromMs],
  ])
  copyRows(copy, 'rolled', 'SELECT * FROM rolled WHERE cluster = ?', [cluster])
  // The audit of live clusters is in the store of what was enforced; what follows from a record that is left out is said.
  const chain = 'chain = ? AND at_ms >= ? AND at_ms < ?'
  copyRows(copy, 'audit', `SELECT * FROM audit WHERE ${chain}`, [row.kind, fromMs, toMs])
  copyRows(
    copy,
    'audit_anchor',
    `SELECT chain, number, hash FROM audit WHERE chain = ? AND number < (SELECT min(number) FROM audit WHERE ${chain})
     ORDER BY number DESC LIMIT 1`,
    [row.kind, row.kind, fromMs, toMs],
  )
  const facts = { cluster: row.name, kind: row.kind, fromMs, toMs }
  to.prepare('INSERT INTO setting VALUES (?, ?)').run(RECORDING, JSON.stringify(facts))
  return facts
}

function copyJobs(copy: Copy, keys: Set<number>): void {
  for (const side of ['lender', 'borrower'] as const) {
    const used = copy.to.prepare(`SELECT DISTINCT ${side} FROM adaptbf_moves`).pluck().all() as number[]
    for (const key of used) keys.add(key)
  }
  const read = copy.from.prepare('SELECT * FROM job WHERE cluster = ? AND id = ?').raw()
  const insert = copy.to.prepare('INSERT INTO job VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)')
  copy.to.transaction(() => {
    for (const key of keys) {
      const row = read.get(copy.cluster, key) as Value[] | undefined
      if (row) insert.run(row)
    }
  })()
}

/** Gives a whole file its name; refuses one that is taken meanwhile. @throws what the file system says. */
function settle(part: string, file: string): void {
  const handle = openSync(part, 'r+')
  fsyncSync(handle)
  closeSync(handle)
  try {
    linkSync(part, file)
    rmSync(part)
  } catch (e) {
    if (e instanceof Error && 'code' in e && e.code === 'EEXIST') throw e
    // A file system without links.
    if (existsSync(file)) throw e
    renameSync(part, file)
  }
}

const taken = (file: string): Result<never> =>
  fail({
    code: 'RECORDING_EXISTS',
    what: 'The recording was not written',
    why: `${file} is there already`,
    unaffected: 'It was not changed.',
    next: 'Choose another name.',
  })

/**
 * Writes the samples and everything else of a cluster in [fromMs, toMs) to a new file.
 *
 * @param options  pagesMax: largest size in pages of 4 KiB.
 * @returns        failures: RECORDING_EXISTS, RECORDING_EMPTY where nothing is kept of the span, RECORDING_FAILED (a full disk).
 */
export async function writeRecording(
  db: Database.Database,
  cluster: number,
  span: Span,
  file: string,
  options: { readonly pagesMax?: number } = {},
): Promise<Result<WrittenRecording>> {
  if (existsSync(file)) return taken(file)
  const part = `${file}.${randomBytes(4).toString('hex')}.part`
  let out: Database.Database | undefined
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    closeSync(openSync(part, 'wx', 0o600))
    out = new Database(part)
    out.pragma('journal_mode = OFF')
    out.pragma('synchronous = OFF')
    out.pragma('foreign_keys = OFF')
    migrate(out)
    if (options.pagesMax !== undefined) out.pragma(`max_page_count = ${options.pagesMax}`)
    const copy = { from: db, to: out, cluster, span }
    const facts = copyFacts(copy)
    const { blocks, jobs } = await copyBlocks(copy)
    if (!facts || blocks === 0) {
      return fail({
        code: 'RECORDING_EMPTY',
        what: 'The recording was not written',
        why: 'nothing is kept of that stretch',
        next: 'Choose a stretch that has samples.',
      })
    }
    await copyMoments(copy)
    copyJobs(copy, jobs)
    out.close()
    out = undefined
    settle(part, file)
    return ok({ file, bytes: statSync(file).size })
  } catch (e) {
    if (e instanceof Error && 'code' in e && e.code === 'EEXIST') return taken(file)
    return fail({
      code: 'RECORDING_FAILED',
      what: 'The recording was not written',
      why: e instanceof Error ? e.message : String(e),
      unaffected: 'The history is as it was; nothing half-written was left.',
      next: 'Free space where recordings are kept, or choose a shorter stretch.',
    })
  } finally {
    out?.close()
    for (const left of [part, `${part}-journal`]) rmSync(left, { force: true })
  }
}
