import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isControllerRule } from '#core/controllers/registry.ts'
import { createRouterClient } from '@orpc/server'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { NS_PER_S } from '#core/base/units.ts'
import { clusterInput, type ConnectionsFrame } from '#core/api/clusters.ts'
import type { JobsFrame, StatusFrame } from '#core/api/frames.ts'
import { twoJobs } from '../../tests/node/emulated-cluster.ts'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { demoScenario } from '../files/resources.ts'
import { openHost, type Host, type HostOptions } from './host.ts'
import { valueOrder } from './views/jobs/job-rows.ts'
import { selectRange } from './views/rank.ts'

const EPOCH_S = 1_767_225_600

async function open(options: Partial<HostOptions> = {}): Promise<Host> {
  const opened = await openHost({
    shell: 'terminal',
    historyFile: ':memory:',
    paced: false,
    epochSeconds: EPOCH_S,
    // Controlled: without a file the demo opens uncontrolled.
    scenarioFile: demoScenario(),
    ...options,
  })
  if (!opened.ok) throw new Error(opened.error.what)
  return opened.value
}

const clientOf = (host: Host, peer = 'test') => createRouterClient(host.router, { context: { peer } })
type Client = ReturnType<typeof clientOf>
const VIEWS = ['strip', 'overview', 'jobs', 'job', 'rules'] as const

const run = (host: Host, toSecond: number): Promise<void> =>
  host.source.runTo(toSecond * NS_PER_S, (atNs) => host.monitor.tick(atNs))

/** Fakes the clock of streams and of the emulator's pace: only `pass` advances it. */
const pauseEmulator = (): void =>
  void vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'],
  })
const pass = async (ms: number): Promise<void> => void (await vi.advanceTimersByTimeAsync(ms))

/** First frame of a stream, which is then ended. */
async function first<F>(stream: Promise<AsyncIterable<F>>): Promise<F> {
  for await (const frame of await stream) return frame
  throw new Error('no frame')
}

/** Collects the frames of a stream, until the signal. */
function taking<F>(stream: Promise<AsyncIterable<F>>): { frames: F[]; done: Promise<void> } {
  const frames: F[] = []
  const done = (async () => {
    try {
      for await (const f of await stream) frames.push(f)
    } catch (e) {
      if (!(e instanceof Error && e.name === 'AbortError')) throw e
    }
  })()
  return { frames, done }
}

afterEach(() => void vi.useRealTimers())

const scenarioFile = join(tempFolder(), 'small.yaml')
writeFileSync(scenarioFile, JSON.stringify(twoJobs()))

it('the demo opens uncontrolled, with the heavy job at the top of the jobs', async () => {
  const host = await open({ scenarioFile: undefined })
  await run(host, 12)
  const client = clientOf(host)
  const { rows } = await first<JobsFrame>(client.views.jobs({ stream: 'j', sort: 'rpcs' }))
  expect([host.monitor.loop.mode, rows.jobId[0]]).toEqual(['advise', '4690.python.u1021'])
  expect(
    host.monitor.servers.flatMap((s) => host.monitor.reading(s)?.rules ?? []).some((r) => isControllerRule(r.name)),
  ).toBe(false)
  await host.close()
})

