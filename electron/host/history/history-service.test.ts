import { createRouterClient } from '@orpc/server'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NS_PER_S } from '#core/base/units.ts'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import { openHost, type Host } from '../host.ts'
import { CHANGES } from '../implementation.ts'

const EPOCH_S = 1_767_225_600
const EPOCH_MS = EPOCH_S * 1000

let host: Host
const clientOf = () => createRouterClient(host.router, { context: { peer: 'test' } })
let client: ReturnType<typeof clientOf>

async function first<F>(stream: Promise<AsyncIterable<F>>): Promise<F> {
  for await (const frame of await stream) return frame
  throw new Error('no frame')
}

const status = () => first(client.source.status({ stream: 's' }))

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
  await host.source.runTo(10 * NS_PER_S, (atNs) => host.monitor.tick(atNs))
})
afterAll(() => host.close())

describe('moving through time', () => {
  it('stays in memory where memory reaches', async () => {
    const result = await client.history.goTo({ atMs: EPOCH_MS + 6_020 })
    expect(result).toMatchObject({ atMs: EPOCH_MS + 6_000, recorded: false })
    expect((await status()).source.kind).toBe('EMULATED')
  })

  it('is refused where nothing is kept, and nothing on screen changes', async () => {
    const before = host.onScreen.turn
    const far = client.history.goTo({ atMs: EPOCH_MS - 86_400_000 })
    await expect(far).rejects.toMatchObject({ code: 'REFUSED', data: { code: 'NO_HISTORY' } })
    expect(host.onScreen.turn).toBe(before)
  })

  it('plays a recording, named so, and ends when its source is shown', async () => {
    const span = { fromMs: EPOCH_MS + 2_000, toMs: EPOCH_MS + 9_000 }
    const written = await client.history.record({ name: 'before the storm', span })
    expect(written.bytes).toBeGreaterThan(1000)
    await client.history.open({ name: 'before the storm' })
    const s = await status()
    expect(s).toMatchObject({ source: { kind: 'RECORDED', cluster: host.monitor.source.cluster }, mode: 'observe' })
    expect(s.playback).toMatchObject({ file: 'before the storm', tier: 'raw', fromMs: span.fromMs })
    expect(s.atMs).toBeLessThan(span.toMs)
    const result = await client.history.goTo({ atMs: EPOCH_MS + 5_000 })
    expect(result).toMatchObject({ atMs: EPOCH_MS + 5_000, recorded: true })
    const jobs = await first(client.views.jobs({ stream: 'j', at: result.sample, windowMs: 10_000 }))
    expect(jobs.atMs).toBe(EPOCH_MS + 5_000)
    expect(jobs.rows.jobId.length).toBeGreaterThan(3)
    for (const view of ['locks', 'metadata', 'tokens'] as const) {
      const frame = await first<{ notices: { code: string }[] }>(
        client.views[view]({ stream: view, at: result.sample }),
      )
      expect(['NOT_RECORDED', 'RECORDED_ROWS']).toContain(frame.notices[0]?.code)
    }
    const later = await client.history.goTo({ atMs: EPOCH_MS + 8_000 })
    const { rows } = await first(client.views.locks({ stream: 'locks', at: later.sample }))
    const [key = ''] = rows.key
    const at = { stream: 'linked', at: later.sample, windowMs: 10_000 }
    const linked = await first(client.views.linked({ ...at, kind: 'resource', id: key }))
    expect(linked).toMatchObject({ isHere: true, resource: [key] })
    const { clients } = await first(client.views.tokens({ stream: 'tokens', at: later.sample }))
    const [jobId = ''] = clients.jobId.filter((id) => id !== '')
    const ofJob = await first(client.views.linked({ ...at, kind: 'job', id: jobId }))
    expect(ofJob.client).toEqual(clients.name.filter((_, i) => clients.jobId[i] === jobId))
    const note = client.history.note({ atMs: EPOCH_MS + 5_000, text: 'here' })
    await expect(note).rejects.toMatchObject({ data: { code: 'RECORDING' } })
    await client.clusters.show({ name: null })
    expect((await status()).source.kind).toBe('EMULATED')
    await client.history.removeRecording({ name: 'before the storm' })
  })

  it('keeps a note at its instant, whatever is in it, and finds it as an event', async () => {
    const text = '=cmd|"/c calc"!A1 <img src=x onerror=alert(1)>'
    await client.history.note({ atMs: EPOCH_MS + 4_321, text })
    expect(await client.history.event({ atMs: EPOCH_MS + 4_320, direction: 'next' })).toEqual({
      atMs: EPOCH_MS + 4_321,
    })
    const frame = await first(client.views.history({ stream: 'h' }))
    expect(frame.day.marks.filter((m) => m.kind === 'note')).toMatchObject([{ text, subject: 'Note' }])
    expect(frame.week).toHaveLength(7)
    expect(frame.kept?.fromMs).toBeLessThanOrEqual(EPOCH_MS + 1_000)
  })

  it('is refused for names that are paths', async () => {
    for (const name of ['../history', '/etc/passwd', 'a/b', 'con', '..']) {
      await expect(client.history.open({ name })).rejects.toMatchObject({ code: 'REFUSED' })
    }
    expect((await status()).source.kind).toBe('EMULATED')
  })
})

