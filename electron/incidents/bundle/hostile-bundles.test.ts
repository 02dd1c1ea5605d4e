/** Hostile bundles whose hashes all agree, and misbehaving uploads. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeAll, describe, expect, it } from 'vitest'
import { HISTORY } from '#core/snapshot/manifest.ts'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import { BundleFolder } from '../shelf/bundle-folder.ts'
import { openBundle } from './open-bundle.ts'
import { unpackHistory } from './unpack-history.ts'
import { forgeIn, type Forge } from '#tests/kits/electron/incidents/forged-bundle.ts'
import { Uploads, type UploadPart } from '../shelf/uploads.ts'
import { verifyHere } from '#tests/kits/electron/foreign/in-process.ts'

const folder = tempFolder()
let made: Forge
beforeAll(async () => {
  made = await forgeIn(folder)
})
const forge: Forge['forge'] = (put, change) => made.forge(put, change)
let altered = 0

/** Recording changed by a statement. */
function history(sql: string): Buffer {
  const file = join(folder, `history-${++altered}`)
  writeFileSync(file, made.members.get(HISTORY) ?? '')
  const db = new Database(file)
  db.exec(sql)
  db.close()
  return readFileSync(file)
}

async function opening(file: string): Promise<string> {
  const work = join(tempFolder(), 'work')
  const opened = await openBundle(file, work, unpackHistory)
  if (opened.ok) opened.value.close()
  expect(existsSync(work) ? readdirSync(work) : []).toEqual([])
  return opened.ok ? 'open' : `${opened.error.code}: ${opened.error.why}`
}

describe('exploit: a bundle whose hashes agree', () => {
  it('opens where nothing in it is hostile', async () => {
    expect(await opening(forge({}))).toBe('open')
  })

  it('with a million readings is not held in memory', async () => {
    const line = (i: number): string =>
      `# reading ${JSON.stringify({ atMs: i, server: `s${i}`, what: 'x', chars: 0 })}\n\n`
    const text = Array.from({ length: 30_000 }, (_, i) => line(i)).join('')
    expect(await opening(forge({ 'readings/x.txt': text }))).toContain('more than 20000 readings')
  })

  it('with a job id of megabytes is no recording', async () => {
    const file = forge({ [HISTORY]: history('UPDATE job SET job_id = hex(randomblob(3000000)) WHERE id = 1') })
    expect(await opening(file)).toMatch(/^RECORDING_DAMAGED: .*too long/)
    const verdict = await verifyHere(file)
    expect(verdict.ok && verdict.value.changed.map((c) => c.member)).toEqual([HISTORY])
  })

  it('of a range that ends before it begins has no manifest', async () => {
    const file = forge({}, () => ({ range: { fromMs: 8.64e15, toMs: 0 } }))
    expect(await opening(file)).toMatch(/^BUNDLE_DAMAGED: .*range/)
  })

  it('with a notebook a hundred thousand lists deep, or that names the prototype of everything, harms nothing', async () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000)
    expect(await opening(forge({ 'notebook.json': deep }))).toMatch(/^BUNDLE_DAMAGED/)
    const proto = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'
    expect(await opening(forge({ 'notebook.json': proto }))).toMatch(/^BUNDLE_DAMAGED/)
    expect('polluted' in {}).toBe(false)
  })
})

