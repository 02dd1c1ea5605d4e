import { createRouterClient } from '@orpc/server'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NS_PER_S } from '#core/base/units.ts'
import type { ExportEvent, ExportInput } from '#core/api/incidents.ts'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import { openZip } from '../../incidents/zip/zip-in.ts'
import { openHost, type Host } from '../host.ts'
import { notebookFor, screenSource } from './screen-source.ts'

const EPOCH_S = 1_767_225_600
const EPOCH = EPOCH_S * 1000
const folder = tempFolder()
const bundles = join(folder, 'bundles')
const span = { fromMs: EPOCH + 1_000, toMs: EPOCH + 9_000 }

let host: Host
const clientOf = () => createRouterClient(host.router, { context: { peer: 'test' } })
let client: ReturnType<typeof clientOf>

async function first<F>(stream: Promise<AsyncIterable<F>>): Promise<F> {
  for await (const frame of await stream) return frame
  throw new Error('no frame')
}
const status = () => first(client.source.status({ stream: 's' }))
const frame = () => first(client.views.incidents({ stream: 'i' }))
const work = (): string[] => (existsSync(join(bundles, '.work')) ? readdirSync(join(bundles, '.work')) : [])

async function exported(input: Partial<ExportInput>): Promise<Extract<ExportEvent, { kind: 'done' }>> {
  let last: ExportEvent | undefined
  for await (const e of await client.incidents.export({ incident: null, span, ...input })) last = e
  if (last?.kind !== 'done') throw new Error(JSON.stringify(last))
  return last
}
/** Hashes of the members by name, from the bundle's own list. */
async function membersOf(name: string): Promise<unknown> {
  const zip = await openZip(join(bundles, `${name}.zip`))
  if (!zip.ok) throw new Error(zip.error.why)
  const bytes = await zip.value.read('manifest.json', 2 ** 30)
  zip.value.close()
  if (!bytes.ok) throw new Error(bytes.error.why)
  return (JSON.parse(bytes.value.toString('utf8')) as { members: unknown }).members
}
const refused = (code: string): unknown =>
  expect.objectContaining({ code: 'REFUSED', data: expect.objectContaining({ code }) as unknown })

beforeAll(async () => {
  const options = { shell: 'terminal', historyFile: join(folder, 'history.sqlite'), paced: false } as const
  const opened = await openHost({ ...options, epochSeconds: EPOCH_S })
  if (!opened.ok) throw new Error(opened.error.what)
  host = opened.value
  client = clientOf()
  await host.source.runTo(10 * NS_PER_S, (atNs) => host.monitor.tick(atNs))
})
afterAll(() => host.close())

