/** A data folder with empty, truncated or overwritten files, as a full disk leaves them: the console starts and samples. */
import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRouterClient } from '@orpc/server'
import { beforeAll, describe, expect, it } from 'vitest'
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

const SCENARIO = `title: One server
clients: { count: 2 }
oss: [{ name: oss01, osts: [{ name: one-OST0000, disk: { bandwidth_mb_s: 100 } }] }]
control: { max_rate: 300, period_ms: 500 }
jobs: [{ id: 1.hog.u1, clients: [1], op: write, size_kib: 64, pattern: { kind: continuous } }]
`
const scenarioFile = join(tempFolder(), 'one.yaml')
/** A data folder of a closed console. */
const left = tempFolder()
beforeAll(async () => {
  writeFileSync(scenarioFile, SCENARIO)
  await start(left)
})
function leftFolder(): string {
  const dataDir = tempFolder()
  cpSync(left, dataDir, { recursive: true })
  return dataDir
}

let streams = 0
async function start(dataDir: string) {
  const historyFile = join(dataDir, 'history.sqlite')
  const opened = await openHost({ shell: 'browser', historyFile, scenarioFile, paced: false })
  if (!opened.ok) throw new Error(`${opened.error.code}: ${opened.error.why}`)
  const host = opened.value
  const client = createRouterClient(host.router, { context: { peer: 'test' } })
  await host.source.runTo(2e9, (atNs) => host.monitor.tick(atNs))
  const samples = host.monitor.sample
  for await (const f of await client.source.status({ stream: `d${++streams}` })) {
    await host.close()
    return { samples, notices: f.notices.map((n) => n.code), reported: host.notices.map((n) => n.code) }
  }
  throw new Error('no frame')
}

describe('exploit: a console starts and samples', () => {
  it.each(FILES.flatMap((file) => (['empty', 'half', 'noise'] as const).map((how) => [file, how] as const)))(
    'with %s that is %s',
    async (file, how) => {
      const dataDir = leftFolder()
      mkdirSync(join(dataDir, file, '..'), { recursive: true })
      const before = readdirSync(dataDir)
      writeFileSync(join(dataDir, file), CONTENTS[how])
      const { samples } = await start(dataDir)
      expect(samples).toBeGreaterThan(0)
      // Unreadable files are set aside or left, never deleted.
      expect(before.filter((f) => !existsSync(join(dataDir, f)) && !f.endsWith('-lock'))).toEqual([])
    },
  )

  it('with all of them damaged at once, and says what it cannot use', async () => {
    const dataDir = leftFolder()
    for (const file of FILES) {
      mkdirSync(join(dataDir, file, '..'), { recursive: true })
      writeFileSync(join(dataDir, file), CONTENTS.noise)
    }
    const { samples, reported } = await start(dataDir)
    expect(samples).toBeGreaterThan(0)
    expect(reported).toEqual([expect.stringMatching(/^HISTORY_(?:OFF|DAMAGED)$/), 'AUDIT_BROKEN'])
  })
})
