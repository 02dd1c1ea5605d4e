/**
 * Hostile recordings and bundles, on every path into a console: dropped on the page, named on the command line, put into the
 * folder of recordings. Nothing in them is executed, nothing blocks on them, and each yields one message that names it.
 */
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRouterClient } from '@orpc/server'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { HistoryFrame } from '#core/api/history.ts'
import { HISTORY } from '#core/snapshot/manifest.ts'
import { ForeignFiles } from '#electron/foreign/foreign-files.ts'
import { openChecked } from '#electron/history/open-recording.ts'
import { APPLICATION_ID, migrateTo, SCHEMA_VERSION } from '#electron/history/schema.ts'
import { openHost, type Host } from '#electron/host/host.ts'
import { openBundle } from '#electron/incidents/bundle/open-bundle.ts'
import { runSluice } from '#tests/kits/cli/in-process.ts'
import { HOSTILE_SCHEMAS, makeHostile } from '#tests/kits/electron/history/hostile-schema.ts'
import { forgeIn, type Forge } from '#tests/kits/electron/incidents/forged-bundle.ts'
import { facts, job, NOW, openAt } from '#tests/kits/electron/history/samples.ts'
import { tempFolder } from '../temp-folder.ts'

const AT_MS = 1_767_225_600_000
const folder = tempFolder()
const files = ForeignFiles.ofNode()
let made: Forge
beforeAll(async () => {
  made = await forgeIn(folder)
})
afterAll(() => files.close())

let count = 0
/** A history of a version with one event, as Sluice wrote it. */
function fileOf(version: number, name = `${++count}.qosrec`): string {
  const file = join(folder, name)
  const db = new Database(file)
  migrateTo(db, version)
  db.exec(`INSERT INTO source (id, kind, cluster, detail, started_ms) VALUES (1, 'LIVE', 'prod', '', ${AT_MS});
    INSERT INTO event VALUES (1, 1, ${AT_MS}, 'note', 'ok', 's', 'kept', '')`)
  if (version >= 4) db.exec("INSERT INTO cluster VALUES (1, 'LIVE', 'prod')")
  expect(db.pragma('application_id', { simple: true })).toBe(APPLICATION_ID)
  db.close()
  return file
}

/** Time limit for the verdict on a small file, ms. */
const MOST_MS = 2_000

/** Checks that this process stays responsive: its timers are only as late as on a busy machine. */
async function meanwhileFree<T>(work: Promise<T>): Promise<T> {
  let late = 0
  let last = performance.now()
  const beat = setInterval(() => {
    late = Math.max(late, performance.now() - last - 20)
    last = performance.now()
  }, 20)
  const done = await work
  clearInterval(beat)
  expect(late).toBeLessThan(MOST_MS)
  return done
}

describe.each(Object.keys(HOSTILE_SCHEMAS))('attack: %s', (name) => {
  it.each([3, SCHEMA_VERSION])('in a recording of version %i is refused, and runs nothing', async (version) => {
    const file = fileOf(version)
    makeHostile(file, name)
    const before = readFileSync(file)
    const opened = await meanwhileFree(files.open(file))
    expect(opened).toMatchObject({ ok: false, error: { code: 'RECORDING_DAMAGED' } })
    expect(readFileSync(file)).toEqual(before)
  })

  it.each([3, SCHEMA_VERSION])(
    'in a bundle with a recording of version %i is found, and runs nothing',
    async (version) => {
      const history = fileOf(version)
      makeHostile(history, name)
      const bundle = made.forge({ [HISTORY]: readFileSync(history) })
      const verdict = await meanwhileFree(files.verify(bundle))
      expect(verdict.ok && verdict.value.changed.map((c) => c.member)).toEqual([HISTORY])
      const opened = await meanwhileFree(openBundle(bundle, join(folder, 'work'), files.unpack))
      expect(opened).toMatchObject({ ok: false, error: { code: 'RECORDING_DAMAGED' } })
      expect(readdirSync(join(folder, 'work'))).toEqual([])
    },
  )
})

it('a recording of an older Sluice opens as a copy, which goes with it; the file is not written to', async () => {
  const file = fileOf(3)
  const before = readFileSync(file)
  const opened = await files.open(file)
  if (!opened.ok) throw new Error(opened.error.why)
  const { checked, db, close } = opened.value
  expect(checked.file).not.toBe(file)
  expect(statSync(checked.file).mode & 0o777).toBe(statSync(file).mode & 0o777)
  expect(db.prepare('SELECT text FROM event').pluck().all()).toEqual(['kept'])
  close()
  expect(statSync(checked.file, { throwIfNoEntry: false })).toBeUndefined()
  expect(readFileSync(file)).toEqual(before)
  expect(readdirSync(tmpdir()).filter((n) => n.startsWith(`sluice-bundle-${process.pid}-`))).toEqual([])
})

it('a recording of an older Sluice is listed by what it is of', async () => {
  const file = fileOf(4)
  const of = { cluster: 'prod', kind: 'LIVE', fromMs: AT_MS, toMs: AT_MS + 60_000 }
  const db = new Database(file)
  db.prepare("INSERT INTO setting VALUES ('recording', ?)").run(JSON.stringify(of))
  db.close()
  const before = readFileSync(file)
  expect(await files.inspect(file)).toMatchObject({
    ok: true,
    value: { facts: of, clusters: [{ kind: 'LIVE', name: 'prod' }] },
  })
  expect(readFileSync(file)).toEqual(before)
})

