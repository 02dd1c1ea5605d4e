// Rows of locks from an emulated ccPFS: their sums are its own counters, and a convoy is kept as the Locks view shows it.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { locksFrame } from '#core/api/locks.ts'
import { NS_PER_MS, NS_PER_S } from '#core/base/units.ts'
import type { EmulatedCcpfs } from '#core/emulator/ccpfs.ts'
import { EmulatedCluster } from '#core/emulator/cluster.ts'
import { parseScenario } from '#core/emulator/scenario.ts'
import { planeColumn, planeTable } from '#core/series/plane-tables.ts'
import { LockCollector } from './lock-rows.ts'
import { lockedHost, lockedScenario } from '#tests/node/locked-host.ts'
import { KeptRows } from '#tests/kits/electron/cluster/kept-rows.ts'

const EPOCH_MS = 1_767_225_600_000
const SECONDS = 12

interface Ran {
  readonly kept: KeptRows
  readonly ccpfs: EmulatedCcpfs
}

/** Runs the file system alone and reads it every so many ms; at the end once more. */
function ran(everyMs: number, most = Infinity): Ran {
  const read = parseScenario(lockedScenario())
  if (!read.ok) throw new Error(read.error.what)
  const { sim, ccpfs } = new EmulatedCluster(read.value)
  if (!ccpfs) throw new Error('no file system')
  const kept = new KeptRows(most)
  const source = { nowNs: () => sim.now, toUnixMs: (ns: number) => EPOCH_MS + ns / NS_PER_MS }
  const collector = new LockCollector(ccpfs, source, kept)
  const endNs = SECONDS * NS_PER_S
  for (let at = everyMs * NS_PER_MS; at < endNs; at += everyMs * NS_PER_MS) {
    sim.runUntil(at)
    collector.look(at)
  }
  sim.runUntil(endNs)
  collector.look(endNs)
  return { kept, ccpfs }
}

const TABLES = ['lock_resources', 'lock_servers'] as const

it('sums of the rows equal the counters of the lock manager', () => {
  const { kept, ccpfs } = ran(100)
  const endNs = SECONDS * NS_PER_S
  const counters = ccpfs.trace.resources(endNs, endNs)
  const total = (of: (c: (typeof counters)[number]) => number): number => counters.reduce((n, c) => n + of(c), 0)
  expect(total((c) => c.grants)).toBeGreaterThan(500)
  for (const table of TABLES) {
    expect(kept.times(table)).toEqual(Array.from({ length: SECONDS }, (_, s) => EPOCH_MS + s * 1000))
    expect(kept.sum(table, 'grants_per_s')).toBe(total((c) => c.grants))
    expect(kept.sum(table, 'conflicts_per_s')).toBe(total((c) => c.conflicts))
    expect(kept.sum(table, 'revocations_per_s')).toBe(total((c) => c.revocations))
    expect(kept.sum(table, 'conversions_per_s')).toBe(total((c) => c.conversions))
    // The mean of a period times its grants is the time that they waited.
    const [grants, mean] = [planeColumn(table, 'grants_per_s'), planeColumn(table, 'wait_mean_ms')]
    const waitedMs = kept.rows(table).reduce((n, { values }) => n + (values[grants] || 0) * (values[mean] || 0), 0)
    expect(waitedMs).toBeCloseTo(ccpfs.waitedNs / NS_PER_MS, 3)
  }
  expect(kept.sum('lock_servers', 'grants_per_s') - kept.sum('lock_servers', 'cancels_per_s')).toBe(
    total((c) => c.held),
  )
  const names = new Set(kept.rows('lock_resources').map((r) => `${r.name} on ${r.place}`))
  expect([...names].sort()).toEqual([
    'ckpt.h5 / 0 on ds01',
    'ckpt.h5 / 1 on ds02',
    'ckpt.h5 / 2 on ds01',
    'ckpt.h5 / 3 on ds02',
  ])
  expect(new Set(kept.rows('lock_servers').map((r) => `${r.name} of ${r.place}`))).toEqual(
    new Set(['ds01 of SeqDLM', 'ds02 of SeqDLM']),
  )
})

