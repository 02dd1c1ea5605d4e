import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ok } from '#core/base/result.ts'
import { TEXT_MOST, type Incident } from '#core/snapshot/notebook.ts'
import { notebookJson } from '#core/snapshot/notebook-json.ts'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import { NotebookStore } from './notebook-store.ts'
import { DOCUMENT_BYTES, readNotebook } from './notebook-storage.ts'

const incident = (id: string, over: Partial<Incident> = {}): Incident => ({
  format: 1,
  id,
  title: `of ${id}`,
  status: 'open',
  author: 'mira',
  alert: null,
  source: { kind: 'LIVE', cluster: 'altair', env: 'PROD', scenario: null, seed: null },
  createdMs: 1,
  changedMs: 2,
  resolvedMs: null,
  fromMs: 1,
  toMs: 2,
  cells: [],
  ...over,
})

const made = (store: NotebookStore, title?: string): string => {
  const result = store.create((id) => incident(id, title === undefined ? {} : { title }))
  if (!result.ok) throw new Error(result.error.why)
  return result.value.id
}
const retitled = (store: NotebookStore, id: string, title: string) =>
  store.replace(id, 'The incident was not changed', (of) => ok({ ...of, title }))
const folderOf = (data: string): string => join(data, 'incidents')
const put = (data: string, name: string, text: string): void => {
  mkdirSync(dirname(join(folderOf(data), name)), { recursive: true })
  writeFileSync(join(folderOf(data), name), text)
}
const code = (result: { ok: boolean; error?: { code: string } }): string => result.error?.code ?? 'ok'

describe('a folder of notebooks', () => {
  it('keeps what is made and changed, newest first, for the next start', () => {
    const data = tempFolder()
    const store = new NotebookStore(data)
    expect(store.list()).toEqual([])
    expect([made(store), made(store, 'two')]).toEqual(['INC-0001', 'INC-0002'])
    expect(retitled(store, 'INC-0001', 'one').ok).toBe(true)
    const next = new NotebookStore(data)
    expect(next.list().map((r) => [r.id, r.head?.title, r.head?.cells, r.fault])).toEqual([
      ['INC-0002', 'two', 0, ''],
      ['INC-0001', 'one', 0, ''],
    ])
    expect(next.find('INC-0001')).toEqual(incident('INC-0001', { title: 'one' }))
    expect(readFileSync(join(folderOf(data), 'INC-0001.json'), 'utf8')).toBe(
      notebookJson(incident('INC-0001', { title: 'one' })),
    )
    expect(statSync(join(folderOf(data), 'INC-0001.json')).mode & 0o077).toBe(0)
  })

  it('sees what another console does there', () => {
    const data = tempFolder()
    const one = new NotebookStore(data)
    const two = new NotebookStore(data)
    const id = made(one)
    expect(two.list()).toHaveLength(1)
    expect(retitled(two, id, 'from two').ok).toBe(true)
    // Each change starts from the stored document.
    expect(one.find(id)?.title).toBe('from two')
    expect(one.replace(id, '', (of) => ok({ ...of, author: 'one' })).ok).toBe(true)
    expect(two.find(id)).toMatchObject({ title: 'from two', author: 'one' })
    expect(two.remove(id).ok).toBe(true)
    expect(one.find(id)).toBeUndefined()
    expect(code(retitled(one, id, 'gone'))).toBe('NO_INCIDENT')
  })

  it('keeps nothing on disk without a folder, and does the same', () => {
    const store = new NotebookStore(undefined)
    const id = made(store)
    expect(retitled(store, id, 'in memory').ok).toBe(true)
    expect(store.remove(id).ok).toBe(true)
    expect(store.list()).toEqual([])
    expect(made(store)).toBe('INC-0002')
    expect(store.restore(id).ok).toBe(true)
    expect(store.list().map((r) => r.head?.title)).toEqual(['of INC-0002', 'in memory'])
    expect(store.beside(id, 'readings')).toBeUndefined()
  })
})

describe('numbers', () => {
  it('continue after removed ones, also when none of them is left', () => {
    const data = tempFolder()
    const store = new NotebookStore(data)
    for (let i = 0; i < 3; i++) expect(store.remove(made(store)).ok).toBe(true)
    rmSync(join(folderOf(data), 'removed'), { recursive: true })
    expect(made(new NotebookStore(data))).toBe('INC-0004')
    // Nor from a file that a person named like one.
    put(data, 'INC-999999999.json', '{}')
    expect(made(new NotebookStore(data))).toBe('INC-0005')
    put(data, 'INC-0100.json', '{}')
    expect(made(store)).toBe('INC-0101')
  })
})

