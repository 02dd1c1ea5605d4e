/** Several windows that use and change one bundle concurrently. */
import { createRouterClient } from '@orpc/server'
import { copyFileSync, existsSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NS_PER_S } from '#core/base/units.ts'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import { openHost, type Host } from '../host.ts'

const EPOCH_S = 1_767_225_600
const EPOCH = EPOCH_S * 1000
const folder = tempFolder()
const bundles = join(folder, 'bundles')
const span = { fromMs: EPOCH + 1_000, toMs: EPOCH + 5_000 }
const work = (): string[] => (existsSync(join(bundles, '.work')) ? readdirSync(join(bundles, '.work')) : [])

let host: Host
const clientOf = () => createRouterClient(host.router, { context: { peer: 'test' } })
let client: ReturnType<typeof clientOf>
const played = async (): Promise<string | undefined> => {
  for await (const frame of await client.source.status({ stream: 's' })) return frame.playback?.file ?? undefined
  return undefined
}

beforeAll(async () => {
  const options = { shell: 'terminal', historyFile: join(folder, 'history.sqlite'), paced: false } as const
  const opened = await openHost({ ...options, epochSeconds: EPOCH_S })
  if (!opened.ok) throw new Error(opened.error.what)
  host = opened.value
  client = clientOf()
  await host.source.runTo(6 * NS_PER_S, (atNs) => host.monitor.tick(atNs))
  for await (const e of await client.incidents.export({ incident: null, span, name: 'a' })) {
    if (e.kind === 'failed') throw new Error(e.notice.what)
  }
  copyFileSync(join(bundles, 'a.zip'), join(bundles, 'b.zip'))
})
afterAll(() => host.close())

describe('exploit: a bundle', () => {
  it('opened twice at once is unpacked once when both are done', async () => {
    await Promise.all([client.incidents.open({ name: 'a' }), client.incidents.open({ name: 'b' })])
    expect(['a', 'b']).toContain(await played())
    expect(work()).toHaveLength(1)
    await client.history.leave()
    expect(work()).toEqual([])
  })

  it('that is left while it is exported again ends in a whole bundle or none', async () => {
    await client.incidents.open({ name: 'a' })
    let end: string | undefined
    for await (const e of await client.incidents.export({ incident: null, span, name: 'again' })) {
      if (e.kind === 'progress') await client.history.leave()
      else end = e.kind
    }
    const isThere = existsSync(join(bundles, 'again.zip'))
    expect(isThere).toBe(end === 'done')
    if (isThere) expect(await client.incidents.verify({ name: 'again' })).toMatchObject({ ok: true })
    expect(work()).toEqual([])
    expect(readdirSync(bundles).filter((n) => n.endsWith('.part'))).toEqual([])
  })

  it('that is replaced between its verification and its opening is not called verified', async () => {
    const bent = readFileSync(join(bundles, 'a.zip'))
    const at = bent.indexOf('csv/jobs.csv') + 100
    bent[at] = (bent[at] ?? 0) ^ 1
    writeFileSync(join(bundles, 'bent'), bent)
    const opening = client.incidents.open({ name: 'b' })
    renameSync(join(bundles, 'bent'), join(bundles, 'b.zip'))
    await opening.catch(() => undefined)
    for await (const frame of await client.source.status({ stream: 's' })) {
      const isWhole = (await client.incidents.verify({ name: 'b' })).ok
      if (frame.playback?.bundle?.verified) expect(isWhole).toBe(true)
      break
    }
    await client.history.leave()
    expect(work()).toEqual([])
  })

  it('that is a link or a folder is never removed with what it leads to', async () => {
    const other = join(folder, 'precious')
    writeFileSync(other, 'mine')
    symlinkSync(other, join(bundles, 'link.zip'))
    await client.incidents.removeBundle({ name: 'link' })
    expect(readFileSync(other, 'utf8')).toBe('mine')
    await expect(client.incidents.removeBundle({ name: '../precious' })).rejects.toThrow()
    expect(readFileSync(other, 'utf8')).toBe('mine')
  })

  it('that is still being opened when the console closes leaves nothing unpacked', async () => {
    const opening = client.incidents.open({ name: 'a' }).catch(() => undefined)
    await host.close()
    await opening
    expect(work()).toEqual([])
  })
})
