/** `npm test`, `npm run test:all` and `npm run check`: every step runs and counts, regardless of failures before it. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, constants } from 'node:os'
import { join, relative } from 'node:path'
import { build } from './build.mjs'
import { interruptCode } from './child.mjs'
import { modules, root } from './install.mjs'
import { testParts } from './parts.mjs'
import { say, Stop, stopwatch } from './messages.mjs'
import { tool } from './tools.mjs'

/** @typedef {{ passed: number, failed: number, skipped: number }} Tally */
/**
 * @typedef {[name: string, run: () => Promise<number | Tally>, lane?: 'beside']} Step a step returns an exit code, or its own counts; steps in lane `beside` run one after the
 * other, in parallel with the rest if there is a second core
 */

const report = join(root, 'out/vitest.json')
const exit = (/** @type {Promise<{ code: number }>} */ run) => run.then(({ code }) => code)

/** Caches of the checks, beside the packages: a second run checks only changes. */
const kept = (/** @type {string} */ name) => join(modules, '.cache', name)

/** @param {string} part @returns {() => Promise<number>} */
const types = (part) => () =>
  exit(
    tool('vue-tsc', [
      '--noEmit',
      '-p',
      `tsconfig.${part}.json`,
      '--incremental',
      '--tsBuildInfoFile',
      kept(`types/${part}.tsbuildinfo`),
    ]),
  )

/** @type {Step[]} */
const typecheck = [
  // The two long ones get a core each if there are two.
  ['types of node', types('node')],
  ['types of web', types('web'), 'beside'],
  ['types of core', types('core'), 'beside'],
]

/** @type {Step} */
const directions = [
  'directions (dependency-cruiser)',
  () => exit(tool('depcruise', ['core', 'electron', 'renderer', '--config', '.dependency-cruiser.cjs'])),
  'beside',
]

/**
 * Format and lint of every file, as long as the other checks together. They use the time that tests leave while waiting for
 * servers and for a browser, and slow none of them.
 * @type {Step[]}
 */
const style = [
  ['format (prettier)', () => prettier(['.']), 'beside'],
  ['lint (eslint)', () => eslint(['.']), 'beside'],
]

/** @type {Step[]} */
const styleOfChanges = [
  ['format of what changed (prettier)', () => onChanges(prettier, /./), 'beside'],
  ['lint of what changed (eslint)', () => onChanges(eslint, /\.(ts|vue|m?js|cjs)$/), 'beside'],
]

/**
 * Runs a check on the changed files whose names match; on all files if git cannot determine the changes.
 * @param {(files: string[]) => Promise<number>} check @param {RegExp} names
 * @param {string[]} [files] changed files
 */
export function onChanges(check, names, files = changed()) {
  if (files === undefined) return check(['.'])
  const present = files.filter((file) => names.test(file) && existsSync(join(root, file)))
  return present.length === 0 ? Promise.resolve(0) : check(present)
}

/** @param {string[]} files */
const prettier = (files) =>
  exit(
    tool(
      'prettier',
      ['--check', '--log-level=warn', '--ignore-unknown', '--cache', '--cache-strategy=content', ...files],
      { priority: constants.priority.PRIORITY_LOW },
    ),
  )

/** @param {string[]} files */
const eslint = (files) =>
  exit(tool('eslint', ['--no-warn-ignored', ...files], { priority: constants.priority.PRIORITY_LOW }))

/**
 * Files that differ from the upstream branch (from the last commit if there is none), including new ones.
 * @returns {string[] | undefined} undefined if git cannot determine them
 */
function changed() {
  const git = (/** @type {string[]} */ ...args) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  const lines = (/** @type {string} */ text) => text.split('\0').filter((line) => line !== '')
  let base = 'HEAD'
  try {
    base = git('merge-base', 'HEAD', '@{upstream}').trim()
  } catch {
    // no upstream branch
  }
  try {
    return [
      ...lines(git('diff', '--name-only', '-z', base)),
      ...lines(git('ls-files', '--others', '--exclude-standard', '-z')),
    ]
  } catch {
    return undefined
  }
}

/**
 * @typedef {{ numPassedTests?: number, numFailedTests?: number, numPendingTests?: number, numTodoTests?: number, |   testResults?: { name: string, status: string, startTime?: number, endTime?: number, |     assertionResults: { status: string, fullName: string }[] }[] }} Report  what vitest's JSON reporter writes
 */

/** @param {string} text @returns {Report | undefined} */
function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Counts a vitest JSON report; a file that failed to load has no tests and counts as one failure.
 * @param {string} text the report @param {number} code vitest's exit code @returns {Tally}
 */
export function countVitest(text, code) {
  const json = parsed(text)
  if (!json) return { passed: 0, failed: 1, skipped: 0 }
  const broken = (json.testResults ?? []).filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  )
  const failed = (json.numFailedTests ?? 0) + broken.length
  return {
    passed: json.numPassedTests ?? 0,
    // an error outside any test gives vitest a non-zero exit code without a failed test
    failed: failed === 0 && code !== 0 ? 1 : failed,
    skipped: (json.numPendingTests ?? 0) + (json.numTodoTests ?? 0),
  }
}

