/** Bundles of a source with locks, metadata and tokens: their files, and what a redacted one contains of their names. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ExportInput } from '#core/api/incidents.ts'
import type { Result } from '#core/base/result.ts'
import { PLANE_TABLES } from '#core/series/plane-tables.ts'
import { HISTORY, MANIFEST, README, REPORT, type Manifest } from '#core/snapshot/manifest.ts'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import { unpackConvoy } from '../../history/convoy-table.ts'
import { FileReader } from '../../history/file-reader.ts'
import { previewOf } from '../redaction/preview.ts'
import { codeOf } from '../redaction/pseudonym-key.ts'
import { openZip } from '../zip/zip-in.ts'
import type { BundleSource } from './bundle-source.ts'
import { writeBundle } from './write-bundle.ts'
import { facts, job, newFile, openAt } from '#tests/kits/electron/history/samples.ts'
import { verifyHere } from '#tests/kits/electron/foreign/in-process.ts'
import { FROM } from '#tests/kits/electron/incidents/page-facts.ts'
import { PLANE_NAMES, planeRow, recordPlanes, type PlaneNames } from '#tests/kits/electron/incidents/plane-rows.ts'

const SECONDS = 20
const code = codeOf(Buffer.alloc(32, 5))
const folder = tempFolder()
const must = <T>(r: Result<T>): T => {
  if (!r.ok) throw new Error(`${r.error.what}: ${r.error.why}`)
  return r.value
}
const input = (more: Partial<ExportInput> = {}): ExportInput => ({
  incident: null,
  span: { fromMs: FROM, toMs: FROM + SECONDS * 1000 },
  redact: true,
  detail: 'fit',
  leaveOut: [],
  name: null,
  ...more,
})

/** Names that no other part of a history has. */
const SECRETS: PlaneNames = {
  file: 'mesh_kovac.h5',
  lockServer: 'dlmhartlieb',
  stage: 'ctlnimbus',
  dataNode: 'qosquasi',
  client: 'cnesmeralda',
  job: '77123.wrfaltair.frollo',
}
/** Names that are also words of the product: free text keeps these, fields do not. */
const WORDS: PlaneNames = {
  file: 'rules',
  lockServer: 'user',
  stage: 'cluster',
  dataNode: 'oss',
  client: 'host',
  job: 'job',
}

const sources: BundleSource[] = []
function sourceOf(names: PlaneNames): BundleSource {
  const file = newFile()
  const history = openAt(file, FROM)
  history.beginSource('LIVE', 'small', '', FROM)
  for (let s = 0; s < SECONDS; s++) history.record(FROM + s * 1000, [job('1.hog.u1', 10)], [], facts, { rpcs: 10 })
  recordPlanes(history, FROM, SECONDS, names)
  history.recordPlane(
    'lock_resources',
    FROM + SECONDS * 1000 - 1,
    Array.from({ length: 100 }, (_, k) =>
      planeRow('lock_resources', { name: `${names.file} / ${k}`, place: names.lockServer }, { grants_per_s: 100 + k }),
    ),
  )
  history.close()
  const db = new Database(file, { readonly: true })
  const source: BundleSource = {
    db,
    cluster: 1,
    isRedacted: false,
    notebook: null,
    source: { kind: 'LIVE', cluster: 'small', env: 'DEV', scenario: null, seed: null, releases: [] },
    audit: () => null,
    readings: () => [],
  }
  sources.push(source)
  return source
}
afterAll(() => {
  for (const { db } of sources) db.close()
})

let files = 0
async function write(source: BundleSource, more: Partial<ExportInput> = {}): Promise<string> {
  const file = join(folder, `${++files}.zip`)
  must(await writeBundle(source, input(more), { incident: null, file, code, version: '1.0.0', nowMs: 1 }))
  return file
}

async function members(file: string): Promise<Map<string, Buffer>> {
  const zip = must(await openZip(file))
  const out = new Map<string, Buffer>()
  for (const name of zip.entries.keys()) out.set(name, must(await zip.read(name, 2 ** 30)))
  zip.close()
  return out
}