describe('playing a scenario', () => {
  const noisy = clusterInput.parse({ name: 'noisy', env: 'DEV', servers: [{ host: 'oss01' }] })
  const playing = async (
    options: Partial<HostOptions>,
    check: (host: Host, client: Client) => Promise<void>,
  ): Promise<void> => {
    const host = await open(options)
    await run(host, 5)
    await check(host, clientOf(host))
    await host.close()
  }
  const cardOf = async (client: Client) => {
    const { clusters } = await first<ConnectionsFrame>(client.views.connections({ stream: 'c' }))
    return clusters.map((c) => [c.name, c.scenario, c.onScreen])
  }

  it('replaces the one that the demo plays, and begins uncontrolled', () =>
    playing({ historyFile: join(tempFolder(), 'history.sqlite') }, async (host, client) => {
      const before = host.monitor
      await client.clusters.play({ scenario: 'built-in/noisy-neighbour' })
      expect(await cardOf(client)).toEqual([['noisy', 'Noisy neighbor', true]])
      await run(host, 3)
      expect([host.monitor === before, host.monitor.sample, host.monitor.loop.mode]).toEqual([false, 29, 'advise'])
      expect(host.monitor.history.newestMs).toBe(host.monitor.nowMs())
      expect(before.sample).toBe(49)
    }))

  it('continues the clock of a cluster that is begun again', () =>
    playing({}, async (host, client) => {
      const endMs = host.monitor.nowMs()
      await client.clusters.play({ scenario: 'built-in/demo' })
      expect(host.monitor.nowMs()).toBeGreaterThan(endMs)
    }))

  it('is refused while changes are staged, for the name of another cluster, and for one that is not valid', () =>
    playing({ dataDir: tempFolder(), clusters: [noisy] }, async (host, client) => {
      const refusal = async (scenario: string): Promise<string> =>
        client.clusters.play({ scenario }).then(
          () => 'played',
          (error: unknown) => (error as { data: { code: string } }).data.code,
        )
      const { id } = await client.sandbox.save({ name: 'faulty', text: 'title: [', replace: false })
      expect(await refusal(id)).toBe('SCENARIO_SYNTAX')
      expect(await refusal('built-in/noisy-neighbour')).toBe('CLUSTER_NAME')
      expect(await refusal('built-in/none')).toBe('NO_SCENARIO')
      await client.rules.stagePolicy({ service: 'ost_io', policy: 'fifo', reason: 'test' })
      expect(await refusal('built-in/failing-disk')).toBe('STAGED')
      expect(await cardOf(client)).toContainEqual(['demo', 'Four OSTs, one heavy job', true])
    }))
})

describe('what every call checks', () => {
  let host: Host
  let client: Client
  beforeAll(async () => {
    host = await open()
    client = clientOf(host)
    await run(host, 1)
  })
  afterAll(() => host.close())

  const s = { stream: 'a' }
  it.each<[string, (c: Client) => unknown]>([
    ['a stream without a name', (c) => c.views.strip({ stream: '' })],
    ['a stream with a long name', (c) => c.views.strip({ stream: 'x'.repeat(65) })],
    ['no frames at all', (c) => c.views.overview({ ...s, hz: 0 })],
    ['more frames than ten', (c) => c.views.overview({ ...s, hz: 11 })],
    ['half a sample', (c) => c.views.jobs({ ...s, at: 1.5 })],
    ['a sample before the first', (c) => c.views.rules({ ...s, at: -1 })],
    ['a window of a second', (c) => c.views.jobs({ ...s, windowMs: 1000 })],
    ['a window of two days', (c) => c.views.jobs({ ...s, windowMs: 172_800_000 })],
    ['an unknown column', (c) => c.views.jobs({ ...s, sort: 'constructor' as 'rpcs' })],
    ['a filter of a page', (c) => c.views.jobs({ ...s, filter: 'x'.repeat(501) })],
    ['more rows than 200', (c) => c.views.jobs({ ...s, limit: 201 })],
    ['a target with a long name', (c) => c.views.jobs({ ...s, target: 'x'.repeat(129) })],
    ['a deadband that is no number', (c) => c.source.setControllerOptions({ deadbandPercent: NaN })],
    ['no job', (c) => c.views.job({ ...s, jobId: '' })],
    ['an unknown queue', (c) => c.views.rules({ ...s, queue: 'fifo' as 'reg' })],
    ['an acknowledgement without a number', (c) => c.host.ack({ stream: 'a', seq: NaN })],
    ['a negative speed', (c) => c.source.setSpeed({ speed: -1 })],
    ['a speed without end', (c) => c.source.setSpeed({ speed: Infinity })],
    ['an unknown mode', (c) => c.source.setMode({ mode: 'rampage' as 'observe' })],
    ['an unknown controller', (c) => c.source.setController({ controller: 'toString' as 'none' })],
    ['a status that is no stream', (c) => c.source.status({ stream: 5 as unknown as string })],
  ])('refuses %s', async (_, call) => {
    const before = [host.monitor.loop.mode, host.monitor.loop.controller, host.source.speed]
    await expect(call(client)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    expect([host.monitor.loop.mode, host.monitor.loop.controller, host.source.speed]).toEqual(before)
  })

  it('names itself', async () => {
    expect(await client.host.info()).toEqual({
      name: 'sluice',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/) as string,
      runtime: `Node ${process.versions.node}`,
      shell: 'terminal',
    })
  })
})

