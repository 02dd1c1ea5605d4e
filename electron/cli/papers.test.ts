import { describe, expect, it } from 'vitest'
import { runSluice, type Ended } from '#tests/kits/cli/in-process.ts'

const papers = (...args: readonly string[]): Promise<Ended> => runSluice(['papers', ...args])

describe('sluice papers', () => {
  it('answers one JSON document of claims, with the seeds that were asked for', async () => {
    const { code, stdout, stderr } = await papers('--only', 'IV-E', '--seeds', '7,8,9', '--json')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const { claims, seconds } = JSON.parse(stdout) as { claims: Record<string, unknown>[]; seconds: number }
    expect(seconds).toBeGreaterThan(0)
    expect(claims).toHaveLength(16)
    expect(claims[0]).toMatchObject({
      id: 'adaptbf.IV-E.1',
      system: 'adaptbf',
      ref: 'IV-E3, Fig 6(b)',
      what: 'Job1 (bursty, high priority) gains over No BW',
      published: 'significant gain',
      comparator: '>=',
      bound: 0.15,
      ok: true,
    })
    for (const { id, measured } of claims) expect(measured, String(id)).toBeTypeOf('number')
  })

  it('prints a table otherwise: published beside measured, and why a figure cannot be reached', async () => {
    const { code, stdout } = await papers('--only', 'adaptbf.IV-F-endless.10', '--seeds', '1')
    expect(code).toBe(0)
    expect(stdout).toMatch(/adaptbf\.IV-F-endless\.10 +minimal loss +-0\.\d+ +-0\.55 to -0\.3 +ok/)
    expect(stdout).toContain('Cannot be reached')
    expect(stdout).toContain('1 of 1 claims hold')
  })

  it.each([
    ['--only', 'IV-Z', 'no claim IV-Z'],
    ['--seeds', '1,x', 'Whole numbers'],
    ['--seeds', '', 'Whole numbers'],
  ])('refuses %s %s as usage', async (option, value, message) => {
    const { code, stdout, stderr } = await papers(option, value)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
  })
})
