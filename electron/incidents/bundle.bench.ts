/**
 * A bundle of ten minutes of 12 servers (48 OSTs) and 10,000 jobs, a sample a second, as the console writes it: with pseudonyms, beside
 * the excerpt packed by one deflate of the usual level. Bursty and noisy as in the bench of the excerpt.
 */
import Database from 'better-sqlite3'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import { excerptOf, tenMinutes, type Load } from '../history/excerpt.bench.ts'
import { keptSlice } from './audit-slices.ts'
import type { BundleSource } from './bundle-source.ts'
import { codeOf } from './pseudonym-key.ts'
import { writeBundle } from './write-bundle.ts'

const T0 = Date.UTC(2026, 0, 2)
const SPAN = { fromMs: T0, toMs: T0 + 600_000 }
const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

const sources = new Map<Load, BundleSource>()
function sourceOf(load: Load): BundleSource {
  const known = sources.get(load)
  if (known) return known
  const db = new Database(tenMinutes(load), { readonly: true })
  const source: BundleSource = {
    ...{ db, cluster: 1, isRedacted: false, notebook: null, readings: () => [] },
    source: { kind: 'EMULATED', cluster: 'bench', env: 'DEMO', scenario: null, seed: 7, releases: [] },
    audit: (fromMs, toMs) => keptSlice(db, 'EMULATED', { fromMs, toMs }),
  }
  sources.set(load, source)
  return source
}

let files = 0
async function written(load: Load, now: () => number, redact = true): Promise<{ ms: number; bytes: number }> {
  const source = sourceOf(load)
  const file = join(folder, `${files++}.zip`)
  const from = now()
  const of = await writeBundle(
    source,
    { incident: null, span: SPAN, redact, detail: 'fit', leaveOut: [], name: null },
    { incident: null, file, code: codeOf(Buffer.alloc(32, 7)), version: '1', nowMs: 1, work: folder },
  )
  const ms = now() - from
  rmSync(file, { force: true })
  if (!of.ok) throw new Error(`${of.error.what}: ${of.error.why}`)
  return { ms, bytes: of.value.bytes }
}

async function packed(load: Load, now: () => number): Promise<number> {
  const from = now()
  const { file } = await excerptOf(load, now)
  deflateRawSync(readFileSync(file))
  const ms = now() - from
  rmSync(file)
  return ms
}

const note = '10 min, 12 servers, 10,000 jobs at 1 s, pseudonyms'
export const benches = (['bursty', 'noisy'] as const).flatMap((load) => [
  {
    ...{ id: `incidents.bundle-${load}`, unit: 'ms', run: async (now: () => number) => (await written(load, now)).ms },
    baseline: (now: () => number) => packed(load, now),
    note: `${note}; baseline: the excerpt with names and one deflate; at most 5000`,
  },
  {
    ...{ id: `incidents.bundle-${load}-size`, unit: 'MB' },
    run: async () => (await written(load, () => 0)).bytes / 1e6,
    note: `${note}; at most 20`,
  },
])
