/**
 * Excerpt of ten minutes of 12 servers (48 OSTs) and 10,000 jobs, a sample a second, as for a bundle, compared with `VACUUM INTO`
 * of a history that contains nothing else. Bursty: a third of the jobs is active at any instant, whole RPCs of whole pages. Noisy:
 * all jobs are always active, with incompressible noise in every value.
 */
import Database from 'better-sqlite3'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import { PLAIN } from '#core/snapshot/redactor.ts'
import type { Bench } from '../../bench/measure.ts'
import { BlockTable } from './block-table.ts'
import { KINDS, pack } from './block.ts'
import { writeExcerpt } from './excerpt.ts'
import { History } from './history.ts'
import { CLUSTER_COLUMNS, JOB_COLUMNS, TARGET_COLUMNS } from './reader.ts'
import { migrate } from './schema.ts'

const T0 = Date.UTC(2026, 0, 2)
const SECONDS = 600
const JOBS = 10_000
const OSTS = 48
const SPAN = { fromMs: T0, toMs: T0 + SECONDS * 1000 }

const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
let files = 0
const newFile = (): string => join(folder, `${files++}.sqlite`)

/** Xorshift: the same values on every run. */
function noise(seed: number): () => number {
  let x = seed
  return () => {
    x ^= x << 13
    x ^= x >>> 17
    x ^= x << 5
    return (x >>> 0) / 2 ** 32
  }
}

export type Load = 'bursty' | 'noisy'

const written = new Map<Load, string>()

/** Ten minutes in a file of their own, with the coarser tiers as the background makes them; written on first use. */
export function tenMinutes(load: Load): string {
  const file = written.get(load) ?? write(load)
  written.set(load, file)
  return file
}

function write(load: Load): string {
  const file = newFile()
  const db = new Database(file)
  db.pragma('journal_mode = OFF')
  db.pragma('synchronous = OFF')
  migrate(db)
  const random = noise(7)
  db.transaction(() => {
    db.exec(`INSERT INTO cluster VALUES (1, 'EMULATED', 'bench')`)
    db.exec(`INSERT INTO source VALUES (1, 'EMULATED', 'bench', '', ${T0}, 1)`)
    const job = db.prepare('INSERT INTO job VALUES (?, 1, ?, ?, ?, ?, 4, ?, ?)')
    for (let k = 1; k <= JOBS; k++) {
      job.run(k, `${400_000 + k}.solve${k % 31}.u${k % 499}`, `u${k % 499}`, `acc${k % 41}`, `solve${k % 31}`, T0, T0)
    }
    const target = db.prepare('INSERT INTO target VALUES (?, 1, ?, ?)')
    for (let k = 0; k < OSTS; k++) target.run(k + 1, `bench-OST${String(k).padStart(4, '0')}`, `oss${k >> 2}`)
    const blocks = new BlockTable(db)
    const isAtWork = new Uint8Array(JOBS)
    const base = Float64Array.from({ length: JOBS }, () => 5 + 900 * random() ** 4)
    const keys = new Uint32Array(JOBS)
    const columns = JOB_COLUMNS.map(() => new Float32Array(JOBS))
    const targetKeys = Uint32Array.from({ length: OSTS }, (_, k) => k + 1)
    const targets = TARGET_COLUMNS.map(() => new Float32Array(OSTS))
    for (let s = 0; s < SECONDS; s++) {
      const atMs = T0 + s * 1000
      let n = 0
      for (let k = 0; k < JOBS; k++) {
        if (load === 'bursty' && (s === 0 || random() < 0.1)) isAtWork[k] = random() < 1 / 3 ? 1 : 0
        if (load === 'bursty' && isAtWork[k] === 0) continue
        const mean = base[k] as number
        const rpcs = load === 'noisy' ? mean * (0.5 + random()) : Math.round(mean * (0.7 + 0.6 * random()))
        const pages = load === 'noisy' ? random() * 1e6 : 4096 * Math.round(256 * (k % 3 === 0 ? random() : 1))
        keys[n] = k + 1
        const row = [rpcs, k % 2 ? rpcs * pages : 0, k % 2 ? 0 : rpcs * pages, 0, (k % 200) - 100, 0, 0]
        if (load === 'noisy') {
          row[1] = rpcs * pages
          row[2] = rpcs * random() * 1e6
          row[3] = random()
          row[5] = random() * 40
        }
        columns.forEach((c, i) => (c[n] = row[i] ?? 0))
        n++
      }
      for (let k = 0; k < OSTS; k++) targets.forEach((c) => (c[k] = 900 * random()))
      const sums = CLUSTER_COLUMNS.map(() => Float32Array.of(44_000 * random()))
      for (const tier of [0, 1]) {
        const at = { cluster: 1, tier, atMs }
        blocks.put({ ...at, kind: KINDS.jobs, ...pack(KINDS.jobs, { n, keys, columns }) })
        blocks.put({
          ...at,
          kind: KINDS.targets,
          ...pack(KINDS.targets, { n: OSTS, keys: targetKeys, columns: targets }),
        })
        blocks.put({ ...at, kind: KINDS.cluster, ...pack(KINDS.cluster, { n: 1, keys: targetKeys, columns: sums }) })
      }
    }
  })()
  db.close()
  const opened = History.open(file, T0 + 3_600_000 - 1)
  if (!opened.ok) throw new Error(opened.error.what)
  opened.value.settle()
  opened.value.close()
  return file
}

