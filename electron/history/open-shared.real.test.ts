import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { History } from './history.ts'
import { readHere } from '#tests/kits/electron/foreign/in-process.ts'
import { facts, job, newFile, NOW, openAt, target } from '#tests/kits/electron/history/samples.ts'

const refused = (file: string): unknown => {
  const opened = History.open(file, NOW)
  if (!opened.ok) return opened.error.code
  opened.value.close()
  return 'opened'
}
/** Records `n` seconds starting at `from`. */
function record(history: History, from: number, n: number): void {
  const jobs = Array.from({ length: 50 }, (_, k) => job(`${k}.a.u`, k))
  for (let s = from; s < from + n; s++) history.record(NOW + s * 1000, jobs, [target('T', s)], facts, { rpcs: s })
  history.flush()
}
function begun(): History {
  const history = openAt(newFile())
  history.beginSource('EMULATED', 'demo', '', NOW)
  record(history, 0, 60)
  return history
}
const COUNT = 'SELECT count(*) FROM instant WHERE tier = 0'

it('a history is read in another process and in a thread while the console writes it, and nothing of it changes', async () => {
  const history = begun()
  const module = new URL('./open-shared.ts', import.meta.url).href
  const body = `
    const { openShared } = await import(${JSON.stringify(module)})
    const r = openShared(${JSON.stringify(history.file)})
    const n = r.ok ? r.value.db.prepare(${JSON.stringify(COUNT)}).pluck().get() : r.error.code
    if (r.ok) { try { r.value.db.exec('DELETE FROM instant') } catch (e) { globalThis.refusal = e.code } r.value.db.close() }`
  const process_ = spawnSync(process.execPath, ['--input-type=module', '-e', `${body}; console.log(n, refusal)`], {
    encoding: 'utf8',
  })
  expect(process_.stdout.trim()).toBe('60 SQLITE_READONLY')
  const text = `import { parentPort } from 'node:worker_threads'; ${body}; parentPort.postMessage(n)`
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(text)}`))
  expect((await once(worker, 'message'))[0]).toBe(60)
  // The console's lock is still held.
  expect(refused(history.file)).toBe('HISTORY_IN_USE')
  record(history, 60, 5)
  expect(history.count('instant')).toBeGreaterThan(65)
  const recording = readHere(history.file)
  expect(recording.ok && recording.value.instants('raw', 0, Infinity).length).toBe(65)
  if (recording.ok) recording.value.close()
  history.close()
  expect(readdirSync(dirname(history.file))).toEqual(['history.sqlite'])
})

it('a lock is free at once when its process is killed, and has no owner then', async () => {
  const file = newFile()
  const module = new URL('./history.ts', import.meta.url).href
  const body = `import { History } from ${JSON.stringify(module)}
    const h = History.open(${JSON.stringify(file)}, 0).value; h.beginSource('LIVE', 'c', '', 0); console.log('open'); setInterval(() => h, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', body], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  expect(refused(file)).toBe('HISTORY_IN_USE')
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(readdirSync(dirname(file))).toContain('history.sqlite-lock')
  expect(refused(file)).toBe('opened')
  expect(readdirSync(dirname(file))).toEqual(['history.sqlite'])
})
