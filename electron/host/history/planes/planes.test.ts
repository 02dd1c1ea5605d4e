/** Locks, metadata and tokens of the past: frames from the rows that a run of the emulator has left. */
import { createRouterClient } from '@orpc/server'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NS_PER_S } from '#core/base/units.ts'
import { tempFolder } from '../../../../tests/node/temp-folder.ts'
import { openHost, type Host } from '../../host.ts'
import { locksFrame as liveLocks } from '../../views/locks/locks.ts'

const EPOCH_S = 1_767_225_600
const EPOCH_MS = EPOCH_S * 1000
const SECONDS = 40
/** Instant of the past that is looked at, and A before it. */
const AT = EPOCH_MS + 30_000
const A = EPOCH_MS + 12_000

let host: Host
const clientOf = () => createRouterClient(host.router, { context: { peer: 'test' } })
let client: ReturnType<typeof clientOf>

async function first<F>(stream: Promise<AsyncIterable<F>>): Promise<F> {
  for await (const frame of await stream) return frame
  throw new Error('no frame')
}
let streams = 0
const stream = () => `s${++streams}`
let sample: number

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
  await host.source.runTo(SECONDS * NS_PER_S, (atNs) => host.monitor.tick(atNs))
  await client.history.record({ name: 'all', span: { fromMs: EPOCH_MS, toMs: EPOCH_MS + (SECONDS - 1) * 1000 } })
  await client.history.open({ name: 'all' })
  ;({ sample } = await client.history.goTo({ atMs: AT }))
}, 120_000)
afterAll(() => host.close())

const LDLM = {
  plane: 'ldlm',
  windowMs: 30_000,
  sort: 'waiting',
  filter: '',
  offset: 0,
  limit: 200,
  selected: '',
  moment: null,
  spanMs: null,
} as const

const known = (values: readonly (number | null)[]): number[] => values.filter((v) => v !== null)
/** Lengths of the columns of a table, which must be equal. */
const lengths = (table: object): unknown[] => [
  ...new Set(Object.values(table).flatMap((v: unknown) => (Array.isArray(v) ? [v.length] : []))),
]

