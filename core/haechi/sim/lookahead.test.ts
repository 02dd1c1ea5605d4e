import fc from 'fast-check'
import { expect, it } from 'vitest'
import { PRESET_SETTINGS, DEFAULT_SETTINGS, type HaechiSettings } from '../settings.ts'
import { NaiveNode } from '#tests/kits/core/haechi/naive-node.ts'
import { zipfShares } from '../workloads/distributions.ts'
import type { Workload } from '../workloads/request-source.ts'
import { NodeSimulation } from './node-simulation.ts'
import { NODE_DEFAULTS, type ClientSetup, type NodeSetup } from './setup.ts'

/** Runs both and compares every completion: counts and latency sums by client, all engine totals, every event and its time. */
function compare(setup: NodeSetup, untilNs: number, stepNs = untilNs): void {
  const made = NodeSimulation.create(setup)
  if (!made.ok) throw new Error(made.error.what)
  const node = made.value
  const naive = new NaiveNode(setup)
  for (let at = stepNs; at <= untilNs; at += stepNs) {
    node.runUntil(at)
    naive.runUntil(at)
    setup.clients.forEach((_, i) => {
      const plain = naive.clients[i]!
      const { completed, tokens, latency } = node.client(i)!
      expect(completed).toBe(plain.completed)
      expect(Math.round(latency.mean * latency.count * 1000)).toBe(plain.latencyNs)
      expect(node.outstanding(i)).toBe(plain.engine.inflight)
      // Queued requests without effect have not been processed yet; everything else is the same.
      expect(tokens).toEqual(plain.engine.totals)
      expect(node.engine(i)!.reservationTokens).toBe(plain.engine.reservationTokens)
    })
    expect(node.pool).toBe(naive.control.memory.pool().tokens)
  }
  expect(node.events.items).toEqual(naive.events.slice(-node.events.items.length))
  expect(node.counters().cpuEventsForData).toBe(0)
}

const base: NodeSetup = { ...NODE_DEFAULTS, samples: { everyNs: 1e6, rows: 0 } }
const clients = (reservations: readonly number[], workload: (r: number, i: number) => Workload): ClientSetup[] =>
  reservations.map((reservation, i) => ({ name: `c${i}`, reservation, workload: workload(reservation, i) }))

it('has the same completions as an event-by-event node, in the setup of the paper', () => {
  const reservations = zipfShares(141_300, 5, 2, 0.6)
  const burst = clients(reservations, (r) => ({ kind: 'burst', perPeriod: r + 15_700, carry: true }))
  const settings = { ...DEFAULT_SETTINGS, periodNs: 1e8 }
  compare({ ...base, settings, clients: burst }, 3e8, 1e7)
})

it('completes the same with constant rates, limits and a short reservation', () => {
  const shares = [34_000, 34_000, 34_000, 8000, 8000, 8000, 8000]
  const settings = { ...DEFAULT_SETTINGS, periodNs: 1e8 }
  const constant = clients(
    shares.map((s) => Math.floor(s * 0.8)),
    (_, i) => ({ kind: 'constant', perPeriod: shares[i]!, carry: i % 2 === 0 }),
  ).map((c, i) => (i === 1 ? { ...c, limit: 30_000 } : c))
  compare({ ...base, settings, clients: constant }, 3e8, 1e7)
})

const workload = fc.oneof(
  fc.record({ kind: fc.constant('burst' as const), perPeriod: fc.nat(900), carry: fc.boolean() }),
  fc.record({ kind: fc.constant('constant' as const), perPeriod: fc.nat(900), carry: fc.boolean() }),
  fc.record({ kind: fc.constant('poisson' as const), perSecond: fc.nat(90_000) }),
  fc.record({
    kind: fc.constant('on-off' as const),
    onNs: fc.integer({ min: 1, max: 3e6 }),
    offNs: fc.nat(3e6),
    perSecond: fc.nat(200_000),
  }),
  fc.constant({ kind: 'backlogged' as const }),
)

it('completes the same in small nodes of any kind', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(120), workload), { minLength: 1, maxLength: 7 }),
      fc.integer({ min: 1, max: 64 }),
      fc.integer({ min: 1, max: 300 }),
      fc.constantFrom(...Object.values(PRESET_SETTINGS)),
      fc.nat(2000),
      (list, window, batch, preset, conversionNs) => {
        const settings: HaechiSettings = {
          ...preset,
          periodNs: 1e7,
          tickNs: 300_017,
          checkNs: 410_003,
          retryNs: 500_009,
          window,
          phase2Window: window,
          batch,
        }
        const profile = { globalIops: 157_001, localIops: 41_003 }
        const fabric = { ...base.fabric, conversionNs }
        const made = clients(
          list.map(([r]) => r),
          (_, i) => list[i]![1],
        )
        compare({ ...base, settings, profile, fabric, clients: made }, 4e7, 4e6)
      },
    ),
    { numRuns: 150 },
  )
})
