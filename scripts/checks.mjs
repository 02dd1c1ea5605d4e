/** `npm test` and `npm run check`: every step is run and counted, whatever the ones before it did. */
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, constants } from 'node:os'
import { join, relative } from 'node:path'
import { build } from './build.mjs'
import { interruptCode } from './child.mjs'
import { root } from './install.mjs'
import { testParts } from './parts.mjs'
import { say, Stop, stopwatch } from './say.mjs'
import { tool } from './tools.mjs'

/** @typedef {{ passed: number, failed: number, skipped: number }} Tally */
/**
 * @typedef {[name: string, run: () => Promise<number | Tally>, isEarly?: 'early']} Step a step yields an exit code, or its own
 *   counts; an early one begins with the first and runs beside the others where there is a second core
 */

const report = join(root, 'out/vitest.json')
const exit = (/** @type {Promise<{ code: number }>} */ run) => run.then(({ code }) => code)

/** @type {Step[]} */
const typecheck = ['core', 'node', 'web', 'page'].map((part) => [
  `types of ${part}`,
  () => exit(tool('vue-tsc', ['--noEmit', '-p', `tsconfig.${part}.json`])),
])

/** Types take longest of these: the other two are done before them where there is a second core. @type {Step[]} */
const checks = [
  ...typecheck,
  ['format (prettier)', () => exit(tool('prettier', ['--check', '--log-level', 'warn', '.'])), 'early'],
  [
    'directions (dependency-cruiser)',
    () => exit(tool('depcruise', ['core', 'electron', 'renderer', '--config', '.dependency-cruiser.cjs'])),
    'early',
  ],
]

/**
 * As long as the other checks together and on one core: what comes after them does not wait for it. It takes the time that the
 * others leave, which tests that wait for servers and for a browser leave enough of, and takes none from them.
 * @type {Step}
 */
const lint = [
  'lint (eslint)',
  () => exit(tool('eslint', ['.'], { priority: constants.priority.PRIORITY_LOW })),
  'early',
]

/**
 * Counts a vitest JSON report; a file that could not be loaded has no tests and counts as one failure.
 * @param {string} text the report @param {number} code vitest's exit code @returns {Tally}
 */
export function countVitest(text, code) {
  /** @type {{ numPassedTests?: number, numFailedTests?: number, numPendingTests?: number, numTodoTests?: number,
   *   testResults?: { status: string, assertionResults: { status: string }[] }[] }} */
  let json = {}
  try {
    json = JSON.parse(text)
  } catch {
    return { passed: 0, failed: 1, skipped: 0 }
  }
  const broken = (json.testResults ?? []).filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  )
  const failed = (json.numFailedTests ?? 0) + broken.length
  return {
    passed: json.numPassedTests ?? 0,
    // an error outside any test ends vitest with a code and leaves no failed test behind
    failed: failed === 0 && code !== 0 ? 1 : failed,
    skipped: (json.numPendingTests ?? 0) + (json.numTodoTests ?? 0),
  }
}

/**
 * Tests that failed and then passed: they count as passed and are named, so that what is unsteady is known.
 * @param {string} text the report @returns {string[]}
 */
export function secondTries(text) {
  /** @type {{ testResults?: { name: string, assertionResults: { status: string, fullName: string, failureMessages?: string[] }[] }[] }} */
  let json = {}
  try {
    json = JSON.parse(text)
  } catch {
    return []
  }
  return (json.testResults ?? []).flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status, failureMessages = [] }) => status === 'passed' && failureMessages.length > 0)
      .map(({ fullName }) => `${relative(root, name)}: ${fullName}`),
  )
}

/**
 * Tests of real servers, programs and pages have a second try: on a machine that is short of processor time one of thousands is late.
 * @param {string[]} args @param {Record<string, string>} env @returns {Promise<Tally>}
 */
async function vitest(args, env) {
  mkdirSync(join(root, 'out'), { recursive: true })
  rmSync(report, { force: true })
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const { code } = await tool('vitest', ['run', '--retry=1', ...reporters, ...args], {
    env: { ...process.env, ...env },
  })
  let text = ''
  try {
    text = readFileSync(report, 'utf8')
  } catch {
    say(`vitest ended with code ${code} and left no report`)
  }
  for (const test of secondTries(text)) say(`passed at its second try: ${test}`)
  return countVitest(text, code)
}

/** The last line of a run. @param {Tally} tally */
export const totals = ({ passed, failed, skipped }) =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`

/**
 * Runs the steps in order and prints the totals as the last line.
 * @param {Step[]} steps @returns {Promise<number>} exit code @throws {Stop} when a signal came
 */
export async function runSteps(steps) {
  const sum = { passed: 0, failed: 0, skipped: 0 }
  const bad = []
  const begun = new Map(
    availableParallelism() > 1 ? steps.flatMap(([, run, isEarly]) => (isEarly ? [[run, run()]] : [])) : [],
  )
  for (const [index, [name, run]] of steps.entries()) {
    say(`[${index + 1}/${steps.length}] ${name} ...`)
    const took = stopwatch()
    const result = await (begun.get(run) ?? run())
    const stopped = interruptCode()
    if (stopped !== undefined) throw new Stop(`stopped during ${name}`, stopped)
    const tally =
      typeof result === 'number' ? { passed: Number(result === 0), failed: Number(result !== 0), skipped: 0 } : result
    sum.passed += tally.passed
    sum.failed += tally.failed
    sum.skipped += tally.skipped
    if (tally.failed > 0) bad.push(name)
    say(`[${index + 1}/${steps.length}] ${name} ${tally.failed > 0 ? 'FAILED' : 'passed'} (${took()})`)
  }
  if (bad.length > 0) say(`failed: ${bad.join(', ')}`)
  process.stdout.write(`${totals(sum)}\n`)
  return sum.failed > 0 ? 1 : 0
}

/** `npm run typecheck`. */
export const runTypecheck = () => runSteps(typecheck)

/** `npm run check`: everything of `npm test` that does not run the program. */
export const runChecks = () => runSteps([...checks, lint])

/** `npm test`. @param {string[]} args handed to vitest */
export async function runTests(args) {
  const { env, missing } = await testParts()
  if (missing) say(missing)
  const strict = missing !== undefined && ['1', 'true'].includes(process.env.CI ?? '')
  return runSteps([
    ...(strict ? [/** @type {Step} */ (['system parts', () => Promise.resolve(1)])] : []),
    ...checks,
    ['build', () => build()],
    ['tests (vitest)', () => vitest(args, env)],
    lint,
  ])
}