describe('frames', () => {
  let host: Host
  let client: Client
  beforeAll(async () => {
    host = await open()
    client = clientOf(host)
    await run(host, 12)
  })
  afterAll(() => host.close())

  const lengths = (columns: Record<string, unknown>): number[] => [
    ...new Set(Object.values(columns).flatMap((v) => (Array.isArray(v) ? [v.length] : []))),
  ]

  const query = {
    at: fc.option(fc.integer({ min: 0, max: 200 }), { nil: null }),
    windowMs: fc.integer({ min: 10_000, max: 3_600_000 }),
  }

  it('have columns of one length, are within their query, and show the sample asked for', async () => {
    const column = fc.constantFrom(
      'jobId',
      'account',
      'nodes',
      'rpcs',
      'ioBytes',
      'throttled',
      'rule',
      'record' as const,
    )
    const jobs = fc.record({
      ...query,
      sort: column as fc.Arbitrary<'rpcs'>,
      descending: fc.boolean(),
      filter: fc.oneof(fc.constantFrom('', 'user:t', 'rpc>100', 'is:idle', 'x:'), fc.string({ maxLength: 20 })),
      offset: fc.nat(20),
      limit: fc.integer({ min: 1, max: 200 }),
    })
    await fc.assert(
      fc.asyncProperty(jobs, async (q) => {
        const f = await first(client.views.jobs({ stream: 'j', ...q }))
        expect(f.sample).toBe(Math.min(119, Math.max(1, q.at ?? 119)))
        expect(f.atMs).toBe(EPOCH_S * 1000 + (f.sample + 1) * 100)
        const rows = f.rows.jobId.length
        expect(lengths(f.rows)).toEqual([rows])
        expect(rows).toBe(Math.max(0, Math.min(q.limit, f.shown - f.offset)))
        expect(new Set(f.rows.spark.map((x) => x.length)).size).toBeLessThanOrEqual(1)
        for (const x of f.stack.series) expect(x.values).toHaveLength(f.stack.t.length)
        expect(lengths(f.ledger)).toEqual([f.ledger.t.length])
        expect(f.ledger.lent).toEqual(f.ledger.borrowed)
        expect(f.totals.record).toBe(0)
        if (f.filterError) expect(f.shown).toBe(f.known)
      }),
      { numRuns: 60 },
    )
    await fc.assert(
      fc.asyncProperty(fc.record(query), async (q) => {
        const overview = await first(client.views.overview({ stream: 'o', ...q }))
        expect(lengths(overview.targets)).toEqual([4])
        expect(lengths(overview.movers)).toEqual([overview.movers.jobId.length])
        for (const x of overview.stack.series) expect(x.values).toHaveLength(overview.stack.t.length)
        expect(overview.tiles.map((t) => t.id)).toHaveLength(9)
        const strip = await first(client.views.strip({ stream: 's', ...q }))
        expect(strip.t).toHaveLength(strip.rpcs.length)
        expect(strip.toMs).toBe(EPOCH_S * 1000 + 12_000)
        const job = await first(client.views.job({ stream: 'd', ...q, jobId: '4655.vasp_std.u340' }))
        expect(lengths(job.series)).toEqual([job.series.t.length])
        expect(lengths(job.targets)).toEqual([job.targets.name.length])
        const rules = await first(client.views.rules({ stream: 'r', at: q.at }))
        for (const r of rules.rows) expect(r.rateMin).toBeLessThanOrEqual(r.rateMax)
        expect([overview, strip, job, rules].map((f) => f.sample)).toEqual(Array(4).fill(overview.sample))
      }),
      { numRuns: 25 },
    )
  })

  it('count rules in whole numbers', async () => {
    const f = await first(client.views.overview({ stream: 'o', windowMs: 10_000 }))
    const rules = f.tiles.find((t) => t.id === 'rules')
    const status = await first(client.source.status({ stream: 's' }))
    expect(rules?.value).toBe(status.counts.rules)
    expect(rules?.value).toBeGreaterThan(4)
    for (const at of [30, 50, 70, 90]) {
      const g = await first(client.views.overview({ stream: 'o', windowMs: 10_000, at }))
      const tile = g.tiles.find((t) => t.id === 'rules')
      expect(Number.isInteger(tile?.value)).toBe(true)
      expect(tile?.before === null || Number.isInteger(tile?.before)).toBe(true)
    }
  })

  it('list the rules that an operator committed with an expiry, before the leases of controllers', async () => {
    const { rules } = host.onScreen.console.ruleService
    const nowMs = host.monitor.nowMs()
    const place = (node: string, name: string) => ({ service: 'ost_io', host: node, queue: 'reg', name }) as const
    const terms = { createdMs: nowMs, realtime: false }
    for (const node of ['oss01', 'oss02']) {
      const timer = { unit: `sluice-${node}`, expiresMs: nowMs + 1_783_000 }
      rules.keep(place(node, 'cap'), { ...terms, reason: 'ticket 7', timer })
    }
    rules.keep(place('oss01', 'soon'), {
      ...terms,
      reason: '',
      timer: { unit: 'bound', expiresMs: nowMs + 54_000, stop: 'reg stop soon' },
    })
    rules.keep(place('oss01', 'stays'), { ...terms, reason: '', timer: undefined })
    try {
      const { timers } = await first(client.views.overview({ stream: 'o', windowMs: 10_000 }))
      expect(timers.slice(0, 2).map((t) => [t.name, t.detail, t.unit, (t.expiresMs ?? 0) - nowMs])).toEqual([
        ['soon', 'rule on oss01', 'of this console', 54_000],
        ['cap', 'rule on 2 servers: ticket 7', 'sluice-oss01 and 1 more', 1_783_000],
      ])
      expect(timers.some((t) => t.name === 'stays')).toBe(false)
      expect(timers.slice(2).every((t) => t.name.startsWith('controller lease on '))).toBe(true)
    } finally {
      for (const [node, name] of [
        ['oss01', 'cap'],
        ['oss02', 'cap'],
        ['oss01', 'soon'],
        ['oss01', 'stays'],
      ] as const)
        rules.forget(place(node, name))
    }
  })

  it('say what a cycle takes: the parts of every node, and a total that they sum to', async () => {
    const { cycle } = await first(client.source.status({ stream: 's' }))
    expect(cycle?.nodes.map((n) => n.node)).toEqual(['oss01', 'oss02', 'mds01'])
    const parts = ['collect', 'parse', 'allocate', 'apply'] as const
    for (const p of parts) {
      expect(cycle?.[p]).toBeGreaterThan(0)
      // Only collecting overlaps.
      if (p !== 'collect') expect(cycle?.nodes.reduce((s, n) => s + n[p], 0)).toBeCloseTo(cycle?.[p] ?? NaN, 3)
    }
    expect(parts.reduce((s, p) => s + (cycle?.[p] ?? 0), 0)).toBeCloseTo(cycle?.total ?? NaN)
  })

  it('give the token shares of a job over the window if asked, not only of the last second', async () => {
    const ask = (sharesOver: 'second' | 'window', at: number | null) =>
      first(client.views.job({ stream: 'd', windowMs: 10_000, jobId: '4690.python.u1021', sharesOver, at }))
    const seconds = await Promise.all([100, 60, 70, 80, 90].map((at) => ask('second', at)))
    const window = await Promise.all([100, 90].map((at) => ask('window', at)))
    const spread = (all: (number | null)[]): number => {
      const known = all.filter((v) => v !== null)
      expect(known).toHaveLength(all.length)
      return Math.max(...known) - Math.min(...known)
    }
    expect(spread(window.map((f) => f.share))).toBeLessThan(spread(seconds.map((f) => f.share)))
    for (const f of window) expect(f.entitled).toBeGreaterThan(0)
  })

  it('say that a job is not known, and are empty where there is nothing', async () => {
    const f = await first(client.views.job({ stream: 'd', jobId: '<b>nobody</b>' }))
    expect(f).toMatchObject({ known: false, rpcs: 0, record: null, ops: [], rules: [], raw: '' })
    const none = await first(client.views.jobs({ stream: 'j', filter: 'no-such-job' }))
    expect(none).toMatchObject({ shown: 0, offset: 0 })
    expect(none.known).toBeGreaterThan(5)
  })

  it('show a job as the server prints it', async () => {
    const f = await first(client.views.job({ stream: 'd', jobId: '4655.vasp_std.u340' }))
    expect(f).toMatchObject({ known: true, user: 'pdias', account: 'chem', nodes: 2 })
    expect(f.raw).toMatch(/^- job_id: +4655\.vasp_std\.u340\n {2}snapshot_time:/)
    expect(f.rules.map((r) => r.conditions)).toEqual(Array(2).fill('jobid={4655.vasp_std.u340}'))
    expect(f.sizes.reduce((n, b) => n + b.share, 0)).toBeCloseTo(1)
  })

  it('sort jobs, those without a value last in either direction', async () => {
    for (const descending of [true, false]) {
      const f = await first(client.views.jobs({ stream: 'j', sort: 'nodes', descending }))
      const nodes = f.rows.nodes
      const named = nodes.filter((n) => n !== null)
      expect(nodes.indexOf(null)).toBe(named.length)
      expect(named).toEqual(named.toSorted((a, b) => (descending ? b - a : a - b)))
    }
  })

  it('sort any rows into one order, whatever the order they came in', () => {
    const row = fc.record({ jobId: fc.string({ maxLength: 2 }), nodes: fc.option(fc.nat(3), { nil: null }) })
    const rows = fc.uniqueArray(row, { selector: (r) => r.jobId, maxLength: 60 })
    type Row = { jobId: string; nodes: number | null }
    const sortRows = (list: readonly Row[], descending: boolean, from = 0, to = list.length): Row[] => {
      const order = Uint32Array.from(list, (_, i) => i)
      const nodes = Float64Array.from(list, (r) => r.nodes ?? NaN)
      selectRange(
        order,
        from,
        to,
        valueOrder(nodes, (i) => list[i]?.jobId ?? '', descending),
      )
      return Array.from(order, (i) => list[i] as Row)
    }
    fc.assert(
      fc.property(rows, fc.boolean(), (list, descending) => {
        const sorted = sortRows(list, descending)
        expect(sortRows(list.toReversed(), descending)).toEqual(sorted)
        const part = sortRows(list, descending, list.length >> 2, list.length >> 1)
        const from = list.length >> 2
        const to = list.length >> 1
        expect(part.slice(from, to)).toEqual(sorted.slice(from, to))
        const nulls = sorted.findIndex((r) => r.nodes === null)
        if (nulls >= 0) expect(sorted.slice(nulls).every((r) => r.nodes === null)).toBe(true)
        for (const [i, b] of sorted.entries()) {
          const a = sorted[i - 1]
          if (!a || a.nodes === null || b.nodes === null) continue
          expect(descending ? a.nodes >= b.nodes : a.nodes <= b.nodes).toBe(true)
        }
      }),
    )
  })

  it('are empty and whole before the first sample', async () => {
    const fresh = await open()
    const c = clientOf(fresh)
    const q = { stream: 'x', windowMs: 10_000 }
    expect(await first(c.views.jobs(q))).toMatchObject({ sample: 0, atMs: null, known: 0, rows: { jobId: [] } })
    expect(await first(c.views.overview(q))).toMatchObject({ sample: 0, tiles: [], events: [] })
    expect(await first(c.views.strip(q))).toMatchObject({ sample: 0, t: [], rpcs: [] })
    expect(await first(c.views.job({ ...q, jobId: 'a' }))).toMatchObject({ sample: 0, known: false })
    expect(await first(c.views.rules({ stream: 'x' }))).toMatchObject({ sample: 0, rows: [] })
    expect(await first(c.source.status({ stream: 'x' }))).toMatchObject({ sample: 0, counts: { jobs: 0, rules: 0 } })
    await fresh.close()
  })
})

