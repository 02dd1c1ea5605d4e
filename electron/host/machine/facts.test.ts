import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createRouterClient } from '@orpc/server'
import { afterEach, expect, it } from 'vitest'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import { openHost, type Host, type HostOptions } from '../host.ts'

let host: Host | undefined
afterEach(async () => host?.close())
async function open(options: Pick<HostOptions, 'historyFile' | 'dataDir'>) {
  const opened = await openHost({ shell: 'terminal', paced: false, ...options })
  if (!opened.ok) throw new Error(opened.error.what)
  host = opened.value
  const client = createRouterClient(host.router, { context: { peer: 'test' } })
  const { files, dataDir } = await client.machine.facts()
  return { client, dataDir, pathOf: (what: string) => files.find((f) => f.what === what)?.path }
}
async function first<F>(stream: Promise<AsyncIterable<F>>): Promise<F> {
  for await (const frame of await stream) return frame
  throw new Error('no frame')
}

it('says where bundles and recordings are where the history lies outside the data folder', async () => {
  const data = tempFolder()
  const elsewhere = join(tempFolder(), 'elsewhere')
  mkdirSync(elsewhere)
  const { client, dataDir, pathOf } = await open({ dataDir: data, historyFile: join(elsewhere, 'h.sqlite') })
  expect(dataDir).toBe(data)
  const { folder } = await first(client.views.incidents({ stream: 'i', selected: null }))
  expect([pathOf('Bundles'), pathOf('Bundles')]).toEqual([folder, join(elsewhere, 'bundles')])
  expect(pathOf('Recordings')).toBe(join(elsewhere, 'recordings'))
  expect([pathOf('Notebooks'), pathOf('Scenarios')].map((p) => dirname(p ?? ''))).toEqual([data, data])
})

it('says that a history in memory keeps no recordings, and its bundles in the data folder', async () => {
  const data = tempFolder()
  const { pathOf } = await open({ dataDir: data, historyFile: ':memory:' })
  expect([pathOf('Sample history'), pathOf('Recordings')]).toEqual(['', ''])
  expect(pathOf('Bundles')).toBe(join(data, 'bundles'))
})
