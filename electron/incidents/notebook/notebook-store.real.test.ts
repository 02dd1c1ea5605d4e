import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ok } from '#core/base/result.ts'
import { TEXT_MOST, type Incident } from '#core/snapshot/notebook.ts'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import type { Step } from '../../files/atomic-file.ts'
import { NotebookStore } from './notebook-store.ts'

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

const storeUrl = new URL('./notebook-store.ts', import.meta.url).href
/** Separate program on the same folder: `store`, `of(id)` and its command line arguments. */
const program = (body: string): string[] => [
  '--input-type=module',
  '-e',
  `import { NotebookStore } from ${JSON.stringify(storeUrl)}
   const [data, ...words] = process.argv.slice(1)
   const of = (id, title = id, cells = []) => (${JSON.stringify(incident('INC-0001'))}, { ...${JSON.stringify(incident('INC-0001'))}, id, title, cells })
   ${body}`,
]

describe('numbers', () => {
  it('are given once to two programs that take them at the same time', async () => {
    const data = tempFolder()
    const take = program(`
      const store = new NotebookStore(data)
      for (let i = 0; i < 24; i++) {
        const id = store.create((id) => of(id)).value.id
        if (i % 3 === 0) store.remove(id)
        console.log(id)
      }`)
    const run = (): Promise<string> =>
      new Promise((done, failed) => {
        const child = spawn(process.execPath, [...take, data], { stdio: ['ignore', 'pipe', 'inherit'] })
        let text = ''
        child.stdout.setEncoding('utf8').on('data', (t: string) => (text += t))
        child.on('exit', (status) => (status === 0 ? done(text) : failed(new Error(`ended with ${status}`))))
      })
    const ids = (await Promise.all([run(), run()])).join('').trim().split('\n')
    expect(ids).toHaveLength(48)
    expect(new Set(ids).size).toBe(48)
    expect(new NotebookStore(data).readAll()).toHaveLength(32)
    // The files of taken numbers are pruned.
    expect(readdirSync(join(folderOf(data), 'numbers')).length).toBeLessThan(45)
  })
})

describe('a write that does not end', () => {
  const steps: readonly Step[] = ['begun', 'opened', 'written', 'synced', 'named']
  it.each(steps)(
    'killed after it has %s: the old or the new notebook is there, and the next one can be made',
    (step) => {
      const data = tempFolder()
      const id = made(new NotebookStore(data), 'old')
      const kill = program(`
      const store = new NotebookStore(data, { at: (s) => s === words[0] && process.kill(process.pid, 'SIGKILL') })
      store.replace('${id}', '', (was) => ({ ok: true, value: { ...was, title: 'new' } }))`)
      expect(spawnSync(process.execPath, [...kill, data, step]).signal).toBe('SIGKILL')
      const store = new NotebookStore(data)
      expect(store.list().map((r) => [r.head?.title, r.fault])).toEqual([[step === 'named' ? 'new' : 'old', '']])
      expect(retitled(store, id, 'after').ok).toBe(true)
      expect(made(store)).toBe('INC-0002')
    },
  )

  it('killed while it makes one: the number is not given again', () => {
    const data = tempFolder()
    const kill = program(`
      const store = new NotebookStore(data, { at: (s) => s === 'written' && process.kill(process.pid, 'SIGKILL') })
      store.create((id) => of(id))`)
    expect(spawnSync(process.execPath, [...kill, data]).signal).toBe('SIGKILL')
    const store = new NotebookStore(data)
    expect(store.list()).toEqual([])
    expect(made(store)).toBe('INC-0002')
  })

  it('refused by the disk: nothing is lost, nothing is left, and it is said', () => {
    const data = tempFolder()
    const store = new NotebookStore(data)
    const id = made(store, 'old')
    // The system limits files of that program to 64 KiB.
    const much = program(`
      const store = new NotebookStore(data)
      const cells = Array.from({ length: 5 }, (_, i) => ({ id: 'c' + i, atMs: 1, kind: 'note', text: 'x'.repeat(${TEXT_MOST}) }))
      console.log(JSON.stringify([
        store.replace('${id}', 'The incident was not changed', (was) => ({ ok: true, value: { ...was, cells } })),
        store.create((id) => of(id, 'big', cells)),
        store.list().map((r) => r.head?.title),
      ]))`)
    const shell = `ulimit -f ${process.platform === 'darwin' ? 128 : 64}; exec "$@"`
    const run = spawnSync('bash', ['-c', shell, 'bash', process.execPath, ...much, data], { encoding: 'utf8' })
    const [changed, created, listed] = JSON.parse(run.stdout) as { ok: boolean; error: object }[]
    const error = { code: 'INCIDENT_NOT_WRITTEN', why: 'the file size limit is exceeded' }
    expect(changed).toMatchObject({ ok: false, error: { ...error, what: 'The incident was not changed' } })
    expect(created).toMatchObject({ ok: false, error })
    expect(listed).toEqual(['old'])
    expect(readdirSync(folderOf(data)).filter((n) => n.startsWith('INC'))).toEqual([`${id}.json`])
  })
})

it('exploit: a pipe in the place of a document is not waited for, and is said', () => {
  const data = tempFolder()
  mkdirSync(join(data, 'incidents'))
  execFileSync('mkfifo', [join(data, 'incidents', 'INC-0003.json')])
  const store = new NotebookStore(data)
  expect(store.list().map((r) => [r.id, r.fault])).toEqual([['INC-0003', 'it is not a regular file']])
  expect(store.find('INC-0003')).toBeUndefined()
  expect(store.replace('INC-0003', 'The incident was not changed', (of) => ok(of)).ok).toBe(false)
})