describe('locks of the past', () => {
  const locks = (more = {}) => first(client.views.locks({ stream: stream(), at: sample, windowMs: 30_000, ...more }))

  it('have counters, resources and a chart over the window, and say what was not recorded', async () => {
    const f = await locks()
    expect([f.atMs, f.plane, f.notices.map((n) => n.code)]).toEqual([AT, 'seqdlm', ['RECORDED_ROWS']])
    expect(f.held).toBeGreaterThan(0)
    expect(f.modes.reduce((n, m) => n + (m.held ?? 0), 0)).toBeCloseTo(f.held ?? NaN, 3)
    expect(f.modes.map((m) => [m.grants, m.waiting])).toEqual(f.modes.map(() => [null, null]))
    expect(f.rows.name).toEqual(expect.arrayContaining(['ckpt.h5 / 0', 'ckpt.h5 / 1', 'ckpt.h5 / 2', 'ckpt.h5 / 3']))
    expect([...lengths(f.rows), f.known]).toEqual([f.rows.name.length, f.rows.name.length])
    expect(new Set(f.rows.cancelMs)).toEqual(new Set([null]))
    expect(lengths(f.series)).toEqual([f.series.t.length])
    expect(known(f.series.grants).length).toBeGreaterThan(25)
    expect(f.alarms.filter((a) => a.level === 'unknown').map((a) => a.kind)).toEqual(['ping-pong', 'eviction'])
  })

  it('of Lustre have the counters that the live view had, and a day of them', async () => {
    const { sample: liveSample, recent } = host.monitor
    const then = liveSample - Math.round((recent.raw.totals.atMs(liveSample) - AT) / 100)
    const live = liveLocks(host.monitor, { ...LDLM, at: then }, 1)
    const f = await locks({ plane: 'ldlm' })
    expect([f.atMs, live.atMs, f.plane, f.planes]).toEqual([AT, AT, 'ldlm', ['seqdlm', 'ldlm']])
    expect(f.notices.map((n) => n.code)).toEqual(['RECORDED_ROWS'])
    expect(f.ldlm?.namespace).toHaveLength(6)
    expect(f.ldlm).toEqual(live.ldlm)
    expect([f.held, f.grants, f.cancels, f.series, f.manager]).toEqual([
      live.held,
      live.grants,
      live.cancels,
      live.series,
      live.manager,
    ])
    const { ldlm } = await locks({
      plane: 'ldlm',
      filter: 'ns:OST',
      sort: 'name',
      selected: 'filter-demo-OST0001_UUID',
    })
    expect([ldlm?.target.length, ldlm?.selected]).toEqual([4, 'filter-demo-OST0001_UUID'])
    expect((await locks({ plane: 'ldlm', windowMs: 3_600_000 })).series.t.length).toBeGreaterThan(0)
  })

  it('show one resource over the window, also over a day', async () => {
    for (const windowMs of [30_000, 86_400_000]) {
      const { resource, series } = await locks({ windowMs, selected: 'ckpt.h5 / 2' })
      expect(resource).toMatchObject({ name: 'ckpt.h5 / 2' })
      const waiting = resource?.past ? resource.past.waiting : (resource?.queue.waiting ?? [])
      expect(known(waiting).length).toBeGreaterThan(10)
      expect(known(series.held).length).toBeGreaterThan(20)
    }
  })

  it('replay a kept convoy lock by lock, and a part of it', async () => {
    const { convoys } = await locks()
    expect(convoys.length).toBeGreaterThan(0)
    const [convoy] = convoys
    if (!convoy) throw new Error('no convoy')
    const there = await client.history.goTo({ atMs: convoy.toMs })
    const at = { at: there.sample, selected: convoy.resource }
    const { resource } = await locks(at)
    expect(resource).toMatchObject({ key: convoy.resource, isKept: true, isFound: true })
    expect(resource?.lives.id.length).toBeGreaterThan(3)
    expect(resource?.messages.sent.length).toBeGreaterThan(3)
    const moment = resource?.moment ?? { endMs: 0, spanMs: 1 }
    const half = { endMs: moment.endMs - moment.spanMs / 2, spanMs: moment.spanMs / 2 }
    const part = (await locks({ ...at, moment: half })).resource
    expect(part?.moment.spanMs).toBeCloseTo(half.spanMs, 6)
    expect(lengths(part?.lives ?? {})).toEqual([part?.lives.id.length])
    expect(Math.max(...(part?.lives.asked ?? []))).toBeLessThanOrEqual(half.spanMs)
    expect(Math.max(...known(part?.lives.granted ?? []))).toBeLessThanOrEqual(half.spanMs)
    // The same lock has the same request, on the clock of the shorter range.
    const id = part?.lives.id[0]
    const whole = resource?.lives.asked[resource.lives.id.indexOf(id ?? -1)] ?? NaN
    const shift = moment.spanMs - (moment.endMs - half.endMs) - half.spanMs
    expect(part?.lives.asked[0]).toBeCloseTo(whole - shift, 2)
  })

  it('are filtered and sorted', async () => {
    expect((await locks({ filter: 'res:*3' })).rows.name).toEqual(['ckpt.h5 / 3'])
    expect((await locks({ filter: 'res:ckpt mode:XW' })).filterError).toMatchObject({ column: 10 })
    const { rows } = await locks({ sort: 'conflicts' })
    expect(rows.conflicts).toEqual([...rows.conflicts].sort((a, b) => b - a))
  })
})

describe('metadata operations of the past', () => {
  const metadata = (more = {}) =>
    first(client.views.metadata({ stream: stream(), at: sample, windowMs: 30_000, ...more }))

  it('have jobs over the window, a hierarchy and channels', async () => {
    const f = await metadata()
    expect(f.plane).toBe('stages')
    expect([f.controller.algorithm, f.notices.map((n) => n.code)]).toEqual([null, ['RECORDED_ROWS']])
    expect(f.jobs.jobId.length).toBeGreaterThan(1)
    expect(lengths(f.jobs)).toEqual([f.jobs.jobId.length])
    for (const series of f.jobs.measuredSeries) expect(series.length).toBe(f.t.length)
    expect(new Set(f.tree.kind)).toEqual(new Set(['global', 'local', 'stage']))
    // Totals of the scope: all jobs of it, at the instant and in the tree.
    const sum = known(f.jobs.measured).reduce((n, v) => n + v, 0)
    expect(f.tree.measured[0]).toBeCloseTo(sum, 3)
    expect(f.channels.key.length).toBeGreaterThan(0)
    const all = f.channels.measured.length
    const [job = ''] = f.jobs.jobId
    const ofJob = await metadata({ selected: `job:${job}` })
    expect(ofJob.channels.of).toBe(job)
    expect(ofJob.channels.measured.length).toBeLessThanOrEqual(all)
    expect((await metadata({ windowMs: 86_400_000 })).t.length).toBeGreaterThan(20)
  })

  it('are filtered as live', async () => {
    const { jobs } = await metadata()
    const [job = ''] = jobs.jobId
    const f = await metadata({ filter: `job:${job}` })
    expect(new Set(f.tree.jobId.filter((id) => id !== ''))).toEqual(new Set([job]))
    expect(f.filtered?.passing).toBeGreaterThan(0)
    expect(f.filtered?.passing).toBeLessThan(f.filtered?.of ?? 0)
  })
})

