import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRouterClient } from '@orpc/server'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { POINTS_MAX, type PapersEvent, type PapersResult } from '#core/api/papers.ts'
import { select, runPapers } from '#core/papers/claims.ts'
import { EXPERIMENTS } from '#core/papers/registry.ts'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import { openHost } from '../host.ts'
import { Papers } from './papers.ts'

/** Thread that runs the given code, with `parentPort` in scope. */
function program(text: string): string {
  const file = join(tempFolder(), 'program.mjs')
  writeFileSync(file, `import { parentPort } from 'node:worker_threads'\n${text}\n`)
  return file
}
const PROGRESS = `parentPort.postMessage({ kind: 'progress', done: 0, of: 1, fraction: 0, part: 'p', seed: 1 })`
const ENDLESS = `${PROGRESS}\nsetInterval(() => undefined, 1000)`

const task = { experiment: 'adaptbf.IV-D', seeds: [1] }

function start(papers: Papers, signal?: AbortSignal): AsyncGenerator<PapersEvent, void, void> {
  const run = papers.run(task, signal)
  if (!run.ok) throw new Error(run.error.code)
  return run.value
}

async function all(events: AsyncGenerator<PapersEvent, void, void>): Promise<PapersEvent[]> {
  const reported: PapersEvent[] = []
  for await (const event of events) reported.push(event)
  return reported
}

/** True if another run is accepted; it is ended at once. */
function isFree(papers: Papers): boolean {
  const run = papers.run(task)
  if (run.ok) papers.close()
  return run.ok
}

let papers: Papers
afterEach(() => papers.close())

describe('a run', () => {
  let events: PapersEvent[]
  let result: PapersResult
  beforeAll(async () => {
    papers = new Papers()
    events = await all(start(papers))
    result = events.at(-1) as PapersResult
  })

  it('tells its progress before every part, then the result', () => {
    expect(events.slice(0, -1)).toEqual(
      ['none', 'static', 'adaptbf'].map((name, done) => ({
        kind: 'progress',
        done,
        of: 3,
        fraction: done / 3,
        part: `adaptbf/IV-D/${name}`,
        seed: 1,
      })),
    )
    expect(result).toMatchObject({ kind: 'result', experiment: 'adaptbf.IV-D', seeds: [1] })
    expect(isFree(papers)).toBe(true)
  })

  it('finds what the command line finds', () => {
    const steps = runPapers(select(EXPERIMENTS, ['IV-D']).experiments, [1], { now: () => 0 })
    let step = steps.next()
    while (!step.done) step = steps.next()
    const { claims } = step.value
    expect(result.claims.map(({ id, ok, measured, verdict }) => [id, ok, measured, verdict])).toEqual(
      claims.map(({ id, ok, measured, verdict }) => [id, ok, measured, verdict]),
    )
    for (const claim of result.claims) {
      const { target, tolerance, note, proof, calibrates, deviation } = claims.find(({ id }) => id === claim.id)!
      const given = { target, tolerance, note, proof, calibrates, deviation }
      expect(claim).toMatchObject(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)))
    }
  })

  it('has the figures with at most 600 points a line, alike side by side', () => {
    const lines = result.figures.filter((f) => f.kind === 'timeline')
    expect(lines.map(({ id }) => id)).toEqual(['fig3.none', 'fig3.static', 'fig3.adaptbf'])
    expect(new Set(lines.map(({ binS }) => binS)).size).toBe(1)
    const all = lines.flatMap(({ series, whole }) => [...series, ...(whole?.series ?? [])])
    expect(Math.max(...all.map(({ values }) => values.length))).toBeLessThanOrEqual(POINTS_MAX)
  })

  it('cuts what runs on long after its neighbors, and has it whole beside that: nothing served is lost', () => {
    const lines = result.figures.filter((f) => f.kind === 'timeline')
    const [none, fixed] = lines
    const lengthOf = (line = none): number => (line?.series[0]?.values.length ?? 0) * (line?.binS ?? 0)
    expect(fixed?.endS).toBeGreaterThan(2 * (none?.endS ?? NaN))
    expect(Math.abs(lengthOf(fixed) - lengthOf(none))).toBeLessThan(1)
    for (const { whole } of lines) {
      for (const { values } of whole?.series ?? []) {
        // 16 files of 1024 RPCs each.
        expect(values.reduce((sum, rate) => sum + rate, 0) * (whole?.binS ?? 0)).toBeCloseTo(16_384, -2)
      }
    }
  })
})

