import { afterEach, describe, expect, it } from 'vitest'
import type { Result } from '#core/base/result.ts'
import { RECORD_BYTES } from '#core/haechi/workloads/records.ts'
import { audit } from './audit.ts'
import { NODE_SETTINGS, type RealClient, type RealNodeSetup } from './node-setup.ts'
import { RealNode } from './real-node.ts'

/** A tenth of a second instead of one, and a node that any machine outperforms. */
const PERIOD_NS = 1e8
const OMEGA = 4000
/** I/Os that one client can do in a period. */
const LOCAL = 3600
const base: RealNodeSetup = {
  mode: 'haechi',
  slots: 6,
  records: 64,
  completionBatch: 8,
  seed: 1,
  clients: [],
  profile: { globalIops: OMEGA * 10, localIops: LOCAL * 10 },
  settings: {
    ...NODE_SETTINGS,
    periodNs: PERIOD_NS,
    batch: 100,
    // A thread that waits for a core is not dead.
    missedReports: 10_000,
    estimator: { ...NODE_SETTINGS.estimator, enabled: false },
  },
}
const client = (reservation: number, more: Partial<RealClient> = {}): RealClient => ({
  reservation,
  limit: null,
  workload: { kind: 'backlogged' },
  mix: { keys: 'uniform', reads: 0.5 },
  ...more,
})

const open: RealNode[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((node) => node.close()))
})
async function nodeOf(clients: readonly RealClient[], more: Partial<RealNodeSetup> = {}): Promise<RealNode> {
  const made = await RealNode.open({ ...base, clients, ...more })
  if (!made.ok) throw new Error(made.error.what)
  open.push(made.value)
  return made.value
}
const code = (result: Result<unknown>): string => (result.ok ? 'ok' : result.error.code)

/** Waits whole periods until a condition holds, however long threads wait for a core. */
async function until(node: RealNode, isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) {
    expect(node.failure).toBeUndefined()
    await node.nextPeriods(1)
  }
}
const completed = async (node: RealNode, index: number): Promise<number> =>
  (await node.mark()).clients[index]?.completed ?? 0
const logsOf = (node: RealNode, index: number) => node.logs.items.filter((l) => l.client === index)

/** Closes the node and expects every token to be accounted for. */
async function closed(node: RealNode, periods: number): Promise<void> {
  await node.close()
  const { violations, periods: audited } = audit(node)
  expect(violations).toEqual([])
  expect(audited).toBeGreaterThanOrEqual(periods)
  expect(node.failure).toBeUndefined()
  expect(node.memory.wakeUps.data).toBe(0)
}

describe('tokens under true concurrency', () => {
  it('are conserved in every period of clients that want more than there is', async () => {
    const node = await nodeOf([client(1500), client(500), client(0)])
    await node.nextPeriods(8)
    for (let i = 0; i < 3; i++) await until(node, async () => (await completed(node, i)) > 0)
    await closed(node, 8)
    const granted = node.periods.items.reduce((sum, p) => sum + p.claimed, 0)
    expect(granted).toBeGreaterThan(0)
    for (let i = 0; i < 3; i++) expect(node.end(i)!.copied).toBeGreaterThan(0)
  })

  it.each(['literal', 'budget', 'none'] as const)('are conserved with conversion by %s', async (conversion) => {
    const node = await nodeOf([client(1000), client(1000)], { settings: { ...base.settings, conversion } })
    await node.nextPeriods(3)
    await closed(node, 3)
  })

  it('are conserved with requests that come and go', async () => {
    const node = await nodeOf([
      client(1000, { workload: { kind: 'burst', perPeriod: 900, carry: false } }),
      client(1000, { workload: { kind: 'poisson', perSecond: 20_000 } }),
      client(1000, { workload: { kind: 'constant', perPeriod: 300, carry: true } }),
      client(500, { workload: { kind: 'idle' } }),
    ])
    await node.nextPeriods(5)
    await until(node, () => logsOf(node, 3).length > 3 && logsOf(node, 3).at(-1)!.ledger.yielded > 0)
    await closed(node, 5)
    // The idle client's unused tokens came back, except those after its last tick.
    const idle = logsOf(node, 3)
    expect(idle.length).toBeGreaterThan(3)
    for (const { completed, ledger } of idle) {
      expect(completed).toBe(0)
      expect(ledger.pushed).toBe(ledger.yielded + ledger.voidedReservation + ledger.reservationTokens)
    }
    expect(idle.at(-1)!.ledger.yielded).toBeGreaterThan(0)
  })

  it('are held to a limit to the I/O', async () => {
    const node = await nodeOf([client(500, { limit: 700 }), client(0)])
    await until(node, () => node.periods.items.length >= 4 && logsOf(node, 0).length > 2)
    await closed(node, 4)
    const limited = logsOf(node, 0)
    expect(limited.length).toBeGreaterThan(2)
    for (const { issued, limit } of limited) expect(issued).toBeLessThanOrEqual(limit!)
  })

  it('follow the estimator from period to period', async () => {
    const settings = { ...base.settings, estimator: NODE_SETTINGS.estimator }
    const node = await nodeOf([client(1000), client(1000)], { settings })
    await node.nextPeriods(4)
    await closed(node, 4)
    const items = node.periods.items
    expect(items.map((p) => p.epoch)).toEqual(items.map((_, i) => i + 1))
    items.slice(1).forEach((p, i) => expect(p.omega).toBe(items[i]!.nextOmega))
  })
})

