import { describe, expect, it } from 'vitest'
import { runSluice, type Ended } from '#tests/kits/cli/in-process.ts'

const papers = (...args: readonly string[]): Promise<Ended> => runSluice(['papers', ...args])

describe('sluice papers', () => {
  it('answers one JSON document of claims, counts and fits, with the seeds that were asked for', async () => {
    const { code, stdout, stderr } = await papers('--only', 'IV-E', '--seeds', '7,8,9', '--json')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const document = JSON.parse(stdout) as {
      claims: Record<string, unknown>[]
      counts: Record<string, Record<string, number>>
      fits: unknown[]
      seeds: number[]
      seconds: number
    }
    const { claims, counts, fits, seeds, seconds } = document
    expect(seconds).toBeGreaterThan(0)
    expect(seeds).toEqual([7, 8, 9])
    expect(fits).toBeInstanceOf(Array)
    expect(claims.find(({ id }) => id === 'adaptbf.IV-E.1')).toMatchObject({
      system: 'adaptbf',
      what: 'Job1 (bursty, high priority) gains over No BW',
      published: expect.any(String) as string,
      range: [expect.any(Number), expect.any(Number)],
      ok: true,
    })
    for (const { id, measured } of claims) expect(measured, String(id)).not.toBeUndefined()
    const { adaptbf = {} } = counts
    expect(Object.keys(adaptbf)).toEqual(['reproduced', 'calibrated', 'differs', 'contradicts', 'silent'])
    expect(Object.values(adaptbf).reduce((sum, count) => sum + count)).toBe(claims.length)
  })

  it('prints a table otherwise, and ends with the counts by system and the regression bounds', async () => {
    const { code, stdout } = await papers('--only', 'adaptbf.IV-F-endless.10', '--seeds', '1')
    expect(code).toBe(0)
    const lines = stdout.trimEnd().split('\n')
    const heads = lines
      .find((text) => text.includes('agreement'))
      ?.trim()
      .split(/ +/)
    expect(heads).toEqual(['published', 'measured', 'deviation', 'agreement', 'verdict', 'bound', 'claim'])
    expect(lines.find((text) => text.startsWith('adaptbf.IV-F-endless.10'))).toMatch(/ +-0\.\d+ /)
    expect(lines.at(-2)).toMatch(
      /^adaptbf: \d+ reproduced, \d+ calibrated on, \d+ differs?, \d+ contradicts? the paper, \d+ not published$/,
    )
    expect(lines.at(-1)).toMatch(/^1 of 1 regression bound holds; medians over seeds 1; [\d.]+ s\.$/)
  })

  it('measures an advance on a range of seeds, beside the original, and counts its requirements', async () => {
    const { code, stdout } = await papers('--only', 'advances.padll.psfa-adaptive.random-job1', '--seeds', '1-3')
    expect(code).toBe(0)
    const lines = stdout.trimEnd().split('\n')
    expect(lines.find((text) => text.startsWith('advances.padll.psfa-adaptive.random-job1'))).toMatch(
      / \(original\) .* <= 36\.5; .* met /,
    )
    expect(lines.at(-2)).toBe('advances: 1 of 1 requirements met')
    expect(lines.at(-1)).toMatch(/^1 of 1 regression bound holds; medians over seeds 1, 2, 3; /)
  })

  it.each([
    ['--only', 'IV-Z', 'no claim IV-Z'],
    ['--seeds', '1,x', 'Whole numbers'],
    ['--seeds', '', 'Whole numbers'],
    ['--seeds', '3-1', 'Whole numbers'],
    ['--seeds', '1-2000', 'Whole numbers'],
  ])('refuses %s %s as usage', async (option, value, message) => {
    const { code, stdout, stderr } = await papers(option, value)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
  })
})
