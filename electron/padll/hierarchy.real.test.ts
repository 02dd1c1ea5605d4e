/** The whole hierarchy as operators run it: both daemons as processes, real programs, and failures of each. */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { padllStatus, type PadllStatus } from '#core/padll/status.ts'
import {
  library,
  noStage,
  rateOf,
  shortFolder,
  trialProgram,
  type Ended,
} from '#tests/kits/electron/padll/scripted-controller.ts'

const LAUNCHER = join(import.meta.dirname, '../cli/sluice.mjs')
const trial = trialProgram()
const compiled = shortFolder()
const LONG = { timeout: 60_000 }

let folder: string
let file: string
let children: ChildProcess[] = []

beforeEach(() => {
  folder = shortFolder()
  mkdirSync(join(folder, 'managed'))
  file = join(folder, 'managed/file')
  writeFileSync(file, '')
})
afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  children = []
})

interface Started {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  /** Everything it has printed so far. */
  readonly printed: () => string
}

function sluice(args: readonly string[], input = ''): Started {
  const env = {
    ...process.env,
    SLUICE_PADLL: join(folder, 'run'),
    NODE_COMPILE_CACHE: compiled,
    TRIAL_UNTIL: join(folder, 'enough'),
  }
  const child = spawn(process.execPath, [LAUNCHER, 'padll', ...args], { env, stdio: 'pipe' })
  children.push(child)
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (t: string) => (stdout += t))
  child.stderr.setEncoding('utf8').on('data', (t: string) => (stderr += t))
  child.stdin.on('error', () => undefined).end(input)
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }))
  })
  return { child, ended, printed: () => stdout + stderr }
}

async function daemon(...args: string[]): Promise<Started> {
  const one = sluice(args)
  await expect.poll(one.printed).toContain('controller')
  return one
}

async function globalDaemon(config: string): Promise<Started> {
  const path = join(folder, 'global.yaml')
  writeFileSync(path, config)
  return daemon('global', '--config', path)
}

const status = async (): Promise<PadllStatus> =>
  padllStatus.parse(JSON.parse((await sluice(['status']).ended).stdout) as unknown)

const staged = (job: string, ...words: (string | number)[]): Started =>
  sluice([
    'run',
    '--job',
    job,
    '--mount',
    join(folder, 'managed'),
    '--start-ms',
    '5000',
    '--',
    trial,
    ...words.map(String),
  ])

/** A job that opens files for some seconds at least, until half a second reached the rate, and until `enough`. */
const loop = (job: string, seconds: number, threads = 2, rate = 0): Started =>
  staged(job, 'loop', file, seconds, threads, rate)

/** Ends the jobs after their minimum time: the test has seen what it needs. */
const enough = (): void => writeFileSync(join(folder, 'enough'), '')

async function joined(jobs: number): Promise<void> {
  await expect.poll(async () => (await status()).jobs.length).toBe(jobs)
}

const SHARING = 'system_limit: 2000\ncontrol_type: 2\ninterval_ms: 200\nlease_s: 2\n'