it('modes held add up to the locks held, waits are in order, shares of convoys within 0 and 1', () => {
  const { kept } = ran(100)
  const at = (name: string): number => planeColumn('lock_servers', name)
  const held = planeTable('lock_servers').columns.flatMap((c, i) => (c.name.startsWith('held_') ? [i] : []))
  for (const { values } of kept.rows('lock_servers')) {
    expect(held.reduce((n, i) => n + (values[i] as number), 0)).toBe(values[at('holders')])
    const [mean = NaN, p95 = NaN, longest = NaN] = [at('wait_mean_ms'), at('wait_p95_ms'), at('wait_longest_ms')].map(
      (i) => values[i],
    )
    if (!Number.isNaN(mean)) expect(longest).toBeGreaterThanOrEqual(Math.max(mean, p95))
    const share = values[at('convoy_share')] as number
    expect(share).toBeGreaterThanOrEqual(0)
    expect(share).toBeLessThanOrEqual(1)
  }
  expect(kept.sum('lock_servers', 'convoy_share')).toBeGreaterThan(0)
  const inConvoy = kept.rows('lock_servers').filter(({ values }) => (values[at('convoy_share')] as number) > 0)
  expect(inConvoy.every(({ values }) => (values[at('waiters')] as number) >= 4)).toBe(true)
})

it('has the same rows at any pace of reading', () => {
  const { periods } = ran(100, 0).kept
  fc.assert(
    fc.property(fc.constantFrom(13, 50, 330, 1000, 2500, 7100, 11_999), (everyMs) => {
      const other = ran(everyMs, 0).kept
      for (const table of TABLES) {
        expect(other.periods.filter((p) => p.table === table)).toEqual(periods.filter((p) => p.table === table))
      }
    }),
    { numRuns: 5 },
  )
})

it('keeps a convoy with the lives and messages that replay it, one a sample', () => {
  const { kept } = ran(100, 3)
  expect(kept.convoys).toHaveLength(3)
  for (const { convoy, frame } of kept.convoys) {
    const resource = locksFrame.shape.resource.parse(JSON.parse(JSON.stringify(frame)))
    if (!resource) throw new Error('no resource')
    expect(resource).toMatchObject({ name: convoy.resource, server: convoy.server, isKept: true, moreLives: 0 })
    expect(convoy.waiting).toBeGreaterThanOrEqual(4)
    // The range shows the queue before it grows and after it drained.
    const { endMs, spanMs } = resource.moment
    expect(endMs - spanMs).toBeLessThan(convoy.fromMs)
    expect(endMs).toBeGreaterThan(convoy.toMs)
    expect(Math.max(...resource.queue.waiting.map((n) => n ?? 0))).toBe(convoy.waiting)
    // Waiting lives at the peak: asked by then, granted later.
    const waitingAt = (ms: number): number =>
      resource.lives.asked.filter((asked, i) => asked <= ms && (resource.lives.granted[i] ?? Infinity) > ms).length
    const peak = Math.max(...resource.lives.asked.map(waitingAt))
    expect(peak).toBeGreaterThanOrEqual(convoy.waiting)
    expect(resource.messages.sent.length).toBeGreaterThan(4)
    expect(resource.messages.sent.length).toBeLessThanOrEqual(2000)
  }
})

it('a monitor writes them to its history, where rows and convoys are read again', async () => {
  const { host, run } = await lockedHost()
  await run(6)
  const { history, locks } = host.monitor
  history.flush()
  const reader = history.reader()
  const second = EPOCH_MS + 4000
  const block = reader.planeAt('lock_resources', second, 1000)
  expect(block?.atMs).toBe(second)
  const counters = locks?.world.trace.resources(5 * NS_PER_S, NS_PER_S) ?? []
  const grants = block?.columns[planeColumn('lock_resources', 'grants_per_s')] ?? new Float32Array()
  expect(grants.reduce((n, v) => n + v, 0)).toBe(counters.reduce((n, c) => n + c.grants, 0))
  const convoys = reader.convoys(EPOCH_MS, EPOCH_MS + 6000, 100)
  expect(convoys.length).toBeGreaterThan(0)
  expect(convoys.length).toBeLessThanOrEqual(20)
  for (const c of convoys) {
    const resource = locksFrame.shape.resource.parse(reader.convoyFrame(c.id))
    expect(resource?.name).toBe(c.resource)
  }
  reader.close()
  await host.close()
})