describe('time travel', () => {
  it('shows at an old sample what was shown then', async () => {
    const host = await open()
    const client = clientOf(host)
    const pick = (f: JobsFrame): unknown => [
      f.pairs,
      ...f.rows.jobId.map((id, i) => [id, f.rows.rpcs[i], f.rows.record[i], f.rows.rule[i], f.rows.ruleRate[i]]),
    ]
    const q = { stream: 'j', sort: 'jobId', windowMs: 10_000 } as const
    await run(host, 5)
    const jobs = await first(client.views.jobs(q))
    const job = await first(client.views.job({ ...q, jobId: '4690.python.u1021' }))
    const rules = await first(client.views.rules({ stream: 'r' }))
    await run(host, 9)
    const { sample: at } = jobs
    const now = await first(client.views.jobs(q))
    expect(pick(now)).not.toEqual(pick(jobs))
    const then = await first(client.views.jobs({ ...q, at }))
    expect(then.atMs).toBe(jobs.atMs)
    expect(pick(then)).toEqual(pick(jobs))
    expect(then.totals.rpcs).toBe(jobs.totals.rpcs)
    const jobThen = await first(client.views.job({ ...q, jobId: '4690.python.u1021', at }))
    expect([jobThen.record, jobThen.rpcs, jobThen.series]).toEqual([job.record, job.rpcs, job.series])
    expect([jobThen.pairs?.other, jobThen.pairs?.tokens]).toEqual([job.pairs?.other, job.pairs?.tokens])
    expect([jobThen.share, jobThen.entitled, jobThen.ledger]).toEqual([job.share, job.entitled, job.ledger])
    const rulesThen = await first(client.views.rules({ stream: 'r', at }))
    expect(rulesThen.server.text).toBe(rules.server.text)
    expect(rulesThen.rows.map((r) => [r.name, r.rateMax])).toEqual(rules.rows.map((r) => [r.name, r.rateMax]))
    await host.close()
  })
})