describe('what is removed', () => {
  it('comes back with what belongs to it, also to another program', () => {
    const data = tempFolder()
    const store = new NotebookStore(data)
    const id = made(store, 'kept')
    const beside = store.beside(id, 'readings') ?? ''
    writeFileSync(beside, '{}')
    expect(store.remove(id).ok).toBe(true)
    expect(existsSync(beside)).toBe(false)
    expect(code(store.remove(id))).toBe('NO_INCIDENT')
    expect(new NotebookStore(data).restore(id).ok).toBe(true)
    expect(existsSync(beside)).toBe(true)
    expect(store.find(id)?.title).toBe('kept')
    expect(code(store.restore(id))).toBe('NO_INCIDENT')
    expect(code(store.restore('../INC-0001'))).toBe('NO_INCIDENT')
  })

  it('is kept within bounds: those of this start all, of earlier ones the last', () => {
    const data = tempFolder()
    for (let i = 1; i <= 60; i++) put(data, `removed/INC-${1000 + i}.json`, notebookJson(incident(`INC-${1000 + i}`)))
    const left = (): number => readdirSync(join(folderOf(data), 'removed')).length
    const store = new NotebookStore(data)
    const id = made(store)
    expect(id).toBe('INC-1061')
    store.remove(id)
    expect(left()).toBe(50)
    expect(store.restore(id).ok).toBe(true)
    expect(store.restore('INC-1060').ok).toBe(true)
    expect(code(store.restore('INC-1001'))).toBe('NO_INCIDENT')
  })
})

describe('exploit: documents of others', () => {
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
  const good = notebookJson(incident('INC-0007'))
  it.each([
    ['no JSON', '{"format": 1,', 'it is not JSON'],
    ['nothing', '', 'it is not JSON'],
    ['a list', '[]', 'damaged'],
    ['deep', deep, 'damaged'],
    ['deep inside', good.replace('"cells": []', `"cells": ${deep}`), 'damaged: cells'],
    ['wrong types', good.replace('"title": "of INC-0007"', '"title": {"toString": 1}'), 'damaged: title'],
    ['a number that is none', good.replace('"fromMs": 1', '"fromMs": 1e999'), 'damaged: fromMs'],
    ['another number', notebookJson(incident('INC-0008')), 'its id is INC-0008'],
    ['newer', good.replace('"format": 1', '"format": 2'), 'a newer Sluice wrote it (format 2)'],
    ['no format', good.replace('"format": 1', '"format": 0'), 'damaged: format'],
    ['a prototype', good.replace('"cells"', '"__proto__": {"id": "x"}, "cells"'), ''],
  ])('%s: it stands in the list with the reason and is never written over', (_, text, fault) => {
    const data = tempFolder()
    put(data, 'INC-0007.json', text)
    const store = new NotebookStore(data)
    const [row] = store.list()
    expect(row).toMatchObject({ id: 'INC-0007', fault: expect.stringContaining(fault) as string })
    if (fault === '') return
    expect(store.find('INC-0007')).toBeUndefined()
    expect(code(retitled(store, 'INC-0007', 'x'))).toBe('INCIDENT_UNREADABLE')
    expect(made(store)).toBe('INC-0008')
    expect(readFileSync(join(folderOf(data), 'INC-0007.json'), 'utf8')).toBe(text)
    // It is moved to the removed ones, and can be restored.
    expect(store.remove('INC-0007').ok).toBe(true)
    expect(store.restore('INC-0007').ok).toBe(true)
    expect(readFileSync(join(folderOf(data), 'INC-0007.json'), 'utf8')).toBe(text)
  })

  it('links, folders and huge files are not read, names that are no numbers not listed', () => {
    const data = tempFolder()
    const secret = join(data, 'secret.json')
    writeFileSync(secret, notebookJson(incident('INC-0001')))
    mkdirSync(folderOf(data))
    symlinkSync(secret, join(folderOf(data), 'INC-0001.json'))
    mkdirSync(join(folderOf(data), 'INC-0002.json'))
    put(data, 'INC-0004.json', '{')
    truncateSync(join(folderOf(data), 'INC-0004.json'), DOCUMENT_BYTES + 1)
    for (const name of ['INC-1.json', 'INC-0009.json.bak', 'inc-0009.json', 'INC-00099999999.json', 'x INC-0009.json'])
      put(data, name, '{}')
    const store = new NotebookStore(data)
    expect(store.list().map((r) => [r.id, r.fault])).toEqual([
      ['INC-0004', `it has ${DOCUMENT_BYTES + 1} bytes; the limit is ${DOCUMENT_BYTES}`],
      ['INC-0002', 'it is a folder'],
      ['INC-0001', 'it is a link, which is not followed'],
    ])
    for (const id of ['INC-0001', 'INC-0002', 'INC-0004', '../secret', 'INC-0009']) {
      expect(store.find(id)).toBeUndefined()
      expect(retitled(store, id, 'x').ok).toBe(false)
    }
    expect(readlinkSync(join(folderOf(data), 'INC-0001.json'))).toBe(secret)
    expect(readFileSync(secret, 'utf8')).toBe(notebookJson(incident('INC-0001')))
  })

  it('a folder in the place of a document is refused, and nothing of it is touched', () => {
    const data = tempFolder()
    const store = new NotebookStore(data)
    mkdirSync(join(folderOf(data), 'INC-0001.json'), { recursive: true })
    expect(made(store)).toBe('INC-0002')
    expect(code(retitled(store, 'INC-0001', 'x'))).toBe('INCIDENT_UNREADABLE')
  })
})

