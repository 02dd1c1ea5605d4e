import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { programPath } from '../../files/resources.ts'
import { REPLAY_FOLDER, replayScript, sourceHash, SOURCES_FILE, type SourceHashes } from './replay-script.ts'

const built = (name: string): string => programPath(`${REPLAY_FOLDER}/${name}`)

it('is built from the charts of the window, once, and again only if one of its sources changes', () => {
  const script = replayScript() ?? ''
  const hashes = JSON.parse(readFileSync(built(SOURCES_FILE), 'utf8')) as SourceHashes
  const shared = [
    'renderer/replay/main.ts',
    'renderer/charts/option.ts',
    'core/base/figure-text.ts',
    'package-lock.json',
  ]
  expect(Object.keys(hashes)).toEqual(expect.arrayContaining(shared))
  for (const [path, hash] of Object.entries(hashes)) expect([path, hash]).toEqual([path, sourceHash(path)])
  const { execPath } = process
  process.execPath = '/nowhere/node'
  try {
    expect(replayScript()).toBe(script)
  } finally {
    process.execPath = execPath
  }
})

it('includes the licences of its packages, and stays small enough for a mail', () => {
  const script = replayScript() ?? ''
  for (const name of ['echarts', 'zrender', '@vue/reactivity']) expect(script).toMatch(new RegExp(`^${name} \\d`, 'm'))
  expect(script).toContain('Apache License')
  expect(script.length).toBeLessThan(640_000)
})
