/** Color of a job in all views of the demo: the same everywhere, and for as long as the job lives. */
import { createRouterClient } from '@orpc/server'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Cell } from '#core/snapshot/notebook.ts'
import { replayData, type ReplayData } from '#core/snapshot/replay-data.ts'
import { runInput, type RunResult, type ScenarioCheck } from '#core/api/sandbox.ts'
import { NS_PER_S } from '#core/base/units.ts'
import { COLORS } from '#core/base/categorical-color.ts'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import { openZip } from '../../incidents/zip/zip-in.ts'
import { Playback } from '../history/playback.ts'
import { openHost, type Host } from '../host.ts'

const EPOCH_S = 1_767_225_600
const EPOCH_MS = EPOCH_S * 1000
const SECONDS = 120

let host: Host
const clientOf = () => createRouterClient(host.router, { context: { peer: 'test' } })
let client: ReturnType<typeof clientOf>

async function first<F>(stream: Promise<AsyncIterable<F>>): Promise<F> {
  for await (const frame of await stream) return frame
  throw new Error('no frame')
}

/** Colors as first seen, and the views in which each job had its color. */
class Seen {
  readonly colors = new Map<string, number>()
  readonly views = new Map<string, Set<string>>()

  add(view: string, jobIds: readonly string[], colors: readonly number[]): void {
    expect(colors).toHaveLength(jobIds.length)
    jobIds.forEach((jobId, i) => this.one(view, jobId, colors[i] as number))
  }

  one(view: string, jobId: string, color: number): void {
    if (jobId === '') expect([view, color]).toEqual([view, 0])
    const known = this.colors.get(jobId)
    // Gray only before the first color.
    if (color === 0) return expect([view, jobId, known]).toEqual([view, jobId, undefined])
    expect(color).toBeLessThanOrEqual(COLORS)
    expect([view, jobId, color]).toEqual([view, jobId, known ?? color])
    this.colors.set(jobId, color)
    const views = this.views.get(jobId) ?? new Set()
    this.views.set(jobId, views.add(view))
  }

  viewsWithColor(): string[] {
    return [...new Set([...this.views.values()].flatMap((views) => [...views]))].sort()
  }
}

let streams = 0
/** Looks at the views of jobs at a sample. */
async function look(seen: Seen, view: string, at: number | null, selected: readonly string[] = []): Promise<string[]> {
  const query = (windowMs: number) => ({ stream: `v${++streams}`, at, windowMs })
  const overview = await first(client.views.overview(query(60_000)))
  seen.add(
    `${view} Overview stack`,
    overview.stack.series.map((s) => s.jobId),
    overview.stack.series.map((s) => s.colour),
  )
  seen.add(`${view} Overview movers`, overview.movers.jobId, overview.movers.colour)
  const jobs = await first(client.views.jobs({ ...query(30_000), sort: 'writeBps' }))
  seen.add(`${view} Jobs rows`, jobs.rows.jobId, jobs.rows.colour)
  seen.add(
    `${view} Jobs chart`,
    jobs.stack.series.map((s) => s.jobId),
    jobs.stack.series.map((s) => s.colour),
  )
  for (const jobId of selected) {
    const job = await first(client.views.job({ ...query(30_000), jobId }))
    if (job.known) expect(job.colour).toBeGreaterThan(0)
    seen.one(`${view} inspector`, jobId, job.colour)
  }
  const metadata = await first(client.views.metadata(query(30_000)))
  seen.add(`${view} Metadata jobs`, metadata.jobs.jobId, metadata.jobs.colour)
  seen.add(`${view} Metadata tree`, metadata.tree.jobId, metadata.tree.colour)
  const tokens = await first(client.views.tokens(query(30_000)))
  seen.add(`${view} Tokens`, tokens.clients.jobId, tokens.clients.colour)
  return jobs.rows.jobId
}

async function lookAtMovers(seen: Seen, view: string, fromMs: number, toMs: number): Promise<void> {
  const middleMs = (fromMs + toMs) / 2
  const span = { a: { fromMs, toMs: middleMs }, b: { fromMs: middleMs, toMs } }
  const { movers } = await first(client.views.history({ stream: `h${++streams}`, ...span }))
  expect(movers.name.length).toBeGreaterThan(3)
  seen.add(`${view} History movers`, movers.name, movers.colour)
}

function lookAtCells(seen: Seen, view: string, cells: readonly Cell[]): void {
  for (const cell of cells) {
    if (cell.kind === 'chart')
      for (const { label, ink } of cell.series) if (label.kind === 'job') seen.one(`${view} cell`, label.text, ink)
    if (cell.kind === 'table')
      for (const { name, ink } of cell.rows) if (name.kind === 'job') seen.one(`${view} cell`, name.text, ink)
  }
}

function lookAtSandbox(seen: Seen, check: ScenarioCheck, result: RunResult): void {
  const topology = check.topology?.jobs ?? []
  seen.add(
    'Sandbox topology',
    topology.map((job) => job.jobId),
    topology.map((job) => job.colour),
  )
  seen.add('Sandbox comparison', result.jobs.jobId, result.jobs.colour)
  for (const { chart } of result.variants)
    seen.add(
      'Sandbox comparison',
      chart.series.map((s) => s.jobId),
      chart.series.map((s) => s.colour),
    )
}

const seen = new Seen()

