import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { RunResult } from '../haechi/measure.ts'
import type { TokenCost } from '../haechi/token-cost.ts'

const LAUNCHER = join(import.meta.dirname, 'sluice.mjs')

/** Runs the command as a shell would. */
async function node(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [LAUNCHER, 'haechi', 'node', ...args], { stdio: 'pipe' })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (t: string) => (stdout += t))
  child.stderr.setEncoding('utf8').on('data', (t: string) => (stderr += t))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}

describe('sluice haechi node', () => {
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
    [1, ['--capacity', '1000', '--reservations', '2000'], 'over the node'],
    [1, ['--bare', '--records', '99999999'], 'A node cannot hold'],
    [2, ['--reservations', '1,2,3'], '3 reservations for 2 clients'],
    [2, ['--reservations=-1'], 'whole number'],
    [2, ['--clients', '0'], 'whole number'],
    [2, ['--seconds', '0'], 'Seconds'],
  ])('ends with %i for %j', async (expected, args, told) => {
    const { code, stderr } = await node(...args)
    expect(code).toBe(expected)
    expect(stderr).toContain(told)
  })
})