it('a history that a console has open is read, and read again while it grows', async () => {
  const file = join(tempFolder(), 'history.sqlite')
  const history = openAt(file)
  history.beginSource('LIVE', 'prod', '', NOW)
  for (let s = 0; s < 3; s++) {
    history.record(NOW + s * 1000, [job('1.hog.u1', 5)], [], facts)
    history.flush()
    const opened = await files.open(file)
    if (!opened.ok) throw new Error(opened.error.why)
    expect(opened.value.db.prepare('SELECT count(*) FROM instant WHERE tier = 0').pluck().get()).toBe(s + 1)
    opened.value.close()
  }
  history.close()
})

it('attack: a file that is another one when it is opened than when it was checked is not opened', async () => {
  const file = fileOf(SCHEMA_VERSION)
  const checked = await files.check(file)
  if (!checked.ok) throw new Error(checked.error.why)
  const { atime, mtime } = statSync(file)
  const other = fileOf(SCHEMA_VERSION)
  // It has the name, size and times of the first.
  const db = new Database(other)
  db.exec("UPDATE event SET text = 'evil'")
  db.close()
  renameSync(other, file)
  utimesSync(file, atime, mtime)
  expect(openChecked(checked.value)).toMatchObject({ ok: false, error: { code: 'FILE_CHANGED' } })
})

it('a recording of an older Sluice is played and exported from its copy, which goes when the source is shown again', async () => {
  const data = tempFolder()
  mkdirSync(join(data, 'recordings'))
  const file = fileOf(3)
  const db = new Database(file)
  db.exec(`INSERT INTO job VALUES (1, 1, '7.cfd.u1', 'ana', 'aero', 4, ${AT_MS});
    INSERT INTO job_sample VALUES (0, 1, ${AT_MS}, 10, 20, 30, 0.5, -3), (1, 1, ${AT_MS}, 10, 20, 30, 0.5, -3)`)
  db.close()
  copyFileSync(file, join(data, 'recordings', 'older.qosrec'))
  const opened = await openHost({ shell: 'terminal', historyFile: join(data, 'history.sqlite'), paced: false })
  if (!opened.ok) throw new Error(opened.error.what)
  const client = createRouterClient(opened.value.router, { context: { peer: 'test' } })
  const copies = (): string[] => readdirSync(tmpdir()).filter((n) => n.startsWith(`sluice-bundle-${process.pid}-`))
  await client.history.open({ name: 'older' })
  expect(copies()).toHaveLength(1)
  const span = { fromMs: AT_MS - 1_000, toMs: AT_MS + 1_000 }
  const events = await client.incidents.export({
    incident: null,
    span,
    redact: true,
    detail: 'fit',
    leaveOut: [],
    name: null,
  })
  const kinds: string[] = []
  for await (const event of events) kinds.push(event.kind === 'failed' ? event.notice.what : event.kind)
  expect(kinds.at(-1)).toBe('done')
  await client.history.leave()
  expect(copies()).toEqual([])
  await opened.value.close()
})

describe('attack: on the command line', () => {
  it.each([
    ['history', 'info'],
    ['history', 'csv'],
    ['fork', '--history'],
  ])('sluice %s %s ends with a sentence', async (...words) => {
    const file = fileOf(SCHEMA_VERSION)
    makeHostile(file, 'a table sqlite_g whose generated column takes for ever')
    const ended = await meanwhileFree(runSluice([...words, file]))
    expect(ended.code).toBe(1)
    expect(ended.stderr).toContain('it has objects that Sluice does not create')
    expect(ended.stderr).not.toContain('--history FILE')
  })

  it('sluice snapshot verify ends with a sentence', async () => {
    const history = fileOf(3)
    makeHostile(history, 'a trigger sqlite_evil')
    const ended = await meanwhileFree(
      runSluice(['snapshot', 'verify', made.forge({ [HISTORY]: readFileSync(history) })]),
    )
    expect(ended.code).toBe(1)
    expect(ended.stdout).toContain(`${HISTORY}: it has objects that Sluice does not create`)
  })
})

describe('attack: in the folder of recordings', () => {
  let host: Host
  const data = tempFolder()
  beforeAll(async () => {
    const recordings = join(data, 'recordings')
    mkdirSync(recordings)
    for (const [i, name] of Object.keys(HOSTILE_SCHEMAS).entries()) {
      const file = fileOf(SCHEMA_VERSION)
      makeHostile(file, name)
      copyFileSync(file, join(recordings, `evil ${i}.qosrec`))
    }
    writeFileSync(join(recordings, 'text.qosrec'), 'no database')
    const opened = await openHost({ shell: 'terminal', historyFile: join(data, 'history.sqlite'), paced: false })
    if (!opened.ok) throw new Error(opened.error.what)
    host = opened.value
  })
  afterAll(() => host.close())

  it('the list is there at once, and says of each why it cannot be opened', async () => {
    const client = createRouterClient(host.router, { context: { peer: 'test' } })
    const query = { at: null, measure: 'rpcs', dayMs: null, zoom: null, a: null, b: null, by: 'job' } as const
    let requests = 0
    const rows = async (): Promise<HistoryFrame['recordings']> => {
      const frames = await client.views.history({ ...query, stream: `h${++requests}`, limit: 5, leftMs: null })
      for await (const frame of frames) return frame.recordings
      throw new Error('no frame')
    }
    const first = await meanwhileFree(rows())
    expect(first).toHaveLength(Object.keys(HOSTILE_SCHEMAS).length + 1)
    expect(first.every((row) => row.isChecking)).toBe(true)
    await expect.poll(async () => (await meanwhileFree(rows())).filter((row) => row.isChecking).length).toBe(0)
    const last = await rows()
    expect(last.filter((row) => row.fault === '')).toEqual([])
    await expect(client.history.open({ name: 'evil 0' })).rejects.toMatchObject({
      data: { code: 'RECORDING_DAMAGED' },
    })
  })
})