describe('A beside B', () => {
  it('has the figures that the view has at A', async () => {
    const againstMs = EPOCH_MS + 5_000
    const { sample } = await client.history.goTo({ atMs: againstMs })
    const q = { stream: 'x', windowMs: 10_000 } as const
    const then = await first(client.views.jobs({ ...q, at: sample, limit: 200 }))
    const jobs = await first(client.views.jobs({ ...q, againstMs, limit: 200 }))
    expect(jobs.against).toEqual({ atMs: againstMs })
    const rpcsThen = new Map(then.rows.jobId.map((id, i) => [id, then.rows.rpcs[i]]))
    expect(jobs.rows.against?.rpcs).toEqual(jobs.rows.jobId.map((id) => rpcsThen.get(id) ?? null))
    const before = await first(client.views.overview({ ...q, at: sample }))
    const overview = await first(client.views.overview({ ...q, againstMs }))
    expect(overview.tiles.filter((t) => t.id !== 'locks').map((t) => t.against)).toEqual(
      before.tiles.filter((t) => t.id !== 'locks').map((t) => t.value),
    )
    expect(overview.targets.against?.rpcs).toEqual(before.targets.rpcs)
    expect(overview.overlay?.t.at(-1)).toBe(overview.atMs)
    const rules = await first(client.views.rules({ stream: 'r', againstMs }))
    const old = await first(client.views.rules({ stream: 'r', at: sample }))
    // Sluice's rules are identified by their conditions: their names differ between servers.
    const key = (r: { owner: string; name: string; conditions: string }): string =>
      r.owner === 'sluice' ? r.conditions : `${r.name} ${r.conditions}`
    const rates = new Map(old.rows.map((r) => [key(r), r.rateMax]))
    for (const r of rules.rows) {
      const rate = rates.get(key(r))
      expect(r.against).toMatchObject({ there: rate !== undefined, rateMax: rate ?? null })
    }
    const none = await first(client.views.jobs({ ...q, againstMs: EPOCH_MS - 1e9 }))
    expect(none.against).toBeNull()
  })
})

describe('while something recorded is on screen', () => {
  const calls: Record<string, (c: typeof client) => Promise<unknown>> = {
    'source.setSpeed': (c) => c.source.setSpeed({ speed: 1 }),
    'source.setMode': (c) => c.source.setMode({ mode: 'enforce' }),
    'source.unlock': (c) => c.source.unlock({ typed: 'demo' }),
    'source.setController': (c) => c.source.setController({ controller: 'none' }),
    'source.startClearing': (c) => c.source.startClearing({ typed: 'demo' }),
    'source.setControllerOptions': (c) => c.source.setControllerOptions({ deadbandPercent: 1 }),
    'rules.stage': (c) => c.rules.stage({ service: 'ost_io' } as Parameters<typeof c.rules.stage>[0]),
    'rules.stagePolicy': (c) => c.rules.stagePolicy({ service: 'ost_io', policy: 'fifo', reason: 'x' }),
    'rules.unstage': (c) => c.rules.unstage({ service: 'ost_io', id: null }),
    'rules.restore': (c) => c.rules.restore({ service: 'ost_io', ids: ['x'] }),
    'rules.commit': (c) => c.rules.commit({ service: 'ost_io', planId: 'x', typed: 'x' }),
    'rules.undo': (c) => c.rules.undo({ changeId: 'x' }),
    'padll.change': (c) => c.padll.change({} as Parameters<typeof c.padll.change>[0]),
    'padll.apply': (c) => c.padll.apply({} as Parameters<typeof c.padll.apply>[0]),
    'tokens.reserve': (c) => c.tokens.reserve({} as Parameters<typeof c.tokens.reserve>[0]),
    'tokens.change': (c) => c.tokens.change({} as Parameters<typeof c.tokens.change>[0]),
    'sandbox.stage': (c) => c.sandbox.stage({} as Parameters<typeof c.sandbox.stage>[0]),
  }

  it('names every verb that changes or writes', () => {
    expect(Object.keys(calls).sort()).toEqual([...CHANGES].sort())
  })

  it.each(Object.keys(calls))('%s is refused', async (verb) => {
    const span = { fromMs: EPOCH_MS + 1_000, toMs: EPOCH_MS + 9_000 }
    if (!host.onScreen.playback) {
      await client.history.record({ name: 'guarded', span })
      await client.history.open({ name: 'guarded' })
    }
    expect(host.onScreen.playback).toBeDefined()
    const before = [host.monitor.loop.mode, host.monitor.loop.controller, host.source.speed]
    await expect(calls[verb]?.(client)).rejects.toMatchObject({ code: 'REFUSED', data: { code: 'RECORDED' } })
    expect([host.monitor.loop.mode, host.monitor.loop.controller, host.source.speed]).toEqual(before)
  })

  it('what stops and locks is not', async () => {
    await client.source.lock()
    await expect(client.source.stopAll()).resolves.toMatchObject({ nodes: expect.anything() as unknown })
    await client.history.leave()
    expect((await status()).playback).toBeUndefined()
  })
})
