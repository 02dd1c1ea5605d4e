/**
 * Conservation of tokens in every period of random runs: small nodes; clients that join, leave, crash or change reservation and workload
 * mid-period; varying capacity. RUNS of them by default; verified with HAECHI_RUNS=10000.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { BASIC, DEFAULT_SETTINGS, PAPER_LITERAL, PRESET_SETTINGS, type HaechiSettings } from './settings.ts'
import { NodeSimulation } from './sim/node-simulation.ts'
import { NODE_DEFAULTS } from './sim/setup.ts'
import { TokenAudit } from '#tests/kits/core/haechi/token-audit.ts'

const RUNS = Number(process.env.HAECHI_RUNS ?? 500)
const PERIOD_NS = 5_000_000

const workload = fc.oneof(
  fc.record({ kind: fc.constant('burst' as const), perPeriod: fc.nat(600), carry: fc.boolean() }),
  fc.record({ kind: fc.constant('constant' as const), perPeriod: fc.nat(400), carry: fc.boolean() }),
  fc.record({ kind: fc.constant('poisson' as const), perSecond: fc.nat(80_000) }),
  fc.constant({ kind: 'backlogged' as const }),
  fc.constant({ kind: 'idle' as const }),
)
const client = fc.record({
  name: fc.constant('c'),
  reservation: fc.nat(200),
  limit: fc.option(fc.nat(300), { freq: 4 }),
  workload,
})
const change = fc.record({
  kind: fc.constantFrom('join', 'leave', 'crash', 'evict', 'reserve', 'workload', 'capacity', 'direct'),
  after: fc.nat(PERIOD_NS),
  who: fc.nat(7),
  client,
  iops: fc.integer({ min: 50_000, max: 200_000 }),
})
const settings = fc.record({
  preset: fc.constantFrom(DEFAULT_SETTINGS, ...Object.values(PRESET_SETTINGS), BASIC),
  budget: fc.boolean(),
  window: fc.integer({ min: 1, max: 32 }),
  batch: fc.integer({ min: 1, max: 150 }),
  batchRule: fc.constantFrom('fixed' as const, 'backlog' as const),
  conversionNs: fc.constantFrom(0, 500, 20_000),
})

it(`conserves tokens in every period of ${RUNS} random runs`, { timeout: 600_000 }, () => {
  let periods = 0
  fc.assert(
    fc.property(
      settings,
      fc.array(client, { maxLength: 5 }),
      fc.array(change, { maxLength: 8 }),
      fc.nat(1000),
      (s, clients, changes, seed) => {
        const made = NodeSimulation.create({
          ...NODE_DEFAULTS,
          settings: {
            ...s.preset,
            conversion: s.budget && s.preset === PAPER_LITERAL ? 'budget' : s.preset.conversion,
            periodNs: PERIOD_NS,
            tickNs: 200_000,
            checkNs: 200_000,
            retryNs: 200_000,
            missedReports: 3,
            window: s.window,
            phase2Window: Math.ceil(s.window / 2),
            batch: s.batch,
            batchRule: s.batchRule,
          } satisfies HaechiSettings,
          profile: { globalIops: 157_000, localIops: 40_000 },
          fabric: { ...NODE_DEFAULTS.fabric, conversionNs: s.conversionNs },
          seed,
          slots: 16,
          samples: { everyNs: 1_000_000, rows: 0 },
          clients,
        })
        if (!made.ok) {
          expect(made.error.code).toMatch(/^E_(AGGREGATE|LOCAL)_CAPACITY$/)
          return
        }
        const node = made.value
        const audit = new TokenAudit(node)
        let at = 0
        const runTo = (until: number): void => {
          for (let end = node.now - (node.now % PERIOD_NS) + PERIOD_NS; end <= until; end += PERIOD_NS) {
            node.runUntil(end)
            expect(audit.violations()).toEqual([])
            periods++
          }
          node.runUntil(until)
        }
        for (const c of changes) {
          runTo((at += c.after))
          if (c.kind === 'join') node.join(c.client)
          else if (c.kind === 'leave') node.leave(c.who)
          else if (c.kind === 'crash' && node.crash(c.who).ok) audit.crashed(c.who)
          else if (c.kind === 'evict' && node.client(c.who)?.state === 'crashed') node.evict(c.who)
          else if (c.kind === 'reserve') node.reserve(c.who, c.client.reservation, c.client.limit)
          else if (c.kind === 'workload') node.setWorkload(c.who, c.client.workload)
          else if (c.kind === 'capacity') node.setCapacity(c.iops)
          else if (c.kind === 'direct') node.postDirect(c.who)
        }
        runTo(at + 3 * PERIOD_NS - (at % PERIOD_NS))
      },
    ),
    { numRuns: RUNS },
  )
  expect(periods).toBeGreaterThan(RUNS)
})