beforeAll(async () => {
  const opened = await openHost({
    shell: 'terminal',
    historyFile: join(tempFolder(), 'history.sqlite'),
    paced: false,
    epochSeconds: EPOCH_S,
  })
  if (!opened.ok) throw new Error(opened.error.what)
  host = opened.value
  client = clientOf()
  let rows: string[] = []
  for (let s = 1; s <= SECONDS; s++) {
    await host.source.runTo(s * NS_PER_S, (atNs) => host.monitor.tick(atNs))
    if (s % 6 === 0) rows = await look(seen, 'live', null, [rows[s % Math.max(1, rows.length)] ?? ''].filter(Boolean))
    if (s === 60) await lookAtMovers(seen, 'live', EPOCH_MS, EPOCH_MS + 60_000)
  }
  // Two minutes of the demo, emulated per RPC.
}, 600_000)
afterAll(() => host.close())

it('is the same in every view of the present, in the sandbox and in an incident', async () => {
  await lookAtMovers(seen, 'live', EPOCH_MS, EPOCH_MS + SECONDS * 1000)
  const fork = await client.sandbox.fork({ span: null, atMs: null, workload: 'closed' })
  const variants = [{ name: 'Baseline', controller: 'none' as const }]
  let result: RunResult | undefined
  for await (const event of await client.sandbox.run(
    runInput.parse({ text: fork.text, seconds: 2, seeds: 1, variants }),
  ))
    if (event.kind === 'result') result = event.result
  if (!result) throw new Error('no result')
  lookAtSandbox(seen, fork.check, result)
  const { id } = await client.incidents.create({
    atMs: EPOCH_MS + 100_000,
    span: { fromMs: EPOCH_MS + 20_000, toMs: EPOCH_MS + 110_000 },
    title: 'Slow',
    note: '',
  })
  lookAtCells(seen, 'incident', host.incidents.notebooks.find(id)?.cells ?? [])
  await look(seen, 'live', null)
  const { found } = await client.search.find({ text: [...seen.colors.keys()][0] ?? '' })
  for (const job of found) if (job.kind === 'job') seen.one('search', job.id, job.colour)
  expect(seen.viewsWithColor()).toEqual(
    expect.arrayContaining([
      'Sandbox comparison',
      'Sandbox topology',
      'incident cell',
      'live History movers',
      'live Jobs chart',
      'live Jobs rows',
      'live Overview movers',
      'live Overview stack',
      'live inspector',
      'search',
    ]),
  )
  // Jobs of different views are compared, not only those of one.
  expect([...seen.views.values()].filter((views) => views.size > 5).length).toBeGreaterThan(5)
})

it('is the same in the past: of the store, and of a recording', async () => {
  const jobs = [...host.monitor.jobs.all].map((job) => job.jobId)
  const span = { fromMs: EPOCH_MS + 30_000, toMs: EPOCH_MS + 90_000 }
  await client.history.record({ name: 'minute', span })
  await client.history.open({ name: 'minute' })
  for (const s of [40, 80]) {
    const { sample } = await client.history.goTo({ atMs: EPOCH_MS + s * 1_000 })
    await look(seen, 'recorded', sample, jobs)
  }
  await lookAtMovers(seen, 'recorded', span.fromMs, span.toMs)
  await client.history.leave()
  await look(seen, 'live', null, jobs)
  expect(seen.viewsWithColor()).toEqual(expect.arrayContaining(['recorded Overview stack', 'recorded inspector']))
})

/** Jobs of the replay in a bundle's page. */
async function pageJobs(name: string): Promise<ReplayData['jobs']> {
  const { folder } = await first(client.views.incidents({ stream: 'i' }))
  const zip = await openZip(join(folder ?? '', `${name}.zip`))
  if (!zip.ok) throw new Error(zip.error.why)
  const page = await zip.value.read('README.html', 2 ** 30)
  zip.value.close()
  const [, data = ''] = /id="data">(.*?)<\/script>/s.exec(page.ok ? page.value.toString() : '') ?? []
  return replayData.parse(JSON.parse(data)).jobs
}

it.each([false, true])(
  'is stored in a bundle and shown by its page, and the bundle reopens with it; redacted: %s',
  async (redact) => {
    const name = `minute${redact}`
    const span = { fromMs: EPOCH_MS + 30_000, toMs: EPOCH_MS + 90_000 }
    let kind = ''
    for await (const e of await client.incidents.export({ incident: null, span, redact, name })) kind = e.kind
    expect(kind).toBe('done')
    await client.incidents.open({ name })
    const { playback } = host.onScreen
    if (!(playback instanceof Playback)) throw new Error('not opened')
    const { reader, registry } = playback.viewed.past
    const stored = host.monitor.history.reader()
    const inBundle = new Seen()
    for (const [jobId, color] of seen.colors) {
      // A pseudonym has the same key.
      const key = stored.jobByName(jobId)?.key
      const job = key === undefined ? undefined : reader.job(key)
      if (!job) continue
      expect([jobId, registry.jobColors.of(job.jobId)]).toEqual([jobId, color])
      inBundle.one('bundle', job.jobId, color)
    }
    expect(inBundle.colors.size).toBeGreaterThan(5)
    const { sample } = await client.history.goTo({ atMs: EPOCH_MS + 80_000 })
    await look(inBundle, 'bundle', sample)
    await client.history.leave()
    const jobs = await pageJobs(name)
    expect(jobs.filter((job) => job.ink > 0).length).toBeGreaterThan(5)
    for (const job of jobs) if (job.ink > 0) inBundle.one('page', job.name, job.ink)
  },
)
