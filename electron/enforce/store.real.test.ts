import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeEach, describe, expect, it } from 'vitest'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { EnforcementStore, storeFile } from './store.ts'

let file: string
beforeEach(() => {
  file = storeFile(tempFolder())
})

function open(): EnforcementStore {
  const opened = EnforcementStore.open(file, 1_000)
  if (!opened.ok) throw new Error(`${opened.error.what}: ${opened.error.why}`)
  return opened.value
}
const write = (store: EnforcementStore, n: number, from = 0): void => {
  const audit = store.audit({ cluster: 'altair', who: 'ada@desk', loginOf: (h) => `root@${h} SHA256:abc` })
  for (let i = from; i < from + n; i++)
    audit.write(i, 'oss01', i % 2 === 0 ? 'intent' : 'outcome', `text ${i}`, 'plan1')
}

const storeUrl = pathToFileURL(join(import.meta.dirname, 'store.ts')).href
const script = (n: number): string => `
  const { EnforcementStore } = await import(${JSON.stringify(storeUrl)})
  const opened = EnforcementStore.open(${JSON.stringify(file)}, Date.now())
  if (!opened.ok) throw new Error(opened.error.why)
  const audit = opened.value.audit({ cluster: 'c' })
  for (let i = 0; i < ${n}; i++) { audit.write(Date.now(), 's', 'intent', process.pid + ' ' + i); if (i === 0) console.log('up') }
  opened.value.close()`

describe('several processes', () => {
  it('append to one chain, each record once', async () => {
    open().close()
    const ends = Array.from({ length: 3 }, () => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', script(40)], {
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      let output = ''
      child.stderr.on('data', (d: Buffer) => (output += d.toString()))
      return new Promise<string>((resolve) => child.on('close', (code) => resolve(code === 0 ? '' : output)))
    })
    expect(await Promise.all(ends)).toEqual(['', '', ''])
    const store = open()
    expect(store.verify()).toMatchObject({ records: 120, bad: undefined })
    const texts = store.chain.read(1, 200).map((r) => r.text)
    expect(new Set(texts).size).toBe(120)
    store.close()
  })

  it('that are killed while they write leave a chain that holds', async () => {
    for (let i = 0; i < 4; i++) {
      const child = spawn(process.execPath, ['--input-type=module', '-e', script(1e6)], {
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      await new Promise<void>((resolve) => child.stdout.once('data', () => resolve()))
      await new Promise((done) => setTimeout(done, 20 + i * 13))
      const gone = new Promise((resolve) => child.on('close', resolve))
      child.kill('SIGKILL')
      await gone
      const store = open()
      expect([store.refusal, store.verify().bad]).toEqual([undefined, undefined])
      write(store, 1)
      store.close()
    }
  })
})