/** The recording of a bundle, open. */
function recordingOf(all: ReadonlyMap<string, Buffer>): Database.Database {
  return new Database(all.get(HISTORY) ?? Buffer.alloc(0))
}

describe('a bundle with locks, metadata and tokens', () => {
  let all: Map<string, Buffer>
  let file: string
  const text = (name: string): string => all.get(name)?.toString() ?? ''
  beforeAll(async () => {
    file = await write(sourceOf(PLANE_NAMES), { redact: false })
    all = await members(file)
  })

  it('has a CSV file for each table, its columns named with units, and gaps empty', () => {
    const names = [...all.keys()].filter((name) => name.startsWith('csv/'))
    const ids = PLANE_TABLES.map((t) => t.id)
    expect(names).toEqual(
      ['cluster', 'events', 'jobs', 'rules', 'targets', ...ids].map((name) => `csv/${name}.csv`).toSorted(),
    )
    const lines = (id: string): string[] => text(`csv/${id}.csv`).split('\r\n')
    expect(lines('metadata_channels').slice(0, 2)).toEqual([
      'time,name,place,job,served_per_s,asked_per_s,limit_per_s,queued,waited_share,wait_mean_ms,epoch',
      '2026-11-19T14:27:00.000Z,1.2 meta_op,mds01 cn1701,4690.cfd_solve.u500,100,200,150,7,0.5,3,0',
    ])
    expect(lines('token_clients')[2]).toBe(
      '2026-11-19T14:27:01.000Z,cn1701,haechi1,4690.cfd_solve.u500,90,80,,80,10,0,1,0',
    )
    expect(lines('lock_servers')[1]).toBe('2026-11-19T14:27:00.000Z,ccpfs01,SeqDLM,10,3,4,2,,1,1,0,1.5,2,9,0.25,,,,')
    expect(lines('lock_resources')).toContain('2026-11-19T14:27:03.000Z,ckpt.h5 / 3,ccpfs01,3,3,4,13,3,0,1.5,5,9,0.25')
  })

  it('names its tables and convoys in the manifest, the report, the page and the charts', async () => {
    const manifest = JSON.parse(text(MANIFEST)) as Manifest
    expect(manifest.samples.convoys).toBe(1)
    expect(manifest.samples.planes?.map((p) => [p.table, p.series])).toEqual([
      // Those that led in a second; the others of that second are one row.
      ['lock_resources', 66],
      ['lock_servers', 1],
      ['metadata_jobs', 1],
      ['metadata_channels', 1],
      ['token_clients', 1],
      ['token_nodes', 1],
    ])
    expect(text(REPORT)).toContain(
      '66 lock resources, 1 lock server, 1 metadata job, 1 metadata channel, 1 token client, 1 token pool, 1 kept convoy',
    )
    expect(text(REPORT)).toMatch(/^\| ckpt\.h5 \/ 3 \| ccpfs01 \|/m)
    for (const name of ['ckpt.h5 / 3', 'haechi1', 'mds01 cn1701', 'requests PW 0 .. 65 535'])
      expect([name, text(README).includes(name)]).toEqual([name, true])
    const charts = [...all.keys()]
      .filter((name) => name.endsWith('.svg'))
      .map((name) => name.slice('charts/01-'.length))
    expect(charts).toEqual([
      'total-rpcs.svg',
      'bytes-by-job.svg',
      'service-time.svg',
      'queued-rpcs.svg',
      'lock-wait-p95.svg',
      'lock-conflicts.svg',
      'metadata-operations.svg',
      'metadata-served-by-job.svg',
      'token-pool-and-capacity.svg',
      'tokens-used-by-client.svg',
    ])
    expect(await verifyHere(file)).toMatchObject({ ok: true, value: { ok: true, changed: [] } })
  })

  it('is a recording with the same rows and convoys', () => {
    const db = recordingOf(all)
    const reader = new FileReader(db, 1, { name: 'small', isOwner: false })
    const block = reader.planeAt('metadata_jobs', FROM + 5_500, 1_000)
    expect([block?.atMs, block?.columns[0]?.[0]]).toEqual([FROM + 5_000, 105])
    const [convoy] = reader.convoys(FROM, FROM + SECONDS * 1000, 10)
    expect(convoy).toMatchObject({ resource: 'ckpt.h5 / 3', server: 'ccpfs01' })
    expect(reader.convoyFrame(convoy?.id ?? -1)).toMatchObject({ about: '5 writers of ckpt.h5' })
    db.close()
  })
})

