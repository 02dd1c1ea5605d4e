/** A data folder whose files are empty, cut or overwritten, as a disk that was full leaves them: the console starts and samples. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRouterClient } from '@orpc/server'
import { describe, expect, it } from 'vitest'
import { openHost } from '#electron/host/host.ts'
import { tempFolder } from '../temp-folder.ts'

const FILES = [
  'history.sqlite',
  'history.sqlite-lock',
  'history.sqlite-wal',
  'enforcement.sqlite',
  'enforcement.sqlite.head',
  'enforcement.sqlite-wal',
  'clusters.yaml',
  'trusted-hosts.json',
  'roles.json',
  'secrets.json',
  'alerts.json',
  'pseudonym.key',
  join('incidents', 'INC-0001.json'),
  join('scenarios', 'mine.yaml'),
] as const
const CONTENTS = {
  empty: '',
  half: '{"version":1,"keys":[',
  noise: '\u0000\u0001\u0002 not what it was \uffff'.repeat(400),
}

let streams = 0
async function start(dataDir: string) {
  const historyFile = join(dataDir, 'history.sqlite')
  const opened = await openHost({ shell: 'browser', historyFile, paced: false })
  if (!opened.ok) throw new Error(`${opened.error.code}: ${opened.error.why}`)
  const host = opened.value
  const client = createRouterClient(host.router, { context: { peer: 'test' } })
  await host.source.runTo(2e9, (atNs) => host.monitor.tick(atNs))
  const samples = host.monitor.sample
  for await (const f of await client.source.status({ stream: `d${++streams}` })) {
    await host.close()
    return { samples, notices: f.notices.map((n) => n.code), told: host.notices.map((n) => n.code) }
  }
  throw new Error('no frame')
}

describe('exploit: a console starts and samples', () => {
  it.each(FILES.flatMap((file) => (['empty', 'half', 'noise'] as const).map((how) => [file, how] as const)))(
    'with %s that is %s',
    async (file, how) => {
      const dataDir = tempFolder()
      await start(dataDir)
      mkdirSync(join(dataDir, file, '..'), { recursive: true })
      const before = readdirSync(dataDir)
      writeFileSync(join(dataDir, file), CONTENTS[how])
      const { samples } = await start(dataDir)
      expect(samples).toBeGreaterThan(0)
      // What cannot be read is set aside or left, never deleted.
      expect(before.filter((f) => !existsSync(join(dataDir, f)) && !f.endsWith('-lock'))).toEqual([])
    },
  )

  it('with all of them damaged at once, and says what it cannot use', async () => {
    const dataDir = tempFolder()
    await start(dataDir)
    for (const file of FILES) {
      mkdirSync(join(dataDir, file, '..'), { recursive: true })
      writeFileSync(join(dataDir, file), CONTENTS.noise)
    }
    const { samples, told } = await start(dataDir)
    expect(samples).toBeGreaterThan(0)
    expect(told).toEqual([expect.stringMatching(/^HISTORY_(?:OFF|DAMAGED)$/), 'AUDIT_BROKEN'])
  })
})
