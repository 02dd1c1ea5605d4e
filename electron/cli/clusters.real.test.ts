/** CLI against real OpenSSH servers whose nodes the emulator plays, each command in its own process. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { twoServers } from '#tests/kits/cli/emulated-servers.ts'
import type { Ended } from '#tests/kits/cli/in-process.ts'
import { killAll, startProcess, type RunningProcess } from '#tests/kits/cli/process.ts'
import { startLab, type Lab } from '../../tests/lab/lab.ts'
import { errorOf, json, jsonLines } from '#tests/kits/cli/printed.ts'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { noSshd } from '#tests/kits/electron/ssh/sshd.ts'

const HOG = '4690.python.u1021'

let lab: Lab
let data: string

function start(args: readonly string[]): RunningProcess {
  const run = startProcess(args, { SSH_AUTH_SOCK: '', SLUICE_DATA: data })
  run.child.stdin.end()
  return run
}
/** Runs a command as a process, with the lab's cluster file and known hosts. */
const sluice = (...args: string[]): Promise<Ended> =>
  start(['--config', lab.clusterFile, '--known-hosts', lab.knownHosts, ...args]).ended
const bare = (...args: string[]): Promise<Ended> => start(args).ended

function file(text: string): string {
  const path = join(tempFolder(), 'file.yaml')
  writeFileSync(path, text)
  return path
}
const desired = (...rules: string[]): string => file(`rules:\n${rules.map((r) => `  - ${r}\n`).join('')}`)
const names = (text: string): string[] =>
  [...text.matchAll(/^(\S+) .* \d+, ref -?\d+$/gm)].map(([, name = '']) => name).filter((n) => n !== 'default')
const activeRules = async (host: string): Promise<string[]> => [...new Set(names(await lab.rules(host)))]
interface Written {
  clusters: { safe_mode?: string; nodes: { port: number; identity: string }[] }[]
}
/** Copy of the cluster file with one change. */
function clusterFile(change: (cluster: Written['clusters'][number]) => void): string {
  const content = parse(readFileSync(lab.clusterFile, 'utf8')) as Written
  for (const c of content.clusters) change(c)
  return file(stringify(content))
}
const planned = async (path: string, ...more: string[]): Promise<Record<string, unknown>> => {
  const made = await sluice('rules', 'plan', 'demo', '--desired', path, '--json', ...more)
  expect(made.stderr).toBe('')
  return json(made)
}
const until = async (is: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await is())) await new Promise((resolve) => setTimeout(resolve, 100))
}

describe.skipIf(noSshd !== '')('clusters from the shell, over real SSH', { timeout: 120_000 }, () => {
  beforeAll(async () => {
    data = tempFolder()
    lab = await startLab({ scenario: twoServers(HOG) })
  })
  afterAll(async () => {
    killAll()
    await lab?.stop()
  })

  it('end with 3 and the fingerprint before any authentication, and continue when it is confirmed', async () => {
    const path = clusterFile((c) => c.nodes.splice(1))
    const unknown = await bare('--config', path, '--known-hosts', file(''), 'watch', 'demo', '--json', '--for', '1')
    expect(unknown.code).toBe(3)
    const { fingerprint, verdict } = errorOf(unknown)
    expect(verdict).toBe('unknown')
    expect(unknown.stderr).toContain(String(fingerprint))
    expect(lab.node('oss01').sshd.log()).not.toMatch(/Accepted publickey/)
    const trusted = ['--known-hosts', file(''), '--trust', String(fingerprint)]
    const vouched = await bare('--config', path, ...trusted, 'watch', 'demo', '--json', '--for', '1')
    expect(vouched.code).toBe(0)
    expect(jsonLines(vouched.stdout)[0]).toMatchObject({ source: 'LIVE' })
  })

  it('plan, list, apply and clean; of two processes one takes a plan', async () => {
    const { id } = await planned(desired(`{ match: "jobid={${HOG}}", rate: 40, name: ops_hog }`))
    const apply = (): Promise<Ended> =>
      sluice('rules', 'apply', String(id), '--target', 'demo', '--canary', '0', '--json')
    const both = await Promise.all([apply(), apply()])
    const [done, taken] = both.toSorted((a, b) => (a.code ?? 9) - (b.code ?? 9)) as [Ended, Ended]
    expect([done.code, done.stderr]).toEqual([0, ''])
    expect([taken.code, errorOf(taken)['code']]).toEqual([1, 'PLAN_TAKEN'])
    expect([await activeRules('oss01'), await activeRules('oss02')]).toEqual([['ops_hog'], ['ops_hog']])
    const script = await sluice('stop', 'demo', '--script')
    expect(script.code).toBe(0)
    expect(execFileSync('sh', ['-n'], { input: script.stdout, encoding: 'utf8' })).toBe('')
    const cleaned = await sluice('rules', 'clean', 'demo', '--json')
    expect([cleaned.code, json(cleaned)['removed']]).toEqual([0, 2])
    expect(await activeRules('oss01')).toEqual([])
  })

  it('control: its rules are removed when it is interrupted, and by their lease when it is killed', async () => {
    const run = (): RunningProcess =>
      start([
        '--config',
        lab.clusterFile,
        '--known-hosts',
        lab.knownHosts,
        'control',
        'demo',
        '--controller',
        'static',
        '--mode',
        'enforce',
        '--target',
        'demo',
        '--json',
      ])
    const isRuling = async (): Promise<boolean> => (await activeRules('oss01')).some((n) => n.startsWith('st_'))
    const reported = run()
    await until(isRuling)
    reported.child.kill('SIGTERM')
    const end = await reported.ended
    expect([end.code, end.stderr]).toEqual([0, ''])
    const last = jsonLines(end.stdout).at(-1)
    expect(last).toMatchObject({ mode: 'enforce', controller: 'static', source: 'LIVE' })
    expect(await isRuling()).toBe(false)
    const killed = run()
    await until(isRuling)
    killed.child.kill('SIGKILL')
    await killed.ended
    expect(await isRuling()).toBe(true)
    await lab.setSpeed(20)
    await until(async () => !(await isRuling()))
    await lab.setSpeed(1)
    expect((await sluice('rules', 'clean', 'demo', '--json')).code).toBe(0)
  })
})
