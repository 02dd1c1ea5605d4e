import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { History } from './history.ts'

const NOW = Date.UTC(2026, 0, 2)

let file: string
let history: History

function open(): History {
  const opened = History.open(file, NOW)
  if (!opened.ok) throw new Error(opened.error.what)
  return opened.value
}

beforeEach(() => {
  file = join(tempFolder(), 'history.sqlite')
  history = open()
  history.beginSource('EMULATED', 'demo', '', NOW)
})

describe('the audit', () => {
  it('has a record on disk before the call returns', () => {
    const code = `
      import { History } from ${JSON.stringify(new URL('./history.ts', import.meta.url).href)}
      const history = History.open(process.argv[1], 0).value
      history.beginSource('LIVE', 'demo', '', 0)
      history.recordAudit({ number: 7, atMs: 2, server: 'oss1', kind: 'intent', text: 'lctl', hash: 'h' })
      process.kill(process.pid, 'SIGKILL')`
    history.close()
    spawnSync(process.execPath, ['--input-type=module', '-e', code, file])
    history = open()
    history.beginSource('LIVE', 'demo', '', 0)
    expect(history.lastAudit()).toEqual({
      number: 7,
      atMs: 2,
      server: 'oss1',
      kind: 'intent',
      text: 'lctl',
      hash: 'h',
    })
  })
})
