/**
 * Programs that misbehave as a hostile file could make the reader do: each is killed, the failure names file and limit,
 * and the next task runs.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { isRunning } from '#electron/files/is-running.ts'
import { tempFolder } from '#tests/node/temp-folder.ts'
import { foreignEnvironment, startNodeProcess } from './node-process.ts'
import { ForeignProcesses, type StartedProcess } from './processes.ts'
import type { ForeignTask, Limits } from './task.ts'

const MIB = 2 ** 20
const LIMITS: Limits = { timeMs: 60_000, memoryBytes: 512 * MIB, answerChars: 1_000 }
const task = (file: string): ForeignTask => ({ kind: 'check', file })

/** Program that answers if the file name contains `good`, and otherwise misbehaves as given. */
const program = (otherwise: string): string => {
  const file = join(tempFolder(), 'program.mjs')
  writeFileSync(
    file,
    `import Database from ${JSON.stringify(import.meta.resolve('better-sqlite3'))}
const tell = (number, text) => process.send({ type: 'answer', number, text })
process.on('message', ({ number, task }) => {
  if (task.file.includes('good')) return tell(number, JSON.stringify({ ok: true, value: task.file }))
  ${otherwise}
})
process.send({ type: 'ready' })`,
  )
  return file
}

const open: ForeignProcesses[] = []
function processesOf(otherwise: string, limits: Partial<Limits> = {}) {
  const started: StartedProcess[] = []
  const start = (): StartedProcess => {
    const one = startNodeProcess(program(otherwise))
    started.push(one)
    return one
  }
  const processes = new ForeignProcesses(start, () => ({ ...LIMITS, ...limits }))
  open.push(processes)
  return { processes, started }
}
afterEach(() => {
  for (const one of open.splice(0)) one.close()
})

const ENDLESS = `new Database(':memory:').prepare(
  'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n').get()`

it.each([
  ['a loop inside SQLite', ENDLESS, { timeMs: 500 }, 'FILE_TOO_SLOW', 'within 0.5 s'],
  ['a loop of JavaScript', 'for (;;);', { timeMs: 500 }, 'FILE_TOO_SLOW', 'within 0.5 s'],
  ['an answer that never comes', '', { timeMs: 500 }, 'FILE_TOO_SLOW', 'within 0.5 s'],
  ['an answer that is too long', `tell(number, 'x'.repeat(2000))`, {}, 'FILE_TOO_LARGE', 'exceeds the size limit'],
  ['an answer that is none', `process.send({ type: 'answer', number, text: 7 })`, {}, 'FILE_CRASHED', 'invalid answer'],
  ['a crash', `process.kill(process.pid, 'SIGSEGV')`, {}, 'FILE_CRASHED', 'SIGSEGV'],
  ['an end without a word', 'process.exit(3)', {}, 'FILE_CRASHED', 'code 3'],
])('attack: %s ends its process and nothing else', async (_, otherwise, limits, code, why) => {
  const { processes, started } = processesOf(otherwise, limits)
  const [bad, beside] = await Promise.all([processes.run(task('/a/bad.qosrec')), processes.run(task('/a/good.qosrec'))])
  expect(bad).toMatchObject({ ok: false, error: { code, what: 'bad.qosrec was not opened' } })
  expect(!bad.ok && bad.error.why).toContain(why)
  expect(beside.ok).toBe(true)
  const [first] = started
  await expect.poll(() => first?.pid !== undefined && isRunning(first.pid)).toBe(false)
  expect((await processes.run(task('/a/good again'))).ok).toBe(true)
})

it.skipIf(process.platform !== 'linux')('attack: memory outside the heap of JavaScript is counted', async () => {
  const hog = 'globalThis.all = []; setInterval(() => globalThis.all.push(Buffer.alloc(32 * 1024 * 1024, 1)), 5)'
  const { processes, started } = processesOf(hog)
  const bad = await processes.run(task('/a/bad.qosrec'))
  expect(bad).toMatchObject({ ok: false, error: { code: 'FILE_TOO_LARGE' } })
  expect(!bad.ok && bad.error.why).toContain('512 MiB')
  await expect.poll(() => isRunning(started[0]?.pid ?? 0)).toBe(false)
})

it('attack: a heap of JavaScript that grows without end ends its process', async () => {
  const { processes } = processesOf('const all = []; for (;;) all.push(new Array(1e6).fill(number))', {
    memoryBytes: Infinity,
  })
  expect(await processes.run(task('/a/bad.qosrec'))).toMatchObject({ ok: false, error: { code: 'FILE_TOO_LARGE' } })
})

it('serves any number of tasks with two processes, and kills them when it is closed', async () => {
  const { processes, started } = processesOf(ENDLESS)
  const answers = await Promise.all(Array.from({ length: 9 }, (_, i) => processes.run(task(`/good ${i}`))))
  expect(answers.map((a) => a.ok && (JSON.parse(a.value) as { value: string }).value)).toEqual(
    answers.map((_, i) => `/good ${i}`),
  )
  expect(started).toHaveLength(2)
  const stuck = processes.run(task('/a/bad.qosrec'))
  processes.close()
  expect(await stuck).toMatchObject({ ok: false, error: { why: 'the console is closing' } })
  for (const { pid } of started) await expect.poll(() => isRunning(pid ?? 0)).toBe(false)
  expect(await processes.run(task('/good'))).toMatchObject({ ok: false, error: { why: 'the console is closing' } })
})

it('says why a process did not start', async () => {
  const processes = new ForeignProcesses(() => startNodeProcess('/no/such/program.mjs'))
  open.push(processes)
  expect(await processes.run(task('/a/bad.qosrec'))).toMatchObject({ ok: false, error: { code: 'FILE_CRASHED' } })
})

it('gives the process nothing of the environment that it does not need', () => {
  const kept = foreignEnvironment({ TMPDIR: '/t', SSH_AUTH_SOCK: '/s', NODE_OPTIONS: '--inspect', HOME: '/h', X: 'y' })
  expect(kept).toEqual({ TMPDIR: '/t' })
})