describe.skipIf(noStage !== '' || !library.ok)('sluice padll', () => {
  it('shares one limit among the jobs of a node, and gives it to the remaining ones', LONG, async () => {
    await globalDaemon(SHARING)
    await daemon('local')
    const demands = ['a', 'b'].map((job, i) => `${i + 1} 0 demand ${job} meta_op ${500 * (i + 1)}\n`).join('')
    expect(await sluice(['policies', 'set'], demands).ended).toMatchObject({ code: 0, stderr: '' })
    const a = loop('a', 6)
    const b = loop('b', 6)
    await joined(2)
    const now = await status()
    const allocated = Object.fromEntries(now.jobs.map((j) => [j.job, j.allocated]))
    // Demands of 500 and 1000, plus half of the remainder each.
    expect(allocated).toEqual({ a: 750, b: 1250 })
    expect(now.locals[0]?.stages).toHaveLength(2)
    enough()
    const ea = rateOf(await a.ended)
    const eb = rateOf(await b.ended)
    // One open and one close each. Programs start at different times: alone, a job gets the whole rate.
    const both = 2 * (ea.count + eb.count)
    const seconds = Math.max(ea.seconds, eb.seconds)
    expect(both / seconds).toBeLessThan(2000 * 1.3)
    expect(ea.rate * 2).toBeGreaterThan(600)
    await joined(0)
  })

  it('holds a limit within 5 % through the whole hierarchy', LONG, async () => {
    await globalDaemon('system_limit: 1000\ncontrol_type: 2\ninterval_ms: 200\n')
    await daemon('local')
    enough()
    const { rate, best } = rateOf(await loop('alone', 8, 2, 476).ended)
    // One open and one close each.
    expect(best * 2).toBeGreaterThan(1000 * 0.95)
    expect(rate * 2).toBeLessThan(1000 * 1.05)
  })

  it('names a job that uses io_uring, whose submissions are not limited', LONG, async ({ skip }) => {
    await globalDaemon(SHARING)
    await daemon('local')
    const a = staged('a', 'uring', file, 0)
    await expect.poll(a.printed).not.toBe('')
    if (a.printed().trim() !== 'ring') skip(`no io_uring here: ${a.printed().trim()}`)
    const failures = async (): Promise<unknown> => (await status()).failures
    await expect.poll(failures).toMatchObject([
      {
        code: 'NOT_LIMITED',
        what: 'Some calls of a are not limited',
        why: expect.stringContaining('E_IO_URING') as string,
      },
    ])
    enough()
    expect(await a.ended).toMatchObject({ code: 0 })
    await expect.poll(failures).toEqual([])
  })

  it('takes static policies and settings from the command line, and refuses what is wrong', LONG, async () => {
    await globalDaemon('system_limit: 5000\ncontrol_type: 1\ninterval_ms: 200\n')
    await daemon('local')
    expect(await sluice(['policies', 'set'], '1 0 job a meta_op 300\n').ended).toMatchObject({ code: 0 })
    const a = loop('a', 5)
    await joined(1)
    expect((await status()).jobs[0]).toMatchObject({ job: 'a', limit: 300, allocated: 300 })
    enough()
    expect(rateOf(await a.ended).rate * 2).toBeLessThan(300 * 1.1)
    expect(await sluice(['policies', 'check'], '1 0 job a opens 300\n').ended).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^1:\d+: error: /) as string,
    })
    expect(await sluice(['set', 'epsilon=2']).ended).toMatchObject({ code: 2 })
    expect(await sluice(['set', '--epoch', '9', 'epsilon=0.1']).ended).toMatchObject({ code: 1 })
    expect(await sluice(['set', 'algorithm=psfa', 'limit.meta_op=7000']).ended).toMatchObject({ code: 0, stderr: '' })
    expect(await status()).toMatchObject({ algorithm: 'psfa', limits: [{ scope: 'meta_op', rate: 7000 }] })
  })

  it(
    'a restarted global controller has a higher epoch and knows policies and settings; a second one is refused',
    LONG,
    async () => {
      const first = await globalDaemon(SHARING)
      await daemon('local')
      await sluice(['policies', 'set'], '1 0 demand a meta_op 500\n').ended
      await sluice(['set', 'limit.meta_op=1000']).ended
      const a = loop('a', 9)
      await joined(1)
      const second = await sluice(['global', '--config', join(folder, 'global.yaml')]).ended
      expect(second).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('a global controller, or another program, answers there') as string,
      })
      expect(await status()).toMatchObject({ epoch: 1 })

      first.child.kill('SIGKILL')
      await first.ended
      expect(await sluice(['status']).ended).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('no global') as string,
      })
      await daemon('global', '--config', join(folder, 'global.yaml'))
      await joined(1)
      const now = await status()
      expect(now).toMatchObject({
        epoch: 2,
        limits: [{ rate: 1000 }],
        policies: { text: '1 0 demand a meta_op 500\n' },
      })
      enough()
      // Limited to its rate throughout.
      expect(rateOf(await a.ended).rate * 2).toBeLessThan(1000 * 1.15)
      expect(JSON.parse(readFileSync(join(folder, 'run/global.json'), 'utf8'))).toMatchObject({ epoch: 2 })
    },
  )

  it('a killed local controller stops no program, and readmits its stages when it is back', LONG, async () => {
    await globalDaemon(SHARING)
    const local = await daemon('local')
    const a = loop('a', 9)
    await joined(1)
    local.child.kill('SIGKILL')
    await local.ended
    const states = async (): Promise<string[]> => (await status()).locals.map((l) => l.state)
    await expect.poll(states).toEqual(['lost'])
    await daemon('local')
    await joined(1)
    enough()
    const ended = await a.ended
    expect(ended).toMatchObject({ code: 0, signal: null })
    expect(rateOf(ended).rate * 2).toBeLessThan(2000 * 1.1)
    expect(rateOf(ended).count).toBeGreaterThan(1000)
  })

  it('a program continues when both are killed, at the fallback rate', LONG, async () => {
    const both = [await globalDaemon(`${SHARING}on_expiry: 100\n`), await daemon('local')]
    const began = performance.now()
    const a = loop('a', 8, 1)
    await joined(1)
    for (const one of both) one.child.kill('SIGKILL')
    // Longer without controllers than with them.
    await new Promise((done) => setTimeout(done, 3000 + 1.5 * (performance.now() - began)))
    enough()
    const ended = await a.ended
    expect(ended).toMatchObject({ code: 0, signal: null, stderr: '' })
    // Some seconds at 2000, then 100.
    expect(rateOf(ended).rate * 2).toBeLessThan(1500)
  })

  it('ends as the program does, and says what cannot be', LONG, async () => {
    const codes = async (...args: string[]): Promise<unknown> => (await sluice(args).ended).code
    const mount = ['--mount', join(folder, 'managed')]
    expect(await codes('run', '--job', 'a', ...mount, '--', 'sh', '-c', 'exit 7')).toBe(7)
    expect(await codes('run', '--job', 'a', ...mount, '--', 'sh', '-c', 'kill -9 $$')).toBe(137)
    expect(await codes('run', '--job', 'a', ...mount, '--', join(folder, 'none'))).toBe(127)
    expect(await codes('run', '--job', 'x'.repeat(201), ...mount, '--', 'true')).toBe(2)
    expect(await codes('run', '--job', 'a', '--mount', 'relative', '--', 'true')).toBe(2)
    expect(await codes('run', ...mount, '--', 'true')).toBe(2)
    expect(await codes('global', '--config', join(folder, 'none.yaml'))).toBe(2)
    expect(await codes('status')).toBe(1)
    expect(await codes('stage', 'build')).toBe(0)
  })
})
