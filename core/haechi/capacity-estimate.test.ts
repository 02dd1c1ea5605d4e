import { describe, expect, it } from 'vitest'
import { NS_PER_S } from '../base/units.ts'
import { learnCapacity, SaturationMeter } from './capacity-estimate.ts'
import { PAPER_PROFILE, PRESET_SETTINGS } from './settings.ts'
import { NodeSimulation } from './sim/node-simulation.ts'
import { NODE_DEFAULTS } from './sim/setup.ts'

const MS = 1e6

describe('a meter of saturation', () => {
  const meter = (): SaturationMeter => {
    const made = new SaturationMeter(PAPER_PROFILE)
    made.beginPeriod()
    return made
  }

  it('counts the throughput of the times in which four clients are backlogged at both ends', () => {
    const of = meter()
    const checks = [
      [0, 10, 0],
      [100, 4, 150_000],
      [200, 4, 300_000],
      [300, 3, 310_000],
      [400, 4, 320_000],
      [500, 4, 470_000],
    ] as const
    for (const [ms, backlogged, used] of checks) of.check(ms * MS, backlogged, used)
    expect(of.tokens(NS_PER_S)).toBeCloseTo(1_500_000, 6)
  })

  it('has no value for low demand, or for less than 2 % of a period', () => {
    const idle = meter()
    for (let ms = 0; ms < 1000; ms++) idle.check(ms * MS, 3, ms * 1000)
    expect(idle.tokens(NS_PER_S)).toBeNull()
    const short = meter()
    for (let ms = 0; ms < 20; ms++) short.check(ms * MS, 9, ms * 1000)
    expect(short.tokens(NS_PER_S)).toBeNull()
  })

  it('begins again with each period', () => {
    const of = meter()
    of.check(0, 9, 0)
    of.check(500 * MS, 9, 500_000)
    of.beginPeriod()
    of.check(1000 * MS, 9, 0)
    expect(of.tokens(NS_PER_S)).toBeNull()
  })
})

describe('learning', () => {
  const rule = { history: 3, increment: 100 }
  it('keeps the estimate without evidence', () => {
    const estimate = { omega: 5000, window: [5000] }
    expect(learnCapacity(estimate, null, rule)).toEqual({ estimate, action: 'keep' })
  })

  it('averages measurements that are alike, and forgets those from before a change', () => {
    const one = learnCapacity({ omega: 9000, window: [] }, 5000, rule).estimate
    expect(one).toEqual({ omega: 5000, window: [5000] })
    const two = learnCapacity(one, 5060, rule).estimate
    expect(two).toEqual({ omega: 5030, window: [5000, 5060] })
    expect(learnCapacity(two, 4000, rule).estimate).toEqual({ omega: 4000, window: [4000] })
    const full = { omega: 0, window: [5000, 5010, 5020] }
    expect(learnCapacity(full, 5030, rule).estimate.window).toEqual([5010, 5020, 5030])
  })
})

describe('a node under an advance', () => {
  const nodeOf = (preset: 'deadline' | 'evidence'): NodeSimulation => {
    const made = NodeSimulation.create({
      ...NODE_DEFAULTS,
      settings: { ...PRESET_SETTINGS[preset], periodNs: 100 * MS, batch: 100 },
      clients: Array.from({ length: 10 }, (_, i) => ({
        name: `c${i}`,
        reservation: 10_000,
        workload: { kind: 'burst', perPeriod: 40_000, carry: true },
      })),
    })
    if (!made.ok) throw new Error(made.error.what)
    return made.value
  }
  const fallbacks = (node: NodeSimulation): string[] =>
    node.events.items.flatMap((e) => (e.kind === 'alert' && e.alert === 'fallback' ? [e.what] : []))

  it('learns a capacity that fell by 30 % within a period', () => {
    const node = nodeOf('evidence')
    node.runUntil(300 * MS)
    node.setCapacity(0.7 * PAPER_PROFILE.globalIops)
    node.runUntil(600 * MS)
    expect(Math.abs(node.periods.items.at(-1)!.monitor!.omega / 109_900 - 1)).toBeLessThan(0.01)
    expect(fallbacks(node)).toEqual([])
  })

  it.each([
    ['deadline', 'deadline is replaced by ledger'],
    ['evidence', 'evidence is replaced by the rule of three sigma'],
  ] as const)('returns to the paper when a client is silent, and says so once: %s', (preset, text) => {
    const node = nodeOf(preset)
    node.runUntil(250 * MS)
    expect(fallbacks(node)).toEqual([])
    node.crash(3)
    node.runUntil(800 * MS)
    expect(fallbacks(node)).toHaveLength(1)
    expect(fallbacks(node)[0]).toContain(text)
  })
})