describe('streams', () => {
  let host: Host
  let client: Client
  let ended: AbortController
  beforeEach(async () => {
    pauseEmulator()
    host = await open({ scenarioFile })
    client = clientOf(host)
    ended = new AbortController()
    await run(host, 1)
  })
  afterEach(async () => {
    vi.useRealTimers()
    ended.abort()
    await host.close()
  })
  let second = 1
  beforeEach(() => (second = 1))
  /** Takes one more sample, a tenth of a second after the last one. */
  const sample = async (): Promise<void> => {
    second += 0.1
    await run(host, second)
    await pass(100)
  }

  it.each(VIEWS)('%s: without acknowledgements two frames come; after one, the newest sample', async (view) => {
    const extra = view === 'job' ? { jobId: '1.hog.u1' } : {}
    const open = client.views[view] as (q: object, o: object) => Promise<AsyncIterable<{ seq: number; sample: number }>>
    const { frames, done } = taking(open({ stream: 'v', hz: 10, ...extra }, { signal: ended.signal }))
    for (let i = 0; i < 30; i++) await sample()
    expect(frames.map((f) => f.seq)).toEqual([1, 2])
    const newest = host.monitor.sample
    expect(frames[1]?.sample).toBeLessThan(newest)
    await client.host.ack({ stream: 'v', seq: 1 })
    await pass(120)
    expect(frames.map((f) => f.seq)).toEqual([1, 2, 3])
    expect(frames[2]?.sample).toBe(newest)
    ended.abort()
    await done
  })

  it('do not take the acknowledgement of another window, nor one for a frame that was not sent', async () => {
    const { frames, done } = taking(client.views.jobs({ stream: 'v', hz: 10 }, { signal: ended.signal }))
    for (let i = 0; i < 25; i++) await sample()
    expect(frames).toHaveLength(2)
    await clientOf(host, 'other').host.ack({ stream: 'v', seq: 2 })
    await client.host.ack({ stream: 'w', seq: 2 })
    await pass(120)
    expect(frames).toHaveLength(2)
    // A window that runs ahead gets two frames of credit, not a thousand.
    await client.host.ack({ stream: 'v', seq: 1000 })
    for (let i = 0; i < 30; i++) await sample()
    expect(frames).toHaveLength(4)
    ended.abort()
    await done
  })

  it('standing on a sample send it once', async () => {
    const { frames, done } = taking(client.views.jobs({ stream: 'v', hz: 10, at: 4 }, { signal: ended.signal }))
    for (let i = 0; i < 25; i++) await sample()
    expect(frames.map((f) => f.sample)).toEqual([4])
    ended.abort()
    await done
  })

  it('of the status continue while the views do not change: so a silent source is noticed', async () => {
    const { frames, done } = taking(client.source.status({ stream: 'v', hz: 10, at: 4 }, { signal: ended.signal }))
    await pass(1100)
    expect(frames).toHaveLength(2)
    expect(frames.map((f) => f.sample)).toEqual([4, 4])
    expect(frames[1]?.clock.sampleAgeMs).toBeGreaterThan(900)
    ended.abort()
    await done
  })

  it('end with their signal and leave nothing behind', async () => {
    const counted = countListeners(host)
    const streams = VIEWS.map((view) => {
      const open = client.views[view] as (q: object, o: object) => Promise<AsyncIterable<unknown>>
      return taking(open({ stream: view, jobId: 'a' }, { signal: ended.signal }))
    })
    await pass(20)
    expect(counted()).toBe(5)
    ended.abort()
    await Promise.all(streams.map((s) => s.done))
    expect(counted()).toBe(0)
  })

  it('end when no reader is left, also while the emulator is paused', async () => {
    const counted = countListeners(host)
    const stream = await client.views.jobs({ stream: 'v' })
    for await (const f of stream) {
      expect(f.seq).toBe(1)
      const next = stream.next()
      await pass(20)
      expect(counted()).toBe(1)
      await stream.return?.()
      expect(await next).toMatchObject({ done: true })
      break
    }
    expect(counted()).toBe(0)
  })
})

