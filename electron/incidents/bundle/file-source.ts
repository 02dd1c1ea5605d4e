/** History or recording as the source of a bundle, without a console: for the command line. */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Database } from 'better-sqlite3'
import { fail, ok, type Result } from '#core/base/result.ts'
import type { Manifest } from '#core/snapshot/manifest.ts'
import { EnforcementStore, storeFile } from '../../enforce/store.ts'
import type { OpenedFile } from '../../history/open-recording.ts'
import { openShared } from '../../history/open-shared.ts'
import { storedSlice, liveSlice } from './audit-slices.ts'
import type { BundleSource, RawReading } from './bundle-source.ts'

export interface FileSource extends BundleSource {
  /** Names of the clusters in the file, the newest last. */
  readonly clusters: readonly string[]
  close(): void
}

export interface FileSourceOptions {
  /** Opens a foreign file. */
  readonly open: (file: string) => Promise<Result<OpenedFile>>
  /** True for the console's own history, which it may have open. */
  readonly isOwn: boolean
  readonly cluster?: string | undefined
  /** Environment of a live cluster, from the console's settings. */
  readonly envOf: (cluster: string) => Manifest['source']['env'] | undefined
  readonly readings: readonly RawReading[]
}

interface Row {
  readonly id: number
  readonly kind: string
  readonly name: string
}

interface Connection {
  readonly db: Database
  readonly close: () => void
}

function shared(file: string): Result<Connection> {
  const opened = openShared(file)
  return opened.ok ? ok({ db: opened.value.db, close: () => void opened.value.db.close() }) : opened
}

async function connection(file: string, { isOwn, open }: FileSourceOptions): Promise<Result<Connection>> {
  if (isOwn) return shared(file)
  const opened = await open(file)
  return !opened.ok && opened.error.code === 'RECORDING_IN_USE' ? shared(file) : opened
}

const SOME = 8
const some = (rows: readonly Row[]): string =>
  rows
    .slice(-SOME)
    .map((r) => r.name)
    .join(', ')

const DETAIL = /^(.*), seed (\d+)$/s

/** Scenario and seed of an emulated cluster, as recorded at its latest start. */
function emulatedOf(db: Database, cluster: number): Pick<Manifest['source'], 'scenario' | 'seed'> {
  const sql = 'SELECT detail FROM source WHERE cluster_id = ? ORDER BY id DESC LIMIT 1'
  const detail = db.prepare(sql).pluck().get(cluster) as string | undefined
  const [, scenario, seed] = DETAIL.exec(detail ?? '') ?? []
  return { scenario: scenario?.slice(0, 200) ?? null, seed: seed === undefined ? null : Number(seed) }
}

/** Failures: those of the file, NO_CLUSTER, those of the enforcement store. */
export async function fileSource(file: string, o: FileSourceOptions): Promise<Result<FileSource>> {
  const opened = await connection(file, o)
  if (!opened.ok) return opened
  const { db, close } = opened.value
  const rows = db.prepare('SELECT id, kind, name FROM cluster ORDER BY id').all() as Row[]
  const of = rows.findLast((c) => o.cluster === undefined || c.name === o.cluster)
  if (!of) {
    close()
    const why = o.cluster === undefined ? `no data in ${file}` : `no data of ${o.cluster} in ${file}`
    const next = rows.length === 0 ? 'Name another file.' : `Name another file, or one of ${some(rows)}.`
    return fail({ code: 'NO_CLUSTER', what: 'Nothing was exported', why, next })
  }
  const kind: Manifest['source']['kind'] = of.kind === 'LIVE' ? 'LIVE' : 'EMULATED'
  const path = storeFile(dirname(file))
  const store = kind === 'LIVE' && existsSync(path) ? EnforcementStore.openForReading(path) : undefined
  if (store && !store.ok) {
    close()
    return store
  }
  const isEmulated = kind === 'EMULATED'
  return ok({
    db,
    cluster: of.id,
    isRedacted: false,
    notebook: null,
    clusters: rows.map((r) => r.name),
    source: {
      kind,
      cluster: of.name,
      env: isEmulated ? 'DEMO' : (o.envOf(of.name) ?? 'DEV'),
      releases: [],
      ...(isEmulated ? emulatedOf(db, of.id) : { scenario: null, seed: null }),
    },
    audit: (fromMs, toMs) =>
      store ? liveSlice(store.value.chain, of.name, { fromMs, toMs }) : storedSlice(db, kind, { fromMs, toMs }),
    readings: (fromMs, toMs) => o.readings.filter((r) => r.atMs >= fromMs && r.atMs < toMs),
    close: () => {
      close()
      if (store) store.value.close()
    },
  })
}