describe('bundles at the host', () => {
  it('are written beside the history in a thread, with progress, and listed', async () => {
    const { id } = await client.incidents.create({
      atMs: EPOCH + 8_000,
      span,
      title: 'Storm of 4090.hog',
      note: 'oss01 was slow',
    })
    const seen: string[] = []
    const events: ExportEvent[] = []
    for await (const e of await client.incidents.export({ incident: id, span, name: 'storm' })) {
      events.push(e)
      if (e.kind === 'progress') seen.push(e.what)
    }
    expect(events.at(-1)).toMatchObject({ kind: 'done', name: 'storm', file: join(bundles, 'storm.zip') })
    expect(seen.length).toBeGreaterThan(2)
    const rows = (await frame()).bundles
    expect(rows).toMatchObject([{ name: 'storm', incident: id, ...span, redacted: true, fault: '' }])
    expect(rows[0]?.cluster).not.toBe(host.monitor.source.cluster)
    expect(await client.incidents.verify({ name: 'storm' })).toMatchObject({ ok: true, changed: [] })
    expect(work()).toEqual([])
  })

  it('with pseudonyms have none of the names of the demo, in no member', async () => {
    const { jobs, allServers, targets, source } = host.monitor
    const names = new Set<string>([...allServers, ...targets.map((t) => t.target), `${source.cluster}-OST`])
    for (const j of jobs.all) {
      for (const n of [j.jobId, j.user, ...j.jobId.split('.').filter((part) => /[a-z]/.test(part))])
        if (n.length > 2) names.add(n)
      for (const h of j.hosts) names.add(h)
    }
    const words = [...names].filter((n) => n.length > 3)
    expect(words.length).toBeGreaterThan(15)
    const zip = await openZip(join(bundles, 'storm.zip'))
    if (!zip.ok) throw new Error(zip.error.why)
    for (const { name } of zip.value.entries.values()) {
      if (name.endsWith('.png') || name === 'README.html') continue
      const bytes = await zip.value.read(name, 2 ** 30)
      const text = bytes.ok ? bytes.value.toString('latin1') : ''
      expect([name, words.filter((w) => text.includes(w))]).toEqual([name, []])
    }
    // Words of the page may equal a program's name: there a name counts only as a separate word.
    const page = await zip.value.read('README.html', 2 ** 30)
    const text = page.ok ? page.value.toString('utf8') : ''
    expect(words.filter((w) => /[\d.-]/.test(w) && text.includes(w))).toEqual([])
    zip.value.close()
  })

  it('are refused where the name is a path or is there already, and where nothing is kept', async () => {
    const events = async (input: Partial<ExportInput>): Promise<ExportEvent | undefined> => {
      let last: ExportEvent | undefined
      for await (const e of await client.incidents.export({ incident: null, span, ...input })) last = e
      return last
    }
    await expect(client.incidents.export({ incident: null, span, name: '../x' })).rejects.toEqual(
      refused('BUNDLE_NAME'),
    )
    await expect(client.incidents.export({ incident: 'INC-0999', span })).rejects.toEqual(refused('INCIDENT_GONE'))
    expect(await events({ name: 'storm' })).toMatchObject({ kind: 'failed', notice: { code: 'BUNDLE_EXISTS' } })
    expect(await events({ name: 'none', span: { fromMs: 1, toMs: 2 } })).toMatchObject({
      kind: 'failed',
      notice: { code: 'EXCERPT_EMPTY' },
    })
    expect(readdirSync(bundles).filter((n) => !n.startsWith('.'))).toEqual(['storm.zip'])
    expect(work()).toEqual([])
  })

  it('leave nothing when the exporting client disconnects', async () => {
    for await (const e of await client.incidents.export({ incident: null, span, name: 'gone' }))
      if (e.kind === 'progress') break
    expect(readdirSync(bundles).filter((n) => !n.startsWith('.'))).toEqual(['storm.zip'])
    expect(work()).toEqual([])
  })

  it('are displayed as a recorded source in every view, and their unpacked files are removed with them', async () => {
    await client.incidents.open({ name: 'storm' })
    const s = await status()
    expect(s.source).toMatchObject({ kind: 'RECORDED', env: 'DEMO' })
    expect(s.source.cluster).not.toBe(host.monitor.source.cluster)
    expect(s.playback).toMatchObject({
      file: 'storm',
      bundle: { env: 'DEMO', redacted: true, verified: true },
      fromMs: span.fromMs,
    })
    const { opened } = await frame()
    expect(opened).toMatchObject({ name: 'storm', manifest: { redaction: 'pseudonyms' }, incident: { id: 'INC-0001' } })
    expect(opened?.integrity).toMatch(/^[0-9a-f]{64}$/)
    expect(work()).toHaveLength(1)
    const position = await client.history.goTo({ atMs: EPOCH + 5_000 })
    expect(position).toMatchObject({ atMs: EPOCH + 5_000, recorded: true })
    const jobs = await first(client.views.jobs({ stream: 'j', at: position.sample, windowMs: 10_000 }))
    expect(jobs.atMs).toBe(EPOCH + 5_000)
    expect((await first(client.views.overview({ stream: 'o', at: position.sample, windowMs: 10_000 }))).atMs).toBe(
      EPOCH + 5_000,
    )
    expect((await status()).playback).toMatchObject({ bundle: { verified: true } })
    expect(work()).toHaveLength(1)
    // Exported from playback: the same content, including pseudonyms.
    const again = await exported({ incident: 'INC-0001', name: 'again' })
    expect(await membersOf('again')).toEqual(await membersOf('storm'))
    expect(again.content).toBe(opened?.manifest.content)
    await client.history.leave()
    expect((await status()).source.kind).toBe('EMULATED')
    expect((await frame()).opened).toBeNull()
    expect(work()).toEqual([])
  })

  it('that were changed still open, and say so', async () => {
    const bytes = readFileSync(join(bundles, 'storm.zip'))
    const at = bytes.indexOf('csv/jobs.csv') + 100
    bytes[at] = (bytes[at] ?? 0) ^ 1
    writeFileSync(join(bundles, 'bent.zip'), bytes)
    await client.incidents.open({ name: 'bent' })
    expect((await status()).playback?.bundle).toMatchObject({ verified: false })
    await client.incidents.removeBundle({ name: 'bent' })
    expect((await status()).playback ?? null).toBeNull()
    expect(existsSync(join(bundles, 'bent.zip'))).toBe(false)
  })

  it('are forked, calibrated on and named by what is on screen, not by the source behind it', async () => {
    await client.incidents.open({ name: 'storm' })
    const { cluster } = (await status()).source
    const fork = await client.sandbox.fork({ span, atMs: null, workload: 'open' })
    expect(fork).toMatchObject({ cluster, check: { faults: [] } })
    expect(fork.text).not.toContain(host.monitor.allServers[0])
    const range = await client.sandbox.fork({ span: null, atMs: EPOCH + 6_000, workload: 'closed' })
    expect(range).toMatchObject({ cluster, atMs: EPOCH + 6_001 })
    await expect(client.sandbox.fork({ span: { fromMs: 1, toMs: 2 }, atMs: null, workload: 'open' })).rejects.toEqual(
      refused('FORK_EMPTY'),
    )
    await client.history.leave()
    expect((await client.sandbox.fork({ span: null, atMs: null, workload: 'closed' })).cluster).toBe(
      host.monitor.source.cluster,
    )
  })

  it('with names in them do not take a notebook of this console into one that has pseudonyms', async () => {
    const { id } = await client.incidents.create({ atMs: EPOCH + 8_000, span, title: 'Another', note: 'names' })
    await client.incidents.open({ name: 'storm' })
    await expect(client.incidents.export({ incident: id, span })).rejects.toEqual(refused('INCIDENT_OTHER'))
    await client.history.leave()
  })

  it('of one cluster do not take the notebook of another', async () => {
    const { id } = await client.incidents.create({ atMs: EPOCH + 8_000, span })
    const of = screenSource({ onScreen: host.onScreen, store: undefined, readings: () => [] })
    if (!of.ok) throw new Error(of.error.why)
    const find = (name: string) => host.incidents.notebooks.find(name)
    expect(notebookFor(id, of.value, find)).toMatchObject({ ok: true, value: { id } })
    const other = { ...of.value, source: { ...of.value.source, cluster: 'altair' } }
    expect(notebookFor(id, other, find)).toMatchObject({
      error: {
        code: 'INCIDENT_OTHER',
        why: `${id} belongs to ${host.monitor.source.cluster}; the active cluster is altair`,
      },
    })
    of.value.end()
  })

  it('come and go in parts', async () => {
    const bytes: Buffer[] = []
    for await (const part of await client.incidents.read({ name: 'again' }))
      bytes.push(Buffer.from(part.base64, 'base64'))
    const whole = Buffer.concat(bytes)
    expect(whole.equals(readFileSync(join(bundles, 'again.zip')))).toBe(true)
    const put = (
      name: string,
      at: number,
      to: number,
      more: Partial<{ upload: string; base64: string; isLast: boolean }> = {},
    ) =>
      client.incidents.put({
        name,
        upload: `upload-${name}`,
        at,
        base64: whole.toString('base64', at, to),
        isLast: to >= whole.length,
        ...more,
      })
    const PART = Math.min(whole.length >> 1, 500_000)
    /** Sends all parts after the first one; answers what the last of them is answered. */
    const putRest = async (name: string, bytes = whole): Promise<unknown> => {
      for (let at = PART; at + PART < bytes.length; at += PART)
        await put(name, at, at + PART, { base64: bytes.toString('base64', at, at + PART) })
      const at = Math.ceil(bytes.length / PART) * PART - PART
      return put(name, at, bytes.length, { base64: bytes.toString('base64', at) })
    }
    await put('sent', 0, PART)
    await putRest('sent')
    expect(readFileSync(join(bundles, 'sent.zip')).equals(whole)).toBe(true)
    expect((await frame()).bundles.map((b) => b.name)).toContain('sent')
    // Out of order, over another one, changed in transit, not base64, or truncated.
    await put('other', 0, PART)
    await expect(put('other', PART + 1, 2 * PART)).rejects.toEqual(refused('UPLOAD_ORDER'))
    await expect(put('other', PART, 2 * PART)).rejects.toEqual(refused('UPLOAD_ORDER'))
    await put('storm', 0, PART)
    await expect(putRest('storm')).rejects.toEqual(refused('BUNDLE_EXISTS'))
    await expect(put('../x', 0, PART)).rejects.toEqual(refused('BUNDLE_NAME'))
    await expect(put('odd', 0, PART, { base64: 'a b=' })).rejects.toEqual(refused('UPLOAD_ORDER'))
    const bent = Buffer.from(whole)
    bent[bent.indexOf('csv/jobs.csv') + 100]! ^= 1
    const send = (name: string, base64: string) =>
      client.incidents.put({ name, upload: `upload-${name}`, at: 0, base64, isLast: true })
    await put('bent', 0, PART, { base64: bent.toString('base64', 0, PART) })
    await expect(putRest('bent', bent)).rejects.toEqual(refused('BUNDLE_CHANGED'))
    await expect(send('cut', whole.toString('base64', 0, PART))).rejects.toEqual(refused('BUNDLE_CHANGED'))
    await expect(send('text', Buffer.from('hello').toString('base64'))).rejects.toEqual(refused('BUNDLE_FOREIGN'))
    for (const n of [1, 2, 3, 4]) await put(`w${n}`, 0, PART)
    await expect(put('w5', 0, PART)).rejects.toEqual(refused('UPLOAD_BUSY'))
    expect(
      readdirSync(bundles)
        .filter((n) => n.endsWith('.zip'))
        .sort(),
    ).toEqual(['again.zip', 'sent.zip', 'storm.zip'])
    expect(work()).toHaveLength(4)
  })

  it('that cannot be previewed are not said to be unwritten: nothing was exported yet', async () => {
    const refused = await client.incidents.preview({ incident: 'INC-9999', span }).catch((e: unknown) => e)
    expect(refused).toMatchObject({ data: { code: 'INCIDENT_GONE', what: 'The bundle cannot be exported' } })
  })

  it('are previewed and reported of, with nothing written', async () => {
    const before = readdirSync(bundles)
    const preview = await client.incidents.preview({ incident: 'INC-0001', span })
    expect(preview.fields.length).toBeGreaterThan(5)
    expect(preview.names.length).toBeGreaterThan(0)
    const { name, text } = await client.incidents.markdown({ incident: 'INC-0001', span })
    expect(name).toBe('INC-0001-20260101T0000.md')
    expect(text).toContain('#')
    expect(text).not.toContain(host.monitor.allServers[0])
    expect(readdirSync(bundles)).toEqual(before)
  })
})
