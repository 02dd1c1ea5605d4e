import { describe, expect, it } from 'vitest'
import type { AlertKind } from '../monitor-events.ts'
import { DEFAULT_SETTINGS, PAPER_LITERAL, TWO_SIDED_PROFILE, type HaechiSettings } from '../settings.ts'
import { zipfShares } from '../workloads/distributions.ts'
import { NodeSimulation } from './node-simulation.ts'
import { NODE_DEFAULTS, type ClientSetup, type NodeSetup } from './setup.ts'

/** The paper's node with a period of 100 ms instead of 1 s. */
const PERIOD = 1e8
const settings: HaechiSettings = { ...DEFAULT_SETTINGS, periodNs: PERIOD, batch: 100 }
const fixed = { ...settings, estimator: { ...settings.estimator, enabled: false } }

const burst = (reservation: number, perPeriod: number, more: Partial<ClientSetup> = {}): ClientSetup => ({
  name: 'c',
  reservation,
  workload: { kind: 'burst', perPeriod, carry: true },
  ...more,
})
function nodeOf(clients: readonly ClientSetup[], more: Partial<NodeSetup> = {}): NodeSimulation {
  const made = NodeSimulation.create({ ...NODE_DEFAULTS, settings: fixed, clients, ...more })
  if (!made.ok) throw new Error(made.error.what)
  return made.value
}
const alerts = (node: NodeSimulation, kind: AlertKind): number[] =>
  node.events.items.flatMap((e) => (e.kind === 'alert' && e.alert === kind ? [e.client] : []))
const zipf = zipfShares(141_300, 5, 2, 0.6).map((r) => burst(r, r + 15_700))

describe('reservations', () => {
  it('are kept where equal shares break them, and lost when the paper is read to the letter', () => {
    const share = zipfShares(1_413_000, 5, 2, 0.6).map((r) => burst(r, r + 157_000))
    const first = (more: Partial<NodeSetup>): number => {
      const node = nodeOf(share, more)
      node.runUntil(2e9)
      return node.periods.items.at(-1)!.completed[0]!
    }
    const withoutEstimator = (s: HaechiSettings): HaechiSettings => ({ ...s, estimator: fixed.estimator })
    expect(first({ mode: 'bare', settings: DEFAULT_SETTINGS })).toBe(157_000)
    // Fixed omega: 5/6 of its 236,047; the rest is prevented by C_L.
    expect(first({ settings: withoutEstimator(DEFAULT_SETTINGS) })).toBeGreaterThan(196_000)
    // QoS is lost: within 2 % of the bare node.
    expect(first({ settings: withoutEstimator(PAPER_LITERAL) })).toBeLessThan(160_000)
  })

  it('are met by all once the estimator has learned the capacity', () => {
    const node = nodeOf(zipf, { settings })
    node.runUntil(40 * PERIOD)
    for (const p of node.periods.items.slice(-8))
      zipf.forEach((c, i) => expect(p.completed[i]! / c.reservation).toBeGreaterThan(0.97))
  })

  it('cost at most 0.15 % of the throughput', () => {
    const uniform = Array.from({ length: 10 }, () => burst(141_300, 298_300))
    const total = (mode: 'haechi' | 'bare'): number => {
      const node = nodeOf(uniform, { mode, settings: { ...DEFAULT_SETTINGS, estimator: fixed.estimator } })
      node.runUntil(2e9)
      return node.periods.items.at(-1)!.total
    }
    expect(1 - total('haechi') / total('bare')).toBeLessThanOrEqual(0.0015)
  })

  it('and limits hold to the I/O', () => {
    const node = nodeOf([burst(5000, 30_000, { limit: 10_000 }), burst(5000, 30_000)])
    node.runUntil(5 * PERIOD)
    expect(node.periods.items.map((p) => p.completed[0])).toEqual([10_000, 10_000, 10_000, 10_000, 10_000])
  })
})

