import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { History } from './history.ts'
import type { JobFacts } from './records.ts'

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5)
const facts = (jobId: string): JobFacts => ({ jobId, user: 'ana', account: 'aero', nodes: 4 })
const job = (jobId: string, rpcs = 1) => ({ jobId, rpcs, readBps: 0, writeBps: 0, throttled: 0, record: null })
const newFile = (): string => join(tempFolder(), 'history.sqlite')

function open(file: string): History {
  const opened = History.open(file, NOW)
  if (!opened.ok) throw new Error(`${opened.error.what}: ${opened.error.why}`)
  return opened.value
}

/** Arguments for another process that runs `body` with History and the file. */
function child(file: string, body: string): string[] {
  const history = new URL('./history.ts', import.meta.url).href
  const code = `import { History } from ${JSON.stringify(history)}\nconst file = ${JSON.stringify(file)}\n${body}`
  return ['--input-type=module', '-e', code]
}

describe('a second instance', () => {
  it('is refused in another process while the first continues', () => {
    const file = newFile()
    const first = open(file)
    first.beginSource('LIVE', 'demo', '', NOW)
    const second = child(file, 'const r = History.open(file, 0); process.stdout.write(r.ok ? "opened" : r.error.code)')
    expect(spawnSync(process.execPath, second, { encoding: 'utf8' }).stdout).toBe('HISTORY_IN_USE')
    first.record(NOW, [job('a')], [], facts)
    expect(first.count('instant')).toBe(1)
    first.close()
  })
})

describe('a process that is killed while it writes', () => {
  it('leaves a file that opens and holds all that was flushed and every audit record', async () => {
    const file = newFile()
    const script = child(
      file,
      `
      const history = History.open(file, 0).value
      history.beginSource('LIVE', 'demo', '', 0)
      const facts = (jobId) => ({ jobId, user: '', account: '', nodes: null })
      for (let i = 1; ; i++) {
        history.record(i * 100, [{ jobId: 'a', rpcs: i, readBps: 0, writeBps: 0, throttled: 0, record: 0 }], [], facts)
        history.recordAudit({ number: i, atMs: i, server: 's', kind: 'intent', text: 'x', hash: 'h' })
        if (i % 50 === 0) {
          history.flush()
          process.stdout.write(i + '\\n')
        }
        if (i % 10 === 0) await new Promise((r) => setImmediate(r))
      }`,
    )
    const writer = spawn(process.execPath, script, { stdio: ['ignore', 'pipe', 'inherit'] })
    let written = ''
    for await (const part of writer.stdout.setEncoding('utf8')) {
      written += String(part)
      if (written.split('\n').length > 10) break
    }
    writer.kill('SIGKILL')
    await once(writer, 'exit')
    const flushed = Number(written.trim().split('\n').at(-1))
    expect(flushed).toBeGreaterThanOrEqual(500)

    const db = new Database(file)
    const raw = db.prepare('SELECT count(*) FROM block WHERE kind = 0 AND tier = 0 AND at_ms <= ?').pluck()
    expect(raw.get(flushed * 100)).toBe(flushed)
    expect(Number(db.prepare('SELECT max(number) FROM audit').pluck().get())).toBeGreaterThanOrEqual(flushed)
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
    db.close()

    const again = open(file)
    expect(again.notice).toBeUndefined()
    expect(again.lastAudit()?.number).toBeGreaterThanOrEqual(flushed)
    again.close()
  })
})