describe('tokens of the past', () => {
  const tokens = (more = {}) => first(client.views.tokens({ stream: stream(), at: sample, windowMs: 30_000, ...more }))

  it('have the pool at its checks, the clients, and no settings', async () => {
    const f = await tokens()
    expect([f.isKept, f.variant, f.preset, f.batch]).toEqual([true, null, null, null])
    expect(f.periodMs).toBe(1000)
    expect(f.series.t).toEqual([100, 200, 300, 400, 500, 600, 700, 800, 900, 1000])
    expect(Math.min(...known(f.series.pool))).toBeCloseTo(f.pool.lowest ?? NaN, 3)
    expect(lengths(f.clients)).toEqual([f.clients.key.length])
    expect(f.clients.key.length).toBeGreaterThan(3)
    // Periods of one second: completed I/Os of all clients are U.
    expect(f.capacity.used.at(-1)).toBe(known(f.clients.iops).reduce((n, v) => n + v, 0))
    expect(f.epochs.map((e) => e.epoch)).toEqual(f.epochs.map((_, i) => (f.epochs[0]?.epoch ?? 0) + i))
    expect((await tokens({ windowMs: 86_400_000 })).capacity.epoch.length).toBeGreaterThan(20)
    expect((await tokens({ span: 'minute' })).series.t.length).toBeGreaterThan(20)
  })
})

describe('a comparison with A', () => {
  const of = (at: number | null) => ({ stream: stream(), at, windowMs: 30_000, againstMs: A })
  /** Rows of A alone. */
  const atA = async () => {
    const there = await client.history.goTo({ atMs: A })
    const at = { stream: stream(), at: there.sample, windowMs: 30_000 }
    return {
      locks: await first(client.views.locks(at)),
      metadata: await first(client.views.metadata(at)),
      tokens: await first(client.views.tokens(at)),
    }
  }

  it('has the values of the frames at A', async () => {
    const then = await atA()
    const locks = await first(client.views.locks(of(sample)))
    expect(locks.against).toEqual({ atMs: A })
    expect(locks.rows.against?.conflicts).toEqual(
      locks.rows.name.map((name) => then.locks.rows.conflicts[then.locks.rows.name.indexOf(name)] ?? null),
    )
    const metadata = await first(client.views.metadata(of(sample)))
    expect(metadata.tree.against).toEqual(
      metadata.tree.key.map((key) => then.metadata.tree.measured[then.metadata.tree.key.indexOf(key)] ?? null),
    )
    expect(metadata.channels.against?.measured).toEqual(
      metadata.channels.key.map(
        (key) => then.metadata.channels.measured[then.metadata.channels.key.indexOf(key)] ?? null,
      ),
    )
    const tokens = await first(client.views.tokens(of(sample)))
    expect(tokens.clients.against).toEqual(
      tokens.clients.key.map((key) => then.tokens.clients.iops[then.tokens.clients.key.indexOf(key)] ?? null),
    )
  })

  it('is null where nothing was recorded', async () => {
    const far = { ...of(sample), againstMs: A - 86_400_000 }
    expect((await first(client.views.locks(far))).against).toBeNull()
    expect((await first(client.views.metadata(far))).against).toBeNull()
    expect((await first(client.views.tokens(far))).against).toBeNull()
  })
})

describe('the history view', () => {
  const history = (more = {}) => first(client.views.history({ stream: stream(), ...more }))
  const spans = {
    a: { fromMs: EPOCH_MS + 5_000, toMs: EPOCH_MS + 15_000 },
    b: { fromMs: EPOCH_MS + 20_000, toMs: EPOCH_MS + 30_000 },
  }

  it('offers measures of planes that have rows, and draws them', async () => {
    const f = await history({ measure: 'lock_servers.conflicts_per_s', ...spans })
    expect(f.planes).toEqual(['locks', 'metadata', 'tokens'])
    expect(known(f.day.values).length).toBeGreaterThan(20)
    expect(known(f.overlay?.b.values ?? []).length).toBeGreaterThan(5)
    expect(f.week.at(-1)?.values.some((v) => v !== null)).toBe(true)
    await expect(history({ measure: 'lock_servers.nothing' })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  })

  it('names movers of planes in the unit of their table', async () => {
    const units = { lock_resources: '/s', metadata_channels: 'op/s', metadata_jobs: 'op/s', token_clients: 'tokens' }
    for (const [by, unit] of Object.entries(units)) {
      const { movers } = await history({ by, ...spans })
      expect([movers.by, movers.unit]).toEqual([by, unit])
      expect(movers.name.length).toBeGreaterThan(1)
      expect(lengths(movers)).toEqual([movers.name.length])
    }
  })
})