describe('exploit: a search of every byte of a redacted bundle', () => {
  /** All bytes as text: members, and of the recording every row and the inflated convoys. */
  async function allText(names: PlaneNames): Promise<Map<string, string>> {
    const file = await write(sourceOf(names))
    const all = await members(file)
    const texts = new Map([...all].map(([name, bytes]) => [name, bytes.toString('latin1')]))
    texts.set('archive', readFileSync(file).toString('latin1'))
    const db = recordingOf(all)
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all() as string[]
    for (const table of tables) texts.set(table, JSON.stringify(db.prepare(`SELECT * FROM "${table}"`).all()))
    const convoys = db.prepare('SELECT data FROM convoy').pluck().all() as Buffer[]
    expect(convoys).toHaveLength(1)
    texts.set('convoys', JSON.stringify(convoys.map(unpackConvoy)))
    db.close()
    return texts
  }

  it('finds no name of a resource, server, stage, data node, client or job', async () => {
    const texts = await allText(SECRETS)
    const secrets = [...Object.values(SECRETS).map(String), ...SECRETS.job.split('.'), 'kovac', 'mesh']
    const found = [...texts].flatMap(([name, text]) =>
      secrets.filter((secret) => text.toLowerCase().includes(secret)).map((secret) => `${secret} in ${name}`),
    )
    expect(found).toEqual([])
    // Stripes, channels, scopes and planes are kept; the same file has one pseudonym everywhere.
    const rows = texts.get('csv/lock_resources.csv') ?? ''
    const [, name = ''] = /,(file-[a-z0-9]+) \/ 3,host-[a-z0-9]+,/.exec(rows) ?? []
    expect(texts.get('convoys')).toContain(`"about":"5 writers of ${name}"`)
    expect(texts.get('csv/metadata_jobs.csv')).toMatch(/,meta_op,stages,job-/)
    expect(texts.get('csv/metadata_channels.csv')).toMatch(/,1\.2 meta_op,host-[a-z0-9]+ host-[a-z0-9]+,job-/)
    expect(texts.get('csv/lock_servers.csv')).toMatch(/,host-[a-z0-9]+,SeqDLM,/)
    expect(texts.get('csv/lock_resources.csv')).toContain(',(others),,')
  })

  it('finds no name that is also a word of the product in place of a name', async () => {
    const texts = await allText(WORDS)
    const rows = [...texts].filter(([name]) => name === 'plane_series' || name === 'convoy').map(([, text]) => text)
    const names = rows
      .flatMap((text) => JSON.parse(text) as Record<string, unknown>[])
      .flatMap((row) => ['name', 'place', 'job_id', 'resource', 'server'].map((column) => row[column]))
      .flatMap((name) => (typeof name === 'string' ? name.split(/ \/ | /) : []))
    expect(names.length).toBeGreaterThan(10)
    expect(names.filter((name) => Object.values(WORDS).includes(name))).toEqual([])
  })
})

it('the preview lists the fields of every table, and the replaced names', async () => {
  const made = must(await previewOf(sourceOf(SECRETS), input({ incident: null }), null, code))
  const fields = new Set(made.fields.map((f) => f.field))
  for (const { id } of PLANE_TABLES) expect([id, fields.has(`${id}.csv.time`)]).toEqual([id, true])
  expect(made.names.find((n) => n.kind === 'file')?.samples.map((s) => s.from)).toEqual(['mesh_kovac.h5'])
  expect(made.names.find((n) => n.kind === 'host')?.samples.map((s) => s.from)).toEqual(
    expect.arrayContaining(['cnesmeralda', 'ctlnimbus', 'dlmhartlieb', 'qosquasi']),
  )
})