describe('clients that come and go', () => {
  it('join with the pool at once, and with their reservation from the next period on (A18)', async () => {
    const node = await nodeOf([client(1000)])
    await node.nextPeriods(1)
    expect(await node.join(client(800))).toEqual({ ok: true, value: 1 })
    await until(node, () => logsOf(node, 1).length > 2)
    await closed(node, 4)
    const [first, second] = logsOf(node, 1)
    expect(first!.reservation).toBe(0)
    expect(second).toMatchObject({ epoch: first!.epoch + 1, reservation: 800 })
  })

  it('leave in the middle of a period: their tokens go back (A19)', async () => {
    const node = await nodeOf([client(1000), client(2000, { workload: { kind: 'idle' } })])
    await node.nextPeriods(1)
    expect(code(await node.leave(1))).toBe('ok')
    expect(node.state(1)).toBe('left')
    expect(code(await node.leave(1))).toBe('E_CLIENT')
    await node.nextPeriods(3)
    await closed(node, 4)
    const last = logsOf(node, 1).at(-1)!
    expect(last.yielded).toBe(2000)
    expect(last.ledger.reservationTokens).toBe(0)
    expect(node.periods.items.at(-1)!.reserved).toBe(1000)
  })

  it('crash in the middle of a period: their reservation decays, and is free when they are evicted (A20)', async () => {
    const settings = { ...base.settings, missedReports: 5 }
    const node = await nodeOf([client(500), client(3000, { workload: { kind: 'idle' } })], { settings })
    await node.nextPeriods(1)
    expect(code(await node.crash(1))).toBe('ok')
    // Without reports it counts as unused after a whole period.
    await node.nextPeriods(3)
    const period = node.periods.items.at(-1)!
    const crashed = period.clients.find((c) => c.client === 1)!
    expect(crashed).toMatchObject({ reservation: 3000, completed: 0 })
    expect(period.yielded).toBeGreaterThan(2000)
    expect(node.events.items).toContainEqual(expect.objectContaining({ alert: 'silent-client', client: 1 }))
    expect(code(await node.join(client(3600)))).toBe('E_AGGREGATE_CAPACITY')
    expect(code(await node.evict(1))).toBe('ok')
    expect(code(await node.join(client(3500)))).toBe('ok')
    await node.nextPeriods(2)
    expect(node.periods.items.at(-1)!.reserved).toBe(4000)
    await closed(node, 6)
  })

  it('crash while they claim: no more than a batch is unaccounted for', async () => {
    const node = await nodeOf([client(0), client(0), client(0)])
    await node.nextPeriods(2)
    for (const i of [0, 2]) {
      expect(code(await node.crash(i))).toBe('ok')
      await node.nextPeriods(1)
    }
    await node.nextPeriods(1)
    await closed(node, 5)
  })

  it('change their reservations from the next period on (A21)', async () => {
    const node = await nodeOf([client(1000)])
    await node.nextPeriods(1)
    expect(code(await node.reserve(0, 2500, 3000))).toBe('ok')
    expect(code(await node.reserve(0, LOCAL + 1, null))).toBe('E_LOCAL_CAPACITY')
    await node.nextPeriods(3)
    await closed(node, 4)
    expect(node.logs.items.at(-1)).toMatchObject({ reservation: 2500, limit: 3000 })
  })
})