describe('one run at a time', () => {
  it('refuses a second one, and lets the next in when the first has ended', async () => {
    papers = new Papers(program(ENDLESS))
    const events = start(papers)
    expect((await events.next()).value).toMatchObject({ kind: 'progress' })
    expect(papers.run(task)).toMatchObject({ ok: false, error: { code: 'PAPERS_BUSY' } })
    await events.return()
    expect(isFree(papers)).toBe(true)
  })

  it('is canceled by its signal, also while nothing is told', async () => {
    papers = new Papers(program(ENDLESS))
    const ended = new AbortController()
    const reported = all(start(papers, ended.signal))
    ended.abort()
    expect((await reported).every(({ kind }) => kind === 'progress')).toBe(true)
    expect(isFree(papers)).toBe(true)
  })

  it('is canceled when its reader stops reading, also while a reader waits', async () => {
    papers = new Papers(program(ENDLESS))
    const events = start(papers)
    await events.next()
    const waiting = events.next()
    await events.return()
    expect(await waiting).toMatchObject({ done: true })
    expect(isFree(papers)).toBe(true)
  })

  it('does not start for a window that has gone', async () => {
    papers = new Papers(program(ENDLESS))
    expect(await all(start(papers, AbortSignal.abort()))).toEqual([])
    expect(isFree(papers)).toBe(true)
  })
})

it.each([
  ['throws', `throw new Error('no memory left')`, 'no memory left'],
  ['exits', 'process.exit(3)', 'its thread ended with code 3'],
  ['ends without a word', '', 'its thread ended with code 0'],
])('a thread that %s is a notice, and the host continues', async (_, text, why) => {
  papers = new Papers(program(`${PROGRESS}\n${text}`))
  const events = await all(start(papers))
  expect(events.at(-1)).toMatchObject({ kind: 'failed', notice: { code: 'PAPERS_CRASHED', why } })
  expect(isFree(papers)).toBe(true)
})

describe('over the contract', () => {
  async function open() {
    const opened = await openHost({ shell: 'terminal', historyFile: ':memory:', paced: false })
    if (!opened.ok) throw new Error(opened.error.what)
    papers = new Papers()
    return { host: opened.value, client: createRouterClient(opened.value.router, { context: { peer: 'test' } }) }
  }

  it('lists every experiment with its setup and its claims', async () => {
    const { host, client } = await open()
    const { experiments } = await client.papers.list()
    expect(experiments.map(({ id }) => id)).toEqual(EXPERIMENTS.map(({ id }) => id))
    expect(experiments[0]).toMatchObject({ system: 'adaptbf', parts: 3 })
    expect(experiments[0]?.claims[0]).toMatchObject({ id: 'adaptbf.IV-D.1', published: expect.any(String) as string })
    experiments.forEach(({ claims, fits }, i) => {
      const { expectations, fits: declared = [] } = EXPERIMENTS[i]!
      expect(fits).toEqual(declared)
      expect(claims.map(({ id, tolerance, note }) => ({ id, tolerance, note }))).toEqual(
        expectations.map(({ id, published: { tolerance, note } }) => ({ id, tolerance, note })),
      )
    })
    await host.close()
  })

  it.each<[string, { experiment: string; seeds: number[] }]>([
    ['no seed', { experiment: 'adaptbf.IV-D', seeds: [] }],
    ['a negative seed', { experiment: 'adaptbf.IV-D', seeds: [-1] }],
    ['half a seed', { experiment: 'adaptbf.IV-D', seeds: [1.5] }],
    ['21 seeds', { experiment: 'adaptbf.IV-D', seeds: Array.from({ length: 21 }, (_, i) => i) }],
    ['no experiment', { experiment: '', seeds: [1] }],
  ])('refuses %s', async (_, input) => {
    const { host, client } = await open()
    await expect(client.papers.run(input)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    await host.close()
  })

  it('refuses an unknown experiment with the reason, runs a known one, and ends with the host', async () => {
    const { host, client } = await open()
    await expect(client.papers.run({ experiment: 'constructor', seeds: [1] })).rejects.toMatchObject({
      code: 'REFUSED',
      data: { code: 'UNKNOWN_EXPERIMENT' },
    })
    const events: PapersEvent[] = []
    for await (const event of await client.papers.run({ experiment: 'adaptbf.IV-E', seeds: [2, 2] })) events.push(event)
    expect(events.at(-1)).toMatchObject({ kind: 'result', seeds: [2] })
    const endless = await client.papers.run({ experiment: 'adaptbf.IV-H', seeds: [1, 2, 3] })
    await host.close()
    const rest: string[] = []
    for await (const { kind } of endless) rest.push(kind)
    expect(rest).not.toContain('result')
  })
})
