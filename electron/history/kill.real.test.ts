import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { newFile, openAt } from '#tests/kits/electron/history/samples.ts'

const historyUrl = new URL('./history.ts', import.meta.url).href

/** Samples at the wall clock, prints when each was recorded, and runs the background work all the time. */
const writer = `
  import { History } from ${JSON.stringify(historyUrl)}
  const history = History.open(process.argv[1], Date.now()).value
  history.beginSource('EMULATED', 'demo', '', Date.now())
  const facts = (jobId) => ({ jobId, user: 'u', account: '', nodes: 1 })
  const zero = { readBps: 0, writeBps: 0, throttled: 0, record: null }
  for (let i = 0; ; i++) {
    const jobs = Array.from({ length: 50 }, (_, k) => ({ jobId: (i % 7) + k + '.x.u1', rpcs: 1, ...zero }))
    const at = Date.now()
    history.record(at, jobs, [{ target: 't', node: 'n', rpcs: 1, serviceMs: 1, queued: 0 }], facts)
    process.stdout.write(at + '\\n')
    if (i % 50 === 49) history.settle()
    await new Promise((r) => setTimeout(r, 5))
  }`

it('a process killed at any moment loses at most one second; the file opens and is rolled up on', async () => {
  const file = newFile()
  let kept = 0
  for (const afterMs of [700, 1130, 1610]) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', writer, file], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let last = 0
    const [first] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string]
    last = Number(first.trim().split('\n').at(-1))
    child.stdout.on('data', (text: string) => {
      last = Number(/(\d{13})\n[^\n]*$/.exec(text)?.[1] ?? last)
    })
    await new Promise((done) => setTimeout(done, afterMs))
    child.kill('SIGKILL')
    await once(child, 'exit')
    const history = openAt(file, Date.now())
    expect(history.notice).toBeUndefined()
    history.beginSource('EMULATED', 'demo', '', Date.now())
    const reader = history.reader()
    const raw = reader.extentOf('raw')
    // The machine may be slow: only what the process had recorded counts, and when.
    expect(last - (raw?.toMs ?? 0)).toBeLessThanOrEqual(1000)
    // Seconds that were left as raw samples have their means now.
    expect(reader.extentOf('1s')?.toMs).toBe(Math.floor((raw?.toMs ?? 0) / 1000) * 1000)
    const n = reader.instants('raw', 0, Infinity).length
    expect(n).toBeGreaterThan(kept)
    kept = n
    for (const b of reader.jobsBetween('raw', 0, Infinity)) expect(b.keys.every((k) => reader.job(k))).toBe(true)
    history.close()
  }
  const history = openAt(file, Date.now() + 600_000)
  history.settle()
  history.beginSource('EMULATED', 'demo', '', Date.now() + 600_000)
  const reader = history.reader()
  for (const tier of ['10s', '1min'] as const) expect(reader.extentOf(tier)).toBeDefined()
  const seconds = [...reader.instants('1s', 0, Infinity)]
  expect([...reader.instants('10s', 0, Infinity)]).toEqual([
    ...new Set(seconds.map((t) => Math.floor(t / 10_000) * 10_000)),
  ])
  history.close()
})