describe('bad inputs', () => {
  const refusal = (clients: ClientSetup[], more: Partial<NodeSetup> = {}): [string, string] => {
    const made = NodeSimulation.create({ ...NODE_DEFAULTS, settings: fixed, clients, ...more })
    return made.ok ? ['ok', ''] : [made.error.code, made.error.why ?? '']
  }

  it('a reservation over the local or the global capacity is refused with which and by how much', () => {
    const [local, byLocal] = refusal([burst(40_001, 0)])
    expect([local, byLocal]).toEqual(['E_LOCAL_CAPACITY', 'it exceeds the capacity of one client by 1 I/Os per period'])
    const [all, byAll] = refusal([0, 1, 2, 3, 4].map(() => burst(32_000, 0)))
    expect(all).toBe('E_AGGREGATE_CAPACITY')
    expect(byAll).toBe("all reservations together exceed the node's capacity by 3000 I/Os")
  })

  it.each<[string, ClientSetup]>([
    ['E_TOKENS', burst(-1, 0)],
    ['E_TOKENS', burst(0.5, 0)],
    ['E_TOKENS', burst(NaN, 0)],
    ['E_TOKENS', burst(1, -1)],
    ['E_TOKENS', burst(1, 1, { limit: 1.5 })],
    ['E_TOKENS', burst(1, 1, { workload: { kind: 'poisson', perSecond: -3 } })],
    ['E_WORKLOAD', burst(1, 1, { workload: { kind: 'on-off', onNs: 0, offNs: 1, perSecond: 1 } })],
    ['E_RECORDS', burst(1, 1, { records: { records: 0, keys: 'uniform', reads: 1 } })],
  ])('are refused with %s: %o', (code, client) => expect(refusal([client])[0]).toBe(code))

  it('setups that cannot run are refused', () => {
    expect(refusal([], { settings: { ...fixed, periodNs: 0 } })[0]).toBe('E_PERIOD')
    expect(refusal([], { settings: { ...fixed, tickNs: 0 } })[0]).toBe('E_INTERVAL')
    expect(refusal([burst(1, 1), burst(1, 1)], { slots: 1 })[0]).toBe('E_SLOTS')
    expect(refusal([], { capacity: [{ atNs: 5, iops: 0 }] })[0]).toBe('E_CAPACITY')
    expect(refusal([], { noise: 2 })[0]).toBe('E_CAPACITY')
  })

  it('an unknown client changes nothing', () => {
    const node = nodeOf([burst(10, 10)])
    const attempts = [node.leave(3), node.crash(-1), node.reserve(1, 5), node.postDirect(9), node.evict(7)]
    for (const a of attempts) expect(a.ok ? 'ok' : a.error.code).toBe('E_CLIENT')
  })

  it('an I/O posted around the queue without a token never reaches the wire', () => {
    const node = nodeOf([burst(0, 0)])
    node.runUntil(1e6)
    const posted = node.postDirect(0)
    expect(posted.ok ? 'ok' : posted.error.code).toBe('EQOS_NOTOKEN')
    expect(node.client(0)!.tokens!.refused).toBe(1)
    expect(node.counters().dataIos).toBe(0)
  })
})

describe('clients that come and go', () => {
  it('a client that joins has the pool at once and its reservation from the next period on (A18)', () => {
    const node = nodeOf([burst(40_000, 60_000)])
    node.runUntil(PERIOD / 2)
    const index = node.join(burst(20_000, 60_000, { workload: { kind: 'backlogged' } }))
    expect(index).toEqual({ ok: true, value: 1 })
    node.setWorkload(1, { kind: 'poisson', perSecond: 350_000 })
    node.runUntil(PERIOD - 1e6)
    const t = node.client(1)!.tokens!
    expect([t.pushed, t.usedReservation]).toEqual([0, 0])
    expect(t.usedGlobal).toBeGreaterThan(1000)
    node.runUntil(PERIOD + 1e6)
    expect(node.client(1)!.tokens!.pushed).toBe(20_000)
  })

  it('the tokens of a leaving client are used by the others, and it gets no reservation again (A19)', () => {
    const node = nodeOf([burst(40_000, 0), ...[1, 2, 3, 4].map(() => burst(20_000, 60_000))])
    node.runUntil(PERIOD / 4)
    expect(node.leave(0).ok).toBe(true)
    node.runUntil(3 * PERIOD)
    const [first, second] = node.periods.items
    expect(first!.monitor!.yielded).toBeGreaterThan(29_000)
    expect([first!.monitor!.reserved, second!.monitor!.reserved]).toEqual([120_000, 80_000])
    expect(node.client(0)!.tokens!.pushed).toBe(40_000)
  })

  it('tokens of a crashed client come back by decay, and the node reports it as silent (A20)', () => {
    const run = (isCrashing: boolean): number => {
      const node = nodeOf([0, 1, 2, 3, 4].map(() => burst(31_000, 60_000)))
      node.runUntil(PERIOD / 2)
      if (isCrashing) node.crash(0)
      node.runUntil(4 * PERIOD)
      expect(alerts(node, 'silent-client')).toEqual(isCrashing ? [0] : [])
      return node.periods.items
        .at(-1)!
        .completed.slice(1)
        .reduce((a, b) => a + b, 0)
    }
    // The four others have 124,000 reserved; C_L bounds them, and the client gets nearly all of the rest.
    expect(run(false)).toBeLessThan(127_000)
    expect(run(true)).toBeGreaterThan(145_000)
  })

  it('a change of reservation waits for the next period (A21)', () => {
    const node = nodeOf([burst(10_000, 0)])
    node.runUntil(PERIOD / 2)
    expect(node.reserve(0, 12_000).ok).toBe(true)
    expect(node.engine(0)!.reservation).toBe(10_000)
    node.runUntil(PERIOD + 1e6)
    expect(node.engine(0)!.reservation).toBe(12_000)
  })
})