describe('exploit: an upload', () => {
  const started = (): { uploads: Uploads; shelf: BundleFolder; left: () => string[] } => {
    const shelf = new BundleFolder(join(tempFolder(), 'bundles'), () => undefined)
    const left = (): string[] => (existsSync(shelf.work) ? readdirSync(shelf.work) : [])
    return { uploads: new Uploads(shelf, verifyHere), shelf, left }
  }
  const bytes = (): Buffer => readFileSync(made.good)
  const part = (at: number, data: Buffer | string, more: Partial<UploadPart> = {}): UploadPart => ({
    name: 'a',
    upload: 'upload-1',
    at,
    isLast: false,
    base64: Buffer.from(data).toString('base64'),
    ...more,
  })
  const codeFrom = (r: Awaited<ReturnType<Uploads['put']>>): string => (r.ok ? 'taken' : r.error.code)

  it('that is added to while it is verified is taken as it was verified', async () => {
    const { uploads, shelf, left } = started()
    const whole = bytes()
    const taking = uploads.put(part(0, whole, { isLast: true }), 1)
    const more = await Promise.all([
      uploads.put(part(whole.length, 'more'), 1),
      uploads.put(part(whole.length, '', { isLast: true }), 1),
    ])
    expect(more.map(codeFrom)).toEqual(['UPLOAD_ORDER', 'UPLOAD_ORDER'])
    expect(codeFrom(await taking)).toBe('taken')
    expect(readFileSync(join(shelf.folder, 'a.zip')).equals(whole)).toBe(true)
    expect(left()).toEqual([])
  })

  it('of an id that another one has starts again, and the one being verified is not disturbed', async () => {
    const { uploads, shelf, left } = started()
    const whole = bytes()
    const taking = uploads.put(part(0, whole, { isLast: true }), 1)
    expect(codeFrom(await uploads.put(part(0, whole.subarray(0, 100), { name: 'b' }), 1))).toBe('taken')
    expect(codeFrom(await taking)).toBe('taken')
    expect(codeFrom(await uploads.put(part(100, whole.subarray(100), { name: 'b', isLast: true }), 1))).toBe('taken')
    expect(
      readdirSync(shelf.folder)
        .filter((n) => n.endsWith('.zip'))
        .sort(),
    ).toEqual(['a.zip', 'b.zip'])
    expect(left()).toEqual([])
  })

  it('of two of one name one is taken, whole', async () => {
    const { uploads, shelf } = started()
    const both = await Promise.all(
      ['upload-1', 'upload-2'].map((upload) => uploads.put(part(0, bytes(), { upload, isLast: true }), 1)),
    )
    expect(both.map(codeFrom).sort()).toEqual(['BUNDLE_EXISTS', 'taken'])
    expect(readFileSync(join(shelf.folder, 'a.zip')).equals(bytes())).toBe(true)
  })

  it('the fifth waits, those being verified counted', async () => {
    const { uploads } = started()
    const ids = ['upload-1', 'upload-2', 'upload-3', 'upload-4', 'upload-5']
    const all = await Promise.all(
      ids.map((upload, i) => uploads.put(part(0, bytes(), { upload, name: `n${i}`, isLast: true }), 1)),
    )
    expect(all.map(codeFrom)).toEqual(['taken', 'taken', 'taken', 'taken', 'UPLOAD_BUSY'])
    expect(codeFrom(await uploads.put(part(0, 'x', { upload: 'upload-6' }), 1))).toBe('taken')
    uploads.close()
  })

  it.each([
    ['an offset before its end', part(3, 'x')],
    ['an offset behind its end', part(9, 'x')],
    ['an offset below zero', part(-4, 'x')],
    ['half an offset', part(4.5, 'x')],
    ['another name', part(4, 'x', { name: 'b' })],
    ['what is no base64', { ...part(4, 'x'), base64: 'ab\n=' }],
    ['no offset at all', part(NaN, 'x')],
  ])('with %s is over, and leaves nothing', async (_, next) => {
    const { uploads, left } = started()
    expect(codeFrom(await uploads.put(part(0, '1234'), 1))).toBe('taken')
    expect(codeFrom(await uploads.put(next, 1))).toBe('UPLOAD_ORDER')
    expect(codeFrom(await uploads.put(part(4, 'x'), 1))).toBe('UPLOAD_ORDER')
    expect(left()).toEqual([])
  })

  it.each(['a\u202egpj', '../a', 'a/b', 'a\\b', 'con', '.a', 'a\u0000b', 'a\u200b', 'a:b', ' a', '', 'x'.repeat(121)])(
    'called %j is refused',
    async (name) => {
      const { uploads, left } = started()
      expect(codeFrom(await uploads.put(part(0, 'x', { name }), 1))).toBe('BUNDLE_NAME')
      expect(left()).toEqual([])
    },
  )

  it('with a name longer than the file system takes is refused in words', async () => {
    const { uploads, left } = started()
    const name = '\u{1D4D0}'.repeat(60) + 'x'.repeat(60)
    const taken = codeFrom(await uploads.put(part(0, bytes(), { name, isLast: true }), 1))
    expect(['BUNDLE_NAME', 'UPLOAD_FAILED']).toContain(taken)
    expect(left()).toEqual([])
  })
})