/** Counts listeners added to the active source after this call. */
function countListeners(host: Host): () => number {
  const { onScreen } = host
  const on = onScreen.onChange.bind(onScreen)
  let n = 0
  onScreen.onChange = (listener) => {
    n++
    const off = on(listener)
    return () => {
      n--
      off()
    }
  }
  return () => n
}

describe('what the operator chooses', () => {
  it('the mode and the controller take effect, are told at once and are on record', async () => {
    const host = await open({ historyFile: join(tempFolder(), 'history.sqlite') })
    const client = clientOf(host)
    await run(host, 3)
    const ourRules = (): boolean =>
      host.monitor.servers.some((s) => host.monitor.reading(s)?.rules.some((r) => isControllerRule(r.name)))
    expect(ourRules()).toBe(true)
    const ended = new AbortController()
    const { frames, done } = taking<StatusFrame>(client.source.status({ stream: 's' }, { signal: ended.signal }))
    await expect.poll(() => frames.map((f) => f.mode)).toEqual(['enforce'])
    const before = host.monitor.audit.number
    await client.source.setMode({ mode: 'observe' })
    // The emulator is paused: the window is notified even without a sample.
    await expect.poll(() => frames.map((f) => f.mode)).toEqual(['enforce', 'observe'])
    await client.host.ack({ stream: 's', seq: 2 })
    await client.source.setController({ controller: 'static' })
    await client.source.setController({ controller: 'static' })
    await expect.poll(() => frames.at(-1)).toMatchObject({ controller: 'static', audit: before + 2 })
    const records = host.monitor.history.audit(before + 1, 10)
    expect(records.map((r) => [r.kind, r.server, r.text])).toEqual([
      ['mode', 'demo', 'mode observe'],
      ['mode', 'demo', 'controller static'],
    ])
    await run(host, 4)
    expect(ourRules()).toBe(false)
    await client.source.setMode({ mode: 'enforce' })
    await run(host, 5)
    const rules = await first(client.views.rules({ stream: 'r' }))
    expect(rules.rows.filter((r) => r.owner === 'sluice').every((r) => r.name.startsWith('st_'))).toBe(true)
    expect(rules.plans[0]?.commands[0]).toMatch(/^lctl set_param ost\.OSS\.ost_io\.nrs_tbf_rule='reg start st_/)
    const jobs = await first(client.views.jobs({ stream: 'j' }))
    expect(new Set(jobs.rows.record)).toEqual(new Set([null]))
    ended.abort()
    await done
    await host.close()
  })

  it('a choice that cannot be put on record is refused with the reason, and shown', async () => {
    const host = await open()
    const client = clientOf(host)
    await client.source.setMode({ mode: 'advise' })
    host.monitor.history.close()
    const refused = client.source.setMode({ mode: 'enforce' })
    await expect(refused).rejects.toMatchObject({ code: 'REFUSED', defined: true, data: { code: 'NOT_ON_RECORD' } })
    expect(host.monitor.loop.mode).toBe('advise')
    await run(host, 3)
    const status = await first(client.source.status({ stream: 's' }))
    expect(status.history.recording).toBe(false)
    expect(status.notices.map((n) => n.code)).toEqual(['HISTORY_NOT_WRITTEN'])
    await host.source.stop()
  })

  it('the settings of AdapTBF take effect and are told; what is out of range is refused with the range', async () => {
    const host = await open()
    const client = clientOf(host)
    await run(host, 2)
    await client.source.setControllerOptions({ demand: 'backlog', deadbandPercent: 5 })
    const status = await first(client.source.status({ stream: 's' }))
    expect(status.adaptbf.options).toEqual({
      demand: 'backlog',
      deadbandPercent: 5,
      coefficient: 'max',
      overdraft: 0,
      autoT: false,
      spill: false,
    })
    expect(status.adaptbf.measures).toContain(status.adaptbf.options.demand)
    expect(status.adaptbf.maxRates).toHaveLength(4)
    for (const [change, code, words] of [
      [{ deadbandPercent: 51 }, 'BAD_DEADBAND', '0 to 50 %'],
      [{ overdraft: 2 }, 'BAD_OVERDRAFT', '0 to 1'],
      [{ demand: 'guess' }, 'BAD_DEMAND_MEASURE', 'served, dispatched'],
      [{ coefficient: 'mean' }, 'BAD_COEFFICIENT', 'max, min'],
      [{ spill: true }, 'ONLY_IN_SERVER', 'spill'],
    ] as const) {
      const refused = client.source.setControllerOptions(change)
      await expect(refused).rejects.toMatchObject({
        code: 'REFUSED',
        data: { code, what: expect.stringContaining(words) as string },
      })
    }
    expect((await first(client.source.status({ stream: 't' }))).adaptbf).toEqual(status.adaptbf)
    await host.close()
  })

  it('speed 0 freezes the emulator and speed 1 lets it continue', async () => {
    pauseEmulator()
    const host = await open({ paced: true })
    const client = clientOf(host)
    await client.source.setSpeed({ speed: 8 })
    await pass(200)
    expect(host.monitor.sample).toBeGreaterThan(5)
    await client.source.setSpeed({ speed: 0 })
    await pass(20)
    const frozen = host.monitor.sample
    const status = await first(client.source.status({ stream: 's' }))
    expect(status.clock.speed).toBe(0)
    await pass(200)
    expect(host.monitor.sample).toBe(frozen)
    await client.source.setSpeed({ speed: 1 })
    await pass(1000)
    expect(host.monitor.sample).toBeGreaterThan(frozen)
    expect(host.monitor.sample).toBeLessThan(frozen + 15)
    vi.useRealTimers()
    await host.close()
  })
})

describe('the rate of frames', () => {
  it('is at most what was asked for, however fast samples come', async () => {
    pauseEmulator()
    const host = await open({ paced: true, scenarioFile })
    const client = clientOf(host)
    await client.source.setSpeed({ speed: 8 })
    const ended = new AbortController()
    const took = async (hz: number): Promise<number> => {
      const stream = `hz${hz}`
      let n = 0
      for await (const f of await client.views.strip({ stream, hz }, { signal: ended.signal })) {
        if (ended.signal.aborted) break
        n++
        await client.host.ack({ stream, seq: f.seq })
      }
      return n
    }
    const counts = Promise.allSettled([took(10), took(2)])
    await pass(2000)
    vi.useRealTimers()
    ended.abort()
    const [fast, slow] = (await counts).map((r) => (r.status === 'fulfilled' ? r.value : NaN))
    expect(fast).toBeLessThanOrEqual(21)
    expect(fast).toBeGreaterThan(10)
    expect(slow).toBeLessThanOrEqual(5)
    expect(slow).toBeGreaterThanOrEqual(3)
    await host.close()
  })
})

describe('opening the application', () => {
  it('says what is wrong with a scenario, and leaves the history alone', async () => {
    const file = join(tempFolder(), 'history.sqlite')
    const missing = await openHost({ shell: 'terminal', historyFile: file, scenarioFile: '/no/such.yaml' })
    expect(missing).toMatchObject({ ok: false, error: { code: 'SCENARIO_UNREADABLE' } })
  })

  it('turns a second console on the same history away', async () => {
    const historyFile = join(tempFolder(), 'history.sqlite')
    const host = await open({ historyFile })
    const second = await openHost({ shell: 'terminal', historyFile, paced: false })
    expect(second).toMatchObject({ ok: false, error: { code: 'HISTORY_IN_USE' } })
    await run(host, 2)
    expect(host.monitor.failures).toEqual([])
    await host.close()
    await (await open({ historyFile })).close()
  })
})