it('an older document is upgraded step by step; one that no step leads from is not guessed at', () => {
  const old = JSON.stringify({ ...incident('INC-0001'), title: undefined, name: 'old', format: 1 })
  const upgrades = new Map([[1, ({ name, ...d }: Record<string, unknown>) => ({ ...d, title: name })]])
  const read = readNotebook(old, 'INC-0001', upgrades, 2)
  expect(read).toEqual({ ok: true, value: incident('INC-0001', { title: 'old', format: 2 }) })
  expect(readNotebook(old, 'INC-0001', new Map(), 2)).toMatchObject({ error: 'it is of format 1, which is unknown' })
})

describe('a write that does not end', () => {
  it('a file in the place of the folder is said, and is not touched', () => {
    const data = tempFolder()
    writeFileSync(folderOf(data), 'mine')
    const store = new NotebookStore(data)
    expect(store.list()).toEqual([])
    expect(code(store.create((id) => incident(id)))).toBe('INCIDENT_NOT_WRITTEN')
    expect(readFileSync(folderOf(data), 'utf8')).toBe('mine')
  })

  it.skipIf(process.getuid?.() === 0)('a folder that may not be written is said', () => {
    const data = tempFolder()
    const store = new NotebookStore(data)
    const id = made(store, 'old')
    chmodSync(folderOf(data), 0o500)
    const result = retitled(store, id, 'new')
    expect(result).toMatchObject({
      error: { code: 'INCIDENT_NOT_WRITTEN', why: 'this user has no write permission there' },
    })
    expect(store.find(id)?.title).toBe('old')
    chmodSync(folderOf(data), 0o700)
  })
})

it('what is more than a notebook holds is refused before anything is written', () => {
  const store = new NotebookStore(tempFolder())
  const id = made(store, 'old')
  const cell = (text: string) => ({ id: 'c1', atMs: 1, kind: 'note', text }) as const
  const long = store.replace(id, 'no', (of) => ok({ ...of, cells: [cell('x'.repeat(TEXT_MOST + 1))] }))
  const many = store.replace(id, 'no', (of) => ok({ ...of, cells: Array.from({ length: 201 }, () => cell('x')) }))
  expect([code(long), code(many)]).toEqual(['INCIDENT_FULL', 'INCIDENT_FULL'])
  expect(store.find(id)?.cells).toEqual([])
})

it('a listing reads a document once, and what it has no time for comes later', async () => {
  const data = tempFolder()
  const cells = [{ id: 'c1', atMs: 1, kind: 'note', text: 'x'.repeat(TEXT_MOST) }] as const
  for (let i = 1; i <= 200; i++) {
    const id = `INC-${String(i).padStart(4, '0')}`
    put(data, `${id}.json`, notebookJson(incident(id, { cells: [...cells] })))
  }
  let more: () => void = () => undefined
  let turns = 0
  const store = new NotebookStore(data, { onMore: () => more() })
  const all = await new Promise<number>((done) => {
    more = () => {
      turns++
      const n = store.list().length
      if (n === 200) done(n)
    }
    more()
  })
  expect(all).toBe(200)
  expect(turns).toBeGreaterThan(0)
  expect(store.list().map((r) => r.id)).toEqual(new NotebookStore(data).readAll().map((r) => r.id))
})