/**
 * @param {string} text the report @returns {string[]} `file: test` of each failure; for a file that failed to load, the file
 */
export function failures(text) {
  return (parsed(text)?.testResults ?? [])
    .filter(({ status }) => status === 'failed')
    .flatMap(({ name, assertionResults }) => {
      const tests = assertionResults.filter(({ status }) => status === 'failed')
      const file = relative(root, name)
      return tests.length === 0 ? [`${file} could not be run`] : tests.map(({ fullName }) => `${file}: ${fullName}`)
    })
}

/** @param {string} text the report @returns {string[]} the ten files that took longest, `12.3 s  file` */
export function slowest(text) {
  return (parsed(text)?.testResults ?? [])
    .map(({ name, startTime = 0, endTime = 0 }) => ({ file: relative(root, name), ms: endTime - startTime }))
    .sort((a, b) => b.ms - a.ms)
    .slice(0, 10)
    .map(({ file, ms }) => `${(ms / 1000).toFixed(1).padStart(6)} s  ${file}`)
}

/** @param {string[]} args @param {Record<string, string>} env @returns {Promise<Tally>} */
async function vitest(args, env) {
  mkdirSync(join(root, 'out'), { recursive: true })
  rmSync(report, { force: true })
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const { code } = await tool('vitest', ['run', ...reporters, ...args], { env: { ...process.env, ...env } })
  const text = lastReport()
  if (text === '') say(`vitest ended with code ${code} and left no report`)
  const slow = slowest(text)
  if (slow.length > 0) say(`the slowest files:\n${slow.join('\n')}`)
  for (const test of failures(text)) say(`failed: ${test}`)
  return countVitest(text, code)
}

/** @returns {string} vitest's report of the last run; empty if there is none */
export function lastReport() {
  return existsSync(report) ? readFileSync(report, 'utf8') : ''
}

/** The last line of a run. @param {Tally} tally */
export const totals = ({ passed, failed, skipped }) =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`

/**
 * Runs the steps in order, and those of lane `beside` in parallel; prints the totals as the last line.
 * @param {Step[]} steps @returns {Promise<number>} exit code @throws {Stop} on a signal
 */
export async function runSteps(steps) {
  const sum = { passed: 0, failed: 0, skipped: 0 }
  /** @type {Set<Step>} */
  const bad = new Set()
  /** @param {Step} step */
  const take = async (step) => {
    const [name, run] = step
    const place = `[${steps.indexOf(step) + 1}/${steps.length}] ${name}`
    say(`${place} ...`)
    const took = stopwatch()
    const result = await run()
    const stopped = interruptCode()
    if (stopped !== undefined) throw new Stop(`stopped during ${name}`, stopped)
    const tally =
      typeof result === 'number' ? { passed: Number(result === 0), failed: Number(result !== 0), skipped: 0 } : result
    sum.passed += tally.passed
    sum.failed += tally.failed
    sum.skipped += tally.skipped
    if (tally.failed > 0) bad.add(step)
    say(`${place} ${tally.failed > 0 ? 'FAILED' : 'passed'} (${took()})`)
  }
  const lane = async (/** @type {Step[]} */ some) => {
    for (const step of some) await take(step)
  }
  const beside = steps.filter(([, , where]) => where === 'beside')
  if (availableParallelism() > 1) {
    await Promise.all([lane(steps.filter((step) => !beside.includes(step))), lane(beside)])
  } else await lane(steps)
  const names = steps.filter((step) => bad.has(step)).map(([name]) => name)
  if (names.length > 0) say(`failed: ${names.join(', ')}`)
  process.stdout.write(`${totals(sum)}\n`)
  return sum.failed > 0 ? 1 : 0
}

/** `npm run typecheck`. */
export const runTypecheck = () => runSteps(typecheck)

/** `npm run check`: the steps of `npm run test:all` that do not run the program. */
export const runChecks = () => runSteps([...typecheck, directions, ...style])

/** Projects that run in the test process, and one test of each family of real parts. */
const QUICK = ['core', 'node', 'own-process', 'window', 'smoke'].map((project) => `--project=${project}`)

/** `npm test`. @param {string[]} args passed to vitest */
export const runTests = (args) => runParts([...QUICK, ...args], styleOfChanges)

/** `npm run test:all`. @param {string[]} args passed to vitest */
export const runAllTests = (args) => runParts(args, style)

/** @param {string[]} args @param {Step[]} formatAndLint */
async function runParts(args, formatAndLint) {
  const { env, missing } = await testParts()
  if (missing) say(missing)
  const strict = missing !== undefined && ['1', 'true'].includes(process.env.CI ?? '')
  return runSteps([
    ...(strict ? [/** @type {Step} */ (['system parts', () => Promise.resolve(1)])] : []),
    ...typecheck,
    directions,
    ...formatAndLint,
    ['build', () => build()],
    ['tests (vitest)', () => vitest(args, env)],
  ])
}