describe('alerts', () => {
  it('a client that never uses its reservation is alerted once, after `alertAfter` periods', () => {
    const node = nodeOf([burst(1000, 500), burst(1000, 90_000)])
    node.runUntil(10 * PERIOD)
    expect(alerts(node, 'over-reservation')).toEqual([0])
    node.runUntil(14 * PERIOD)
    expect(alerts(node, 'over-reservation')).toEqual([0])
  })

  it('a capacity below the reservations is overcommitted, and admits no client', () => {
    const node = nodeOf(
      Array.from({ length: 10 }, () => burst(15_000, 30_000)),
      { settings, capacity: [{ atNs: 2 * PERIOD, iops: 1_350_000 }] },
    )
    node.runUntil(12 * PERIOD)
    expect(alerts(node, 'overcommitted')[0]).toBe(-1)
    const joined = node.join(burst(1, 1))
    expect(joined.ok ? 'ok' : joined.error.code).toBe('E_OVERCOMMITTED')
    expect(node.reserve(0, 10_000).ok).toBe(true)
  })

  it('a backlogged client that cannot finish any more is at risk', () => {
    const node = nodeOf(zipf)
    node.runUntil(PERIOD)
    expect(alerts(node, 'local-capacity-risk')).toEqual([0, 1])
  })
})

describe('views of a node', () => {
  it('no data I/O wakes its CPU; every two-sided one does', () => {
    const node = nodeOf(zipf)
    node.runUntil(PERIOD)
    expect(node.counters().dataIos).toBeGreaterThan(100_000)
    expect(node.counters().cpuEventsForData).toBe(0)
    const twoSided = nodeOf(zipf, { mode: 'two-sided', profile: TWO_SIDED_PROFILE })
    twoSided.runUntil(PERIOD)
    expect(twoSided.counters().cpuEventsForData).toBe(twoSided.counters().dataIos)
  })

  it('is the same for the same seed, however often it is looked at', () => {
    const make = (): NodeSimulation =>
      nodeOf([...zipf.slice(2), burst(0, 0, { workload: { kind: 'poisson', perSecond: 100_000 } })], { noise: 0.01 })
    const a = make()
    const b = make()
    a.runUntil(3 * PERIOD)
    for (let at = 0; at <= 3 * PERIOD; at += 777_777) {
      b.runUntil(at)
      b.client(0)
      b.latency()
    }
    b.runUntil(3 * PERIOD)
    expect(b.periods.items).toEqual(a.periods.items)
    expect(b.samples.read(300)).toEqual(a.samples.read(300))
  })

  it('samples a row a millisecond, decimated when read', () => {
    const node = nodeOf(zipf, { samples: { everyNs: 1e6, rows: 50 } })
    node.runUntil(PERIOD)
    expect(node.samples.read(1000).map((r) => r.node.t)).toEqual(Array.from({ length: 50 }, (_, i) => (i + 51) * 1e6))
    const rows = node.samples.read(1000, 10)
    expect(rows.map((r) => r.node.t / 1e6)).toEqual([51, 61, 71, 81, 91])
    expect(rows[0]!.clients[0]).toMatchObject({ phase: 1 })
    expect(rows[0]!.clients[0]!.xi).toBeGreaterThan(0)
  })

  it('counts reads and updates of records, and each update at its record', () => {
    const records = { records: 1000, keys: 'zipfian', reads: 0.5 } as const
    const node = nodeOf([burst(1000, 4000, { records })])
    node.runUntil(PERIOD)
    const { reads, updates } = node.client(0)!
    expect(reads + updates).toBe(4000)
    expect(updates / 4000).toBeCloseTo(0.5, 1)
    expect(node.store!.versions.reduce((a, b) => a + b, 0)).toBe(updates)
    // Zipfian: the hottest record takes far more than its even share of 2.
    expect(Math.max(...node.store!.versions)).toBeGreaterThan(100)
  })

  it('traffic from outside takes capacity without tokens', () => {
    const outside = burst(0, 15_000, { isOutside: true })
    const node = nodeOf([...zipf, outside])
    node.runUntil(2 * PERIOD)
    const { completed, total } = node.periods.items.at(-1)!
    expect(completed[10]).toBe(15_000)
    expect(total).toBe(completed.slice(0, 10).reduce((a, b) => a + b, 0))
    expect(node.client(10)!.tokens).toBeNull()
  })
})
