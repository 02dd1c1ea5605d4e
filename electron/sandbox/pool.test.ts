import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { parseScenario, type Scenario } from '#core/emulator/scenario.ts'
import { BASE } from '#tests/kits/core/sandbox/digests.ts'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { ComparisonRun, compare, type ComparisonEvent, type ComparisonTask } from './comparison-run.ts'
import { Pool, runReports, workersFor } from './pool.ts'
import { SMALL } from '#tests/kits/electron/sandbox/small-scenario.ts'

function scenarioOf(text: string): Scenario {
  const read = parseScenario(text)
  if (!read.ok) throw new Error(read.error.why)
  return read.value
}
const scenario = scenarioOf(SMALL)

const CAP = { service: 'ost_io' as const, line: 'start cap jobid={1.*} rate=100' }
const task = (more: Partial<ComparisonTask> = {}): ComparisonTask => ({
  scenario,
  seeds: [1, 2],
  seconds: 2,
  sloWaitMs: 500,
  variants: [BASE, { ...BASE, name: 'Cap', rules: [CAP] }, { ...BASE, name: 'AdapTBF', controller: 'adaptbf' }],
  ...more,
})

/** A worker program that runs code before, or instead of, the real one. */
function program(text: string, goesOn = true): string {
  const file = join(tempFolder(), 'program.mjs')
  const real = JSON.stringify(join(import.meta.dirname, 'worker.ts'))
  writeFileSync(
    file,
    `import { parentPort } from 'node:worker_threads'\nimport { existsSync, writeFileSync } from 'node:fs'\n` +
      `${text}\n${goesOn ? `await import(${real})\n` : ''}`,
  )
  return file
}
const ENDLESS = `parentPort.on('message', () => { for (;;) {} })`

/** Number of threads of this process; NaN if the system does not report it. */
const threads = (): number => (existsSync('/proc/self/task') ? readdirSync('/proc/self/task').length : NaN)

let run: ComparisonRun | undefined
afterEach(async () => {
  run?.end()
  await run?.gone
})

const all = async (events: AsyncIterable<ComparisonEvent>): Promise<ComparisonEvent[]> => {
  const reported: ComparisonEvent[] = []
  for await (const event of events) reported.push(event)
  return reported
}

/** The task as run by one thread. */
let one: ComparisonEvent & { kind: 'done' }
beforeAll(async () => {
  const done = await compare(task(), { workers: 1 })
  if (done.kind !== 'done') throw new Error(done.failure.what)
  one = done
})

describe('a comparison', () => {
  it('is the same whatever the number of threads', async () => {
    const two = await compare(task(), { workers: 2 })
    if (two.kind !== 'done') throw new Error('a run failed')
    expect(two.comparison).toEqual(one.comparison)
    expect([one.cost.workers, two.cost.workers, two.cost.runs, two.cost.events]).toEqual([1, 2, 6, one.cost.events])
    expect(one.comparison.jobs.role.slice(0, 2)).toEqual(['hog', 'victim'])
    const [base, cap] = one.comparison.variants
    const rate = (v = base): number => v?.jobs.rpcs[0]?.median ?? NaN
    expect(rate(cap)).toBeLessThan(110)
    expect(rate(base)).toBeGreaterThan(2 * rate(cap))
    expect(base?.chart.series.map((s) => s.jobId).slice(0, 2)).toEqual(['1.hog.u1', '2.victim.u2'])
  })

  it('tells its progress, rising to the end, then the result', async () => {
    run = new ComparisonRun(task({ seeds: [1] }), { workers: 1 })
    const events = await all(run.events())
    const done = events.flatMap((e) => (e.kind === 'progress' ? [e.done] : []))
    expect(done[0]).toBe(0)
    expect(done).toEqual(done.toSorted((a, b) => a - b))
    expect(events.at(-1)?.kind).toBe('done')
    await run.gone
  })

  it('ends with the failure of a run', async () => {
    const result = await compare(task({ seconds: NaN }), { workers: 1 })
    expect(result).toMatchObject({ kind: 'failed', failure: { code: 'SANDBOX_CANNOT_RUN' } })
  })

  it('that is canceled leaves no thread, also in the middle of a run', async () => {
    const before = threads()
    const cancel = new AbortController()
    run = new ComparisonRun(task(), { workers: 2, program: program(ENDLESS, false), signal: cancel.signal })
    const reported = all(run.events())
    cancel.abort()
    expect((await reported).every((e) => e.kind === 'progress')).toBe(true)
    await run.gone
    // The runtime's own threads vary by less than the two that were started.
    if (!Number.isNaN(before)) expect(threads()).toBeLessThan(before + 2)
  })

  it('ends when its consumer cancels, also while the consumer waits', async () => {
    let isOver = false
    run = new ComparisonRun(task(), { program: program(ENDLESS, false), onOver: () => (isOver = true) })
    const events = run.events()
    await events.next()
    const waiting = events.next()
    await events.return()
    expect(await waiting).toMatchObject({ done: true })
    expect(isOver).toBe(true)
    await run.gone
  })
})

