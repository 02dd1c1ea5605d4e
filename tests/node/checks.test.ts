/** What `npm test` says of a run: its counts, and what was unsteady. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'

interface Tally {
  passed: number
  failed: number
  skipped: number
}
const { countVitest, secondTries, totals } = (await import(
  pathToFileURL(join(import.meta.dirname, '../../scripts/checks.mjs')).href
)) as {
  countVitest: (text: string, code: number) => Tally
  secondTries: (text: string) => string[]
  totals: (tally: Tally) => string
}

const report = (tests: { status: string; failureMessages?: string[] }[], more = {}): string =>
  JSON.stringify({
    numPassedTests: tests.filter((t) => t.status === 'passed').length,
    numFailedTests: tests.filter((t) => t.status === 'failed').length,
    testResults: [
      {
        name: join(import.meta.dirname, '../../electron/ssh/channel.test.ts'),
        status: tests.some((t) => t.status === 'failed') ? 'failed' : 'passed',
        assertionResults: tests.map((t, i) => ({ fullName: `test ${i}`, ...t })),
      },
    ],
    ...more,
  })

describe('the counts of a run', () => {
  it('name a test that failed before it passed, and count it as passed', () => {
    const text = report([
      { status: 'passed', failureMessages: [] },
      { status: 'passed', failureMessages: ['late'] },
      { status: 'failed', failureMessages: ['wrong', 'wrong'] },
    ])
    expect(secondTries(text)).toEqual(['electron/ssh/channel.test.ts: test 1'])
    expect(countVitest(text, 1)).toEqual({ passed: 2, failed: 1, skipped: 0 })
  })

  it('are a failure for a file that could not be loaded, an error outside any test, and no report', () => {
    const unloaded = report([], { testResults: [{ name: 'x', status: 'failed', assertionResults: [] }] })
    expect(countVitest(unloaded, 1)).toMatchObject({ failed: 1 })
    expect(countVitest(report([{ status: 'passed' }]), 1)).toMatchObject({ passed: 1, failed: 1 })
    expect(countVitest('', 1)).toMatchObject({ failed: 1 })
    expect(secondTries('')).toEqual([])
  })

  it('are the last line', () => {
    expect(totals({ passed: 3, failed: 0, skipped: 0 })).toBe('3 passed, 0 failed')
    expect(totals({ passed: 3, failed: 1, skipped: 2 })).toBe('3 passed, 1 failed, 2 skipped')
  })
})
