/**
 * Bundle of ten minutes of 12 servers (48 OSTs) and 10,000 jobs, a sample a second, as the console writes it: with
 * pseudonyms, bursty and noisy as in the bench of the excerpt. Baseline: a zip of the excerpt alone, at the usual
 * level.
 */
import Database from 'better-sqlite3'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExportInput } from '#core/api/incidents.ts'
import type { PageFacts } from '#core/snapshot/page-facts.ts'
import type { Bench } from '../../../bench/measure.ts'
import { excerptOf, tenMinutes, type Load } from '../../history/excerpt.bench.ts'
import { FileReader } from '../../history/file-reader.ts'
import { storedSlice } from './audit-slices.ts'
import type { BundleSource } from './bundle-source.ts'
import { readmePage } from '../page/readme-page.ts'
import { replayData } from '../page/replay-data.ts'
import { previewOf } from '../redaction/preview.ts'
import { codeOf } from '../redaction/pseudonym-key.ts'
import { writeBundle } from './write-bundle.ts'
import { writeZip } from '../zip/zip-out.ts'

const T0 = Date.UTC(2026, 0, 2)
const SPAN = { fromMs: T0, toMs: T0 + 600_000 }
const INPUT: ExportInput = { incident: null, span: SPAN, redact: true, detail: 'fit', leaveOut: [], name: null }
const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

/** Computed once for all measurements. */
function once<T>(make: (load: Load) => T): (load: Load) => T {
  const made = new Map<Load, { readonly value: T }>()
  return (load) => {
    let entry = made.get(load)
    if (!entry) made.set(load, (entry = { value: make(load) }))
    return entry.value
  }
}

const sourceOf = once((load): BundleSource => {
  const db = new Database(tenMinutes(load), { readonly: true })
  return {
    db,
    cluster: 1,
    isRedacted: false,
    notebook: null,
    readings: () => [],
    source: { kind: 'EMULATED', cluster: 'bench', env: 'DEMO', scenario: null, seed: 7, releases: [] },
    audit: (fromMs, toMs) => storedSlice(db, 'EMULATED', { fromMs, toMs }),
  }
})
const excerpt = once(async (load) => (await excerptOf(load, () => 0)).file)

let files = 0
const newFile = (): string => join(folder, `${files++}.zip`)
/** New key for every run: cached codes would make the next run faster. */
const newCode = () => codeOf(Buffer.alloc(32, `key ${files++}`))
const megabytes = new Map<Load, number>()

async function exported(load: Load, now: () => number): Promise<number> {
  const source = sourceOf(load)
  const file = newFile()
  const from = now()
  const result = await writeBundle(source, INPUT, {
    incident: null,
    file,
    code: newCode(),
    version: '1',
    nowMs: 1,
    work: folder,
  })
  const ms = now() - from
  rmSync(file, { force: true })
  if (!result.ok) throw new Error(`${result.error.what}: ${result.error.why}`)
  megabytes.set(load, result.value.bytes / 1e6)
  return ms
}

async function zipped(load: Load, now: () => number): Promise<number> {
  const content = { file: await excerpt(load) }
  const file = newFile()
  const from = now()
  const result = await writeZip(file, [{ name: 'history.qosrec', content: () => content }], [])
  const ms = now() - from
  rmSync(file, { force: true })
  if (!result.ok) throw new Error(`${result.error.what}: ${result.error.why}`)
  return ms
}

async function previewed(now: () => number): Promise<number> {
  const source = sourceOf('bursty')
  const from = now()
  const result = await previewOf(source, INPUT, null, newCode())
  const ms = now() - from
  if (!result.ok) throw new Error(`${result.error.what}: ${result.error.why}`)
  return ms
}

async function page(now: () => number): Promise<number> {
  const db = new Database(await excerpt('bursty'), { readonly: true })
  const reader = new FileReader(db, 1, { name: 'bench', isOwner: true })
  const facts: PageFacts = {
    manifest: {
      format: 1,
      product: 'sluice',
      version: '1',
      incident: null,
      source: sourceOf('bursty').source,
      range: SPAN,
      samples: { servers: 12, targets: 48, jobs: 10_000, instants: 600, tier: 'raw', jobsWhole: 250 },
      missing: [],
      redaction: 'none',
      audit: null,
    },
    incident: null,
    span: SPAN,
    rules: { before: '', after: '' },
    sealed: [],
  }
  const from = now()
  const text = readmePage(replayData(reader, facts), facts)
  const ms = now() - from
  reader.close()
  if (text.length < 100_000) throw new Error('a page without samples')
  return ms
}

const CASE = '10 min, 12 servers, 10,000 jobs at 1 s'
async function megabytesOf(load: Load): Promise<number> {
  if (!megabytes.has(load)) await exported(load, () => 0)
  return megabytes.get(load) ?? NaN
}

const EXPORT_LIMIT =
  'SQLite and zlib, which read, write and pack the bytes, and the collector are much of it; names and samples are replaced one by one.'

export const benches: readonly Bench[] = [
  ...(['bursty', 'noisy'] as const).flatMap((load) => [
    {
      id: `bundle.export.${load}`,
      unit: 'ms',
      run: (now: () => number) => exported(load, now),
      baseline: (now: () => number) => zipped(load, now),
      beside: 'a zip of the excerpt alone',
      must: { most: 5000 },
      note: `${CASE}, pseudonyms`,
      runs: 5,
      limit: EXPORT_LIMIT,
    },
    {
      id: `bundle.export.${load}.size`,
      unit: 'MB',
      run: () => megabytesOf(load),
      must: { most: 20 },
      note: `${CASE}, pseudonyms; every run writes as much; the bound is our own target`,
      limit: 'the samples are packed already: a zip takes little more off them',
    },
  ]),
  {
    id: 'bundle.preview',
    unit: 'ms',
    run: previewed,
    must: { most: 300 },
    note: `${CASE}, ten thousand names to replace; the bound is our own target`,
    limit: 'every name that the bundle would have is read and replaced',
  },
  {
    id: 'bundle.page',
    unit: 'ms',
    run: page,
    must: { most: 400 },
    note: `${CASE}: README.html of the excerpt; the bound is our own target`,
    limit: 'the samples of the page are read from the excerpt and written as text',
  },
]