describe('a thread that dies', () => {
  it('costs one more try of its run, and nothing of the result', async () => {
    const flag = JSON.stringify(join(tempFolder(), 'died'))
    const once = program(`if (!existsSync(${flag})) { writeFileSync(${flag}, ''); process.exit(7) }`)
    const tried = await compare(task(), { workers: 2, program: once })
    if (tried.kind !== 'done') throw new Error('a run failed')
    expect(existsSync(JSON.parse(flag) as string)).toBe(true)
    expect(tried.comparison).toEqual(one.comparison)
  })

  it.each([
    ['exits', 'process.exit(7)', 'its thread ended with code 7'],
    ['throws', `throw new Error('no luck')`, 'no luck'],
    ['ends without a word', `parentPort.once('message', () => parentPort.close())`, 'its thread ended with code 0'],
  ])('twice (%s) is a clear failure', async (_, text, why) => {
    const result = await compare(task(), { workers: 1, program: program(text, false) })
    expect(result).toMatchObject({ kind: 'failed', failure: { code: 'SANDBOX_CRASHED', why } })
  })

  it('of its memory leaves the host alone', async () => {
    const hungry = program(
      `parentPort.on('message', () => { const all = []; for (;;) all.push(new Array(1e5).fill({})) })`,
      false,
    )
    const failure = await new Promise((resolve) => {
      const tasks = [{ scenario, variant: BASE, index: 0, seed: 1, seconds: 1, sloWaitMs: 500 }]
      new Pool({ tasks, program: hungry, heapMb: 32, onRun: () => undefined, onEnd: resolve })
    })
    expect(failure).toMatchObject({ code: 'SANDBOX_CRASHED', why: expect.stringContaining('memory') as string })
  })
})

describe('whole reports', () => {
  const tasks = [3, 1, 2].map((seed) => ({ scenario, variant: BASE, index: 0, seed, seconds: 1, sloWaitMs: 500 }))

  it('come in the order of their tasks', async () => {
    const reports = await runReports(tasks, { workers: 2 })
    if (!reports.ok) throw new Error(reports.error.what)
    expect(reports.value.map((r) => r.seed)).toEqual([3, 1, 2])
    expect(reports.value[0]?.jobs[0]?.rpcs.length).toBeGreaterThan(0)
  })

  it('can be canceled, and are none where none are asked for', async () => {
    expect(await runReports(tasks, { signal: AbortSignal.abort() })).toMatchObject({
      ok: false,
      error: { code: 'CANCELLED' },
    })
    expect(await runReports([])).toEqual({ ok: true, value: [] })
  })
})

it('begins no more threads than runs, and leaves a processor where there are several', () => {
  expect(workersFor(1)).toBe(1)
  expect(workersFor(0)).toBe(1)
  expect(workersFor(1000)).toBeLessThanOrEqual(Math.max(2, availableParallelism() - 1))
  expect(workersFor(1000)).toBeLessThanOrEqual(availableParallelism())
})
