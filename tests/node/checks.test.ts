/** Counts of a test run, and its summary. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { LONG } from '../setup/long-first.ts'

interface Tally {
  passed: number
  failed: number
  skipped: number
}
const { countVitest, failures, onChanges, slowest, totals } = (await import(
  pathToFileURL(join(import.meta.dirname, '../../scripts/checks.mjs')).href
)) as {
  countVitest: (text: string, code: number) => Tally
  failures: (text: string) => string[]
  onChanges: (check: (files: string[]) => Promise<number>, names: RegExp, files?: string[]) => Promise<number>
  slowest: (text: string) => string[]
  totals: (tally: Tally) => string
}

const root = join(import.meta.dirname, '../..')
const report = (tests: { status: string }[], more = {}): string =>
  JSON.stringify({
    numPassedTests: tests.filter((t) => t.status === 'passed').length,
    numFailedTests: tests.filter((t) => t.status === 'failed').length,
    testResults: [
      {
        name: join(root, 'electron/ssh/channel.test.ts'),
        status: tests.some((t) => t.status === 'failed') ? 'failed' : 'passed',
        assertionResults: tests.map((t, i) => ({ fullName: `test ${i}`, ...t })),
      },
    ],
    ...more,
  })

describe('the counts of a run', () => {
  it('name each test that failed, and each file that could not be loaded', () => {
    const text = report([{ status: 'passed' }, { status: 'failed' }])
    expect(countVitest(text, 1)).toEqual({ passed: 1, failed: 1, skipped: 0 })
    expect(failures(text)).toEqual(['electron/ssh/channel.test.ts: test 1'])
    const unloaded = { name: join(root, 'core/a.test.ts'), status: 'failed', assertionResults: [] }
    expect(failures(report([], { testResults: [unloaded] }))).toEqual(['core/a.test.ts could not be run'])
  })

  it('name the ten files that took longest, slowest first', () => {
    const file = (i: number): object => ({
      name: join(root, `core/${i}.test.ts`),
      status: 'passed',
      startTime: 1_000,
      endTime: 1_000 + i * 500,
      assertionResults: [],
    })
    const lines = slowest(report([], { testResults: Array.from({ length: 25 }, (_, i) => file(i)) }))
    expect(lines).toHaveLength(10)
    expect(lines[0]).toBe('  12.0 s  core/24.test.ts')
    expect(lines[9]).toBe('   7.5 s  core/15.test.ts')
  })

  it('are a failure for a file that could not be loaded, an error outside any test, and no report', () => {
    const unloaded = report([], { testResults: [{ name: 'x', status: 'failed', assertionResults: [] }] })
    expect(countVitest(unloaded, 1)).toMatchObject({ failed: 1 })
    expect(countVitest(report([{ status: 'passed' }]), 1)).toMatchObject({ passed: 1, failed: 1 })
    expect(countVitest('', 1)).toMatchObject({ failed: 1 })
    expect([failures(''), slowest('')]).toEqual([[], []])
  })

  it('are the last line', () => {
    expect(totals({ passed: 3, failed: 0, skipped: 0 })).toBe('3 passed, 0 failed')
    expect(totals({ passed: 3, failed: 1, skipped: 2 })).toBe('3 passed, 1 failed, 2 skipped')
  })
})

describe('a check of what changed', () => {
  it('is given the changed files of its kind that exist, and is not run where there are none', async () => {
    const given: string[][] = []
    const check = (files: string[]): Promise<number> => {
      given.push(files)
      return Promise.resolve(1)
    }
    const changed = ['README.md', 'scripts/checks.mjs', 'scripts/removed.mjs', 'vitest.config.ts']
    expect(await onChanges(check, /\.(ts|mjs)$/, changed)).toBe(1)
    expect(given).toEqual([['scripts/checks.mjs', 'vitest.config.ts']])
    expect(await onChanges(check, /\.vue$/, changed)).toBe(0)
    expect(given).toHaveLength(1)
  })
})

describe('the projects of the tests', () => {
  it('begin with long files that exist', () => {
    expect([...LONG].filter((file) => !existsSync(join(root, file)))).toEqual([])
  })

  it('give a process of its own to every file that puts another module in the place of one', () => {
    const listed = readFileSync(join(root, 'vitest.config.ts'), 'utf8')
    const files = ['electron', 'tests'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.test.ts'))
        .map((name) => `${folder}/${name}`),
    )
    const mocking = files.filter((file) => /^\s*vi\.(doM|m)ock\(/m.test(readFileSync(join(root, file), 'utf8')))
    expect(mocking.length).toBeGreaterThan(5)
    expect(mocking.filter((file) => !listed.includes(`'${file}'`))).toEqual([])
  })
})