describe('records', () => {
  it('are copied by READs and WRITEs, one for each token', async () => {
    const node = await nodeOf([client(1000)])
    // Each record has the id of its last writer at both ends.
    const writers = (): number[] => {
      const { buffer, layout } = node.memory
      const by = Array.from({ length: layout.records }, (_, r) => {
        const words = new Uint32Array(buffer, layout.store + r * RECORD_BYTES, RECORD_BYTES / 4)
        expect([...words.subarray(-2)]).toEqual([...words.subarray(0, 2)])
        return words[0]!
      }).filter((writer) => writer !== 0)
      return [...new Set(by)].toSorted()
    }
    await until(node, async () => (await completed(node, 0)) > 1000)
    expect(code(await node.leave(0))).toBe('ok')
    // With two concurrent ones, one could have overwritten everything of the other.
    expect(writers()).toEqual([1])
    expect(code(await node.join(client(1000, { mix: { keys: 'zipfian', reads: 0 } })))).toBe('ok')
    await until(node, async () => (await completed(node, 1)) > 0)
    await closed(node, 2)
    const mixed = node.end(0)!
    const writer = node.end(1)!
    expect(mixed.reads + mixed.updates).toBe(mixed.copied)
    expect(mixed.reads).toBeGreaterThan(0)
    expect(writer).toMatchObject({ reads: 0, updates: writer.copied })
    expect(mixed.verbs.read).toBe(mixed.reads)
    expect(writers()).toContain(2)
    expect(writers().filter((who) => who !== 1 && who !== 2)).toEqual([])
  })

  it('are served without tokens on a bare node', async () => {
    const node = await nodeOf([client(0), client(0)], { mode: 'bare' })
    const { clients } = await node.mark()
    while ((await node.mark()).clients.some((m, i) => m!.completed <= clients[i]!.completed))
      await new Promise(setImmediate)
    await node.close()
    expect(node.memory.wakeUps).toEqual({ timer: 0, send: 0, data: 0 })
    expect(node.memory.counters(0).granted).toBe(0)
    expect(node.end(0)!.copied).toBeGreaterThan(0)
    expect(node.end(0)!.verbs.faa).toBe(0)
  })
})

describe('bad input', () => {
  const refusal = async (clients: readonly RealClient[], more: Partial<RealNodeSetup> = {}): Promise<string> => {
    const made = await RealNode.open({ ...base, clients, ...more })
    if (made.ok) open.push(made.value)
    return code(made)
  }

  it.each<[string, readonly RealClient[], Partial<RealNodeSetup>]>([
    ['E_TOKENS', [client(-1)], {}],
    ['E_TOKENS', [client(0.5)], {}],
    ['E_TOKENS', [client(1, { limit: -2 })], {}],
    ['E_LOCAL_CAPACITY', [client(LOCAL + 1)], {}],
    ['E_AGGREGATE_CAPACITY', [client(LOCAL), client(OMEGA - LOCAL + 1)], {}],
    ['E_PERIOD', [], { settings: { ...base.settings, periodNs: 0 } }],
    ['E_INTERVAL', [], { settings: { ...base.settings, tickNs: 0 } }],
    ['E_CAPACITY', [], { profile: { globalIops: 0, localIops: 1 } }],
    ['E_SLOTS', [client(0), client(0)], { slots: 1 }],
    ['E_SLOTS', [], { slots: 1e9 }],
    ['E_RECORDS', [], { records: 2 ** 30 }],
    ['E_RECORDS', [client(0, { mix: { keys: 'uniform', reads: 2 } })], {}],
    ['E_COMPLETIONS', [], { completionBatch: 65 }],
  ])('is refused with %s', async (expected, clients, more) => expect(await refusal(clients, more)).toBe(expected))

  it('an unknown client changes nothing', async () => {
    const node = await nodeOf([client(10)])
    const attempts = [node.leave(3), node.crash(-1), node.reserve(1, 5, null), node.evict(0)]
    for (const attempt of attempts) expect(code(await attempt)).toBe('E_CLIENT')
  })

  it('a client more than there are slots is refused, the others continue', async () => {
    const node = await nodeOf([client(10)], { slots: 1 })
    expect(code(await node.join(client(0)))).toBe('E_SLOTS')
    await node.nextPeriods(1)
    await closed(node, 1)
  })
})