const sources = new Map<Load, Database.Database>()
function sourceOf(load: Load): Database.Database {
  const known = sources.get(load)
  if (known) return known
  const db = new Database(tenMinutes(load), { readonly: true })
  sources.set(load, db)
  return db
}

export interface Measured {
  readonly ms: number
  readonly bytes: number
  readonly file: string
}

/** Writes an excerpt; the file is kept until the process ends. */
export async function excerptOf(load: Load, now: () => number): Promise<Measured> {
  const db = sourceOf(load)
  const file = newFile()
  const from = now()
  const excerpt = await writeExcerpt(db, 1, SPAN, file, { redactor: PLAIN, detail: 'fit', keepJobs: new Set() })
  const ms = now() - from
  if (!excerpt.ok) throw new Error(excerpt.error.why)
  return { ms, bytes: excerpt.value.bytes, file }
}

async function run(load: Load, now: () => number): Promise<number> {
  const { ms, file } = await excerptOf(load, now)
  rmSync(file)
  return ms
}

function vacuum(load: Load, now: () => number): number {
  const db = sourceOf(load)
  const file = newFile()
  const from = now()
  db.prepare('VACUUM INTO ?').run(file)
  const ms = now() - from
  rmSync(file)
  return ms
}

async function deflated(load: Load): Promise<number> {
  const { file } = await excerptOf(load, () => 0)
  const bytes = deflateRawSync(readFileSync(file), { level: 6 }).length
  rmSync(file)
  return bytes / 1e6
}

const WISHED = '10 min, 12 servers, 10,000 jobs at 1 s; the bound is our own target'
export const benches: readonly Bench[] = (['bursty', 'noisy'] as const).flatMap((load) => [
  {
    id: `history.excerpt-${load}`,
    unit: 'ms',
    run: (now: () => number) => run(load, now),
    must: { most: 2000 },
    baseline: (now: () => number) => vacuum(load, now),
    note: WISHED,
    beside: 'VACUUM INTO of all rows',
    limit: 'which jobs are the busiest is known when all samples were read; then those of the others are added up',
    runs: 5,
  },
  {
    id: `history.excerpt-${load}-deflated`,
    unit: 'MB',
    run: () => deflated(load),
    must: { most: 12 },
    note: WISHED,
    runs: 5,
    limit: 'Samples of jobs beyond those that fit are put together; what is left is noise that does not pack.',
  },
])
