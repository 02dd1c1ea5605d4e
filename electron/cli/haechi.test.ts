import { describe, expect, it } from 'vitest'
import { runSluice, type Ended } from '#tests/kits/cli/in-process.ts'
import type { RunResult } from '../haechi/measure.ts'
import type { TokenCost } from '../haechi/token-cost.ts'

const node = (...args: string[]): Promise<Ended> => runSluice(['haechi', 'measure', ...args])

describe('sluice haechi measure', () => {
  it('runs clients with tokens and without, and conserves tokens', { timeout: 60_000 }, async () => {
    const given = ['--reservations', '2000,500', '--limits', '-,900', '--capacity', '5000', '--records', '64']
    const { code, stdout, stderr } = await node(...given, '--seconds', '0.2', '--json')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const report = JSON.parse(stdout) as { cores: number; run: RunResult; cost: TokenCost }
    expect(report).toMatchObject({ profile: { globalIops: 5000, localIops: 5000 }, reservations: [2000, 500] })
    expect(report.run.wakeUps.data).toBe(0)
    expect(report.run.dataIos).toBeGreaterThan(0)
    expect(report.run.audit.violations).toEqual([])
    expect(report.run.audit.mostHandedOut).toBeLessThanOrEqual(1)
    expect(report.cost.violations).toEqual([])
    expect(report.cost.haechi.iops).toBeGreaterThan(0)
    expect(report.cost.bare.iops).toBeGreaterThan(0)
  })

  it.each([
    [1, ['--capacity', '1000', '--reservations', '2000'], 'capacity by 1000 I/Os'],
    [1, ['--bare', '--records', '99999999'], 'A node cannot hold'],
    [2, ['--reservations', '1,2,3'], '3 reservations for 2 clients'],
    [2, ['--reservations=-1'], 'whole number'],
    [2, ['--clients', '0'], 'whole number'],
    [2, ['--seconds', '0'], 'Seconds'],
  ])('ends with %i for %j', async (expected, args, reported) => {
    const { code, stderr } = await node(...args)
    expect(code).toBe(expected)
    expect(stderr).toContain(reported)
  })
})
