import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tokensFrame as schema, type TokensFrame } from '#core/api/tokens.ts'
import { openHost, type Host } from '../../host.ts'
import { TokenService } from '../../tokens/token-service.ts'
import { tokensFrame } from './tokens.ts'
import { resourcePath } from '../../../files/resources.ts'

const QUERY = { at: null, windowMs: 300_000, node: '', span: 'period' } as const

async function hostOf(scenarioFile?: string): Promise<Host> {
  const opened = await openHost({ shell: 'terminal', historyFile: ':memory:', paced: false, scenarioFile })
  if (!opened.ok) throw new Error(opened.error.what)
  return opened.value
}
const runTo = (host: Host, seconds: number): Promise<void> =>
  host.source.runTo(seconds * 1e9, (at) => host.monitor.tick(at))

describe('tokens of the demo’s data node', () => {
  let host: Host
  let early: TokensFrame
  let now: TokensFrame
  beforeAll(async () => {
    host = await hostOf()
    await runTo(host, 5.5)
    early = tokensFrame(host.monitor, QUERY, 1)
    await runTo(host, 12.3)
    now = tokensFrame(host.monitor, QUERY, 2)
  })
  afterAll(() => host.close())

  it('are a frame of the contract', () => {
    expect(schema.parse(early)).toEqual(early)
    expect(schema.parse(now)).toEqual(now)
    expect(now).toMatchObject({
      node: 'dn0',
      isKept: true,
      variant: 'haechi',
      periodMs: 1000,
      epoch: 13,
      phase: 'report',
    })
    expect(now.elapsedMs).toBeCloseTo(300, 0)
  })

  it('show the instant between two periods as the end of the first', () => {
    const between = tokensFrame(host.monitor, { ...QUERY, at: 119 }, 3)
    expect(between).toMatchObject({ epoch: 12, elapsedMs: 1000, phase: 'end' })
    expect(between.series.pool.length).toBeGreaterThan(100)
    expect(between.epochs.at(-1)).toMatchObject({ epoch: 12, isWhole: false })
    expect(between.clients.usedReserved.some((n) => n > 0)).toBe(true)
  })

  it('give every client of the reservation what is left, used and yielded, and nothing else', () => {
    const { reservation, left, usedReserved, yielded } = now.clients
    reservation.forEach((r, i) => {
      if (r > 0) expect((left[i] ?? 0) + (usedReserved[i] ?? 0) + (yielded[i] ?? 0)).toBe(r)
    })
    expect(now.foot.reserved).toBe(reservation.reduce((a, b) => a + b, 0))
  })

  it('never wake the data node for a data I/O', () => {
    expect(now.foot.dataCpuEvents).toBe(0)
    expect(now.foot.dataIos).toBeGreaterThan(500_000)
    expect(now.foot.cpuEvents).toBeGreaterThan(0)
  })

  it('show the pool up to the cursor and no further', () => {
    const { t, pool } = now.series
    expect(Math.max(...t)).toBeLessThanOrEqual(now.elapsedMs + 1e-3)
    expect(pool.at(-1)).toBe(now.pool.now)
    expect(now.pool.lowest).toBeLessThanOrEqual(Math.min(...pool.map((v) => v ?? 0)))
    expect(now.phases.at(-1)).toMatchObject({ kind: 'report', toMs: now.elapsedMs })
    now.phases.forEach((p, i) => expect(p.fromMs).toBe(i === 0 ? 0 : now.phases[i - 1]?.toMs))
  })

  it('look at an old sample later as they did when it was the newest', () => {
    const again = tokensFrame(host.monitor, { ...QUERY, at: early.sample }, 3)
    expect(again.epoch).toBe(early.epoch)
    expect(again.elapsedMs).toBe(early.elapsedMs)
    expect(again.pool).toEqual(early.pool)
    expect(again.series).toEqual(early.series)
    expect(again.capacity).toEqual(early.capacity)
    expect(again.epochs).toEqual(early.epochs)
    for (const of of ['left', 'held', 'usedReserved', 'usedPool', 'yielded', 'missed', 'reservation'] as const) {
      expect(again.clients[of], of).toEqual(early.clients[of])
    }
    expect(again.events.every((e) => e.atMs <= (early.atMs ?? 0))).toBe(true)
  })

  it('say of a minute what they say of a period', () => {
    const minute = tokensFrame(host.monitor, { ...QUERY, span: 'minute' }, 4)
    expect(minute.series.t.length).toBeLessThanOrEqual(260)
    expect(minute.series.t.at(-1)).toBeGreaterThan(12_000)
  })

  it('answer what admission would say, and refuse what cannot be with the excess', async () => {
    const service = new TokenService(host.monitor)
    const ask = (reservation: number, limit: number | null = null) =>
      service.check({ node: 'dn0', client: 'c09', reservation, limit })
    expect(ask(4500)).toMatchObject({ ok: true, value: { admit: true, reasons: [] } })
    const local = ask(20_001)
    expect(local).toMatchObject({ ok: true, value: { admit: false } })
    expect(local.ok && local.value.reasons).toContainEqual(expect.objectContaining({ kind: 'local', by: 1 }))
    const all = service.check({ node: 'dn0', client: 'c10', reservation: 20_000, limit: null })
    const over = all.ok ? all.value.reserved - all.value.admissible : 0
    expect(over).toBeGreaterThan(0)
    expect(all.ok && all.value.reasons).toContainEqual(expect.objectContaining({ kind: 'global', by: over }))
    for (const bad of [-1, 0.5, 2 ** 40]) {
      expect(ask(bad)).toMatchObject({ ok: true, value: { admit: false, reasons: [{ kind: 'value' }] } })
    }
    expect(ask(10, -3)).toMatchObject({ ok: true, value: { admit: false, reasons: [{ kind: 'value' }] } })
    expect(service.check({ node: 'dn9', client: 'c09', reservation: 1, limit: null })).toMatchObject({ ok: false })
    expect(await service.reserve({ node: 'dn0', client: 'c09', reservation: 4200, limit: null })).toMatchObject({
      ok: true,
    })
    expect(await service.reserve({ node: 'dn0', client: 'c09', reservation: 60_000, limit: null })).toMatchObject({
      ok: false,
    })
    await runTo(host, 13.5)
    const after = tokensFrame(host.monitor, QUERY, 5)
    expect(after.clients.reservation[after.clients.name.indexOf('c09')]).toBe(4200)
  })

  it('start again as another variant, where nothing is reserved', async () => {
    const service = new TokenService(host.monitor)
    expect(service.change({ node: 'dn0', variant: 'bare' })).toMatchObject({ ok: true })
    await runTo(host, 15.2)
    const bare = tokensFrame(host.monitor, QUERY, 6)
    expect(schema.parse(bare)).toEqual(bare)
    expect(bare).toMatchObject({ variant: 'bare', pool: { now: null } })
    expect(bare.clients.iops.every((v) => v !== null && v > 0)).toBe(true)
    // The previous run is kept while the cursor can reach it.
    expect(tokensFrame(host.monitor, { ...QUERY, at: early.sample }, 7).pool).toEqual(early.pool)
  })
})

describe('a source without a data node', () => {
  it('says so in an empty frame', async () => {
    const host = await hostOf(resourcePath('scenarios/metadata-storm.yaml'))
    await runTo(host, 0.5)
    const frame = tokensFrame(host.monitor, QUERY, 1)
    expect(schema.parse(frame)).toMatchObject({ nodes: [], node: '', isKept: false })
    await host.close()
  })
})
