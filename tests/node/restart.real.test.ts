/** A console killed with -9 in every state of a change, over SSH: its successor completes what was left open. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { LIMITS } from '#electron/ssh/limits.ts'
import { noSshd, scratch } from '../kits/electron/ssh/sshd.ts'
import { startLab, type Lab, type LabOptions } from '../lab/lab.ts'
import { endsOf, liveConsole, type LiveConsole } from './live-console.ts'
import { tempFolder } from './temp-folder.ts'

const HOSTS = ['oss01', 'oss02'] as const
const CAP = 'start cap jobid={1.hog.u1} rate=20'
const LIMITS_HERE = { ...LIMITS, keepaliveMs: 1000, backoff: { baseMs: 100, mostMs: 400 }, stableMs: 1000 }
const CHILD = join(import.meta.dirname, 'restart-child.ts')
/** A timer of a change with unknown outcome is kept for half a minute. */
const waits = { timeout: 45_000, interval: 100 }

const SCENARIO = [
  'title: Two',
  'cluster: two',
  'clients: { count: 2 }',
  'control: { max_rate: 200, mode: observe }',
  'oss:',
  ...HOSTS.map((h, i) => `  - { name: ${h}, osts: [{ name: two-OST000${i}, disk: { bandwidth_mb_s: 1000 } }] }`),
  'jobs:',
  '  - { id: "1.hog.u1", clients: [1], op: write, size_kib: 64, total_rpcs: 4, pattern: { kind: continuous } }',
  '',
].join('\n')

/** Delays the start of the rule on oss02, before or after it is executed, as long as the test needs. */
const HELD = [
  'PATH=${PATH#*:}',
  'hold() { [ -e $LAB_SHARED/$1 ] || return 0; echo $$ >$LAB_SHARED/reached.new; mv $LAB_SHARED/reached.new $LAB_SHARED/reached; while [ -e $LAB_SHARED/$1 ]; do sleep 0.05; done; }',
  'case "$*" in *"start cap"*) ;; *) exec lctl "$@" ;; esac',
  '[ "$(hostname)" = oss02 ] || exec lctl "$@"',
  'hold before',
  'lctl "$@"; code=$?',
  'hold after',
  'exit $code',
].join('\n')

/** A shell in which nothing can outlive a session while `bare` exists: the server supports no timers. */
const BARE =
  'command() { case "$*" in "-v setsid"|"-v nohup") [ -e $LAB_SHARED/bare ] && return 1 ;; esac; builtin command "$@"; }\n'

/** The shell of a session reads it. */
const BASH = ['PATH=${PATH#*:}', 'export PATH', '[ $# -eq 0 ] && exec /bin/bash', 'exec sh "$@"'].join('\n')

let folder: string
let lab: Lab
let dataDir: string
let live: LiveConsole | undefined
let child: ChildProcess | undefined
let lines: AsyncIterator<string>
let reader: Interface | undefined
const file = (name: string): string => join(folder, name)

async function openLab(more: LabOptions): Promise<void> {
  folder = scratch()
  const scenario = file('two.yaml')
  writeFileSync(scenario, SCENARIO)
  lab = await startLab({ scenario, servers: HOSTS, shared: folder, ...more })
}

/** Starts the first console. */
async function first(): Promise<void> {
  const given = JSON.stringify({ cluster: lab.clusterFile, knownHosts: lab.knownHosts, dataDir })
  child = spawn(process.execPath, [CHILD, given], { stdio: ['pipe', 'pipe', 'inherit'] })
  reader = createInterface({ input: child.stdout ?? process.stdin })
  lines = reader[Symbol.asyncIterator]()
  expect((await lines.next()).value).toBe('ready')
}
const send = (order: object): void => void child?.stdin?.write(`${JSON.stringify(order)}\n`)
const commit = (expiresS: number, laptopBound = false): void => send({ do: 'commit', rule: CAP, expiresS, laptopBound })
const answer = async (): Promise<unknown> => (await lines.next()).value as unknown

async function kill(): Promise<void> {
  const gone = child && once(child, 'exit')
  child?.kill('SIGKILL')
  child = undefined
  await gone
}

/** Starts the second console on the same data folder. */
async function second(): Promise<LiveConsole> {
  live = await liveConsole({ cluster: lab.clusterFile, knownHosts: lab.knownHosts, limits: LIMITS_HERE, dataDir })
  await live.show()
  await live.card((c) => c.state === 'connected')
  return live
}
const isActive = async (host: string): Promise<boolean> => /^cap /m.test(await lab.rules(host))
const change = () => live?.ruleService().changes.find((c) => c.title === 'start cap')
const nodeEnds = (): string[] => endsOf(change()?.nodes ?? [])

beforeEach(() => {
  dataDir = tempFolder()
})
afterEach(async () => {
  for (const name of ['before', 'after', 'reached', 'bare']) rmSync(file(name), { force: true })
  await kill()
  reader?.close()
  await live?.close()
  live = undefined
  for (const host of HOSTS) {
    await lab.exec(host, "lctl set_param ost.OSS.ost_io.nrs_tbf_rule='stop cap'")
    for (const unit of await lab.timers(host)) await lab.exec(host, `systemctl stop ${unit}`)
  }
})
describe.skipIf(noSshd !== '')('a console that was killed', () => {
  beforeAll(() => openLab({ programs: { lctl: HELD } }))
  afterAll(async () => lab.stop())

  it.each([
    ['before the second server took the rule', 'before', ['oss01 done', 'oss02 rolled back']],
    ['after the second server took the rule', 'after', ['oss01 done', 'oss02 done']],
  ] as const)('%s: its change is known, settled and can be undone', async (_what, at, ends) => {
    await first()
    writeFileSync(file(at), '')
    commit(3600)
    await expect.poll(() => existsSync(file('reached')), waits).toBe(true)
    await kill()
    lab.cut('oss02')
    process.kill(Number(readFileSync(file('reached'), 'utf8')), 'SIGKILL')
    rmSync(file(at))
    await lab.restart('oss02')
    expect(await lab.timers('oss02')).toHaveLength(1)
    const { client, enforce, ruleService } = await second()
    await expect.poll(nodeEnds, waits).toEqual(ends)
    expect(await isActive('oss02')).toBe(at === 'after')
    // A timer with nothing to stop does not wait for a rule of that name; one that a rule needs is kept.
    await expect.poll(() => lab.timers('oss02'), waits).toHaveLength(at === 'after' ? 1 : 0)
    await enforce()
    await client.rules.undo({ changeId: change()?.id ?? '' })
    const { planId } = ruleService().plan('ost_io')
    const undone = await ruleService().commit('ost_io', planId, ruleService().typedTarget('ost_io'), { canaryS: 0 })
    expect(undone.ok && endsOf(undone.value.nodes)).toEqual(
      HOSTS.filter((h) => ends.includes(`${h} done` as never)).map((h) => `${h} done`),
    )
    for (const host of HOSTS) expect([await isActive(host), await lab.timers(host)]).toEqual([false, []])
    expect(change()?.undone).toBe(true)
  })

  it('while a command was under way that acts later: the timer of its rule stays', async () => {
    await first()
    writeFileSync(file('before'), '')
    commit(3600)
    await expect.poll(() => existsSync(file('reached')), waits).toBe(true)
    await kill()
    lab.cut('oss02')
    await lab.restart('oss02')
    await second()
    await expect.poll(nodeEnds, waits).toEqual(['oss01 done', 'oss02 rolled back'])
    rmSync(file('before'))
    await expect.poll(() => isActive('oss02'), waits).toBe(true)
    // The timers of a change are checked half a minute after it.
    const looked = (change()?.atMs ?? 0) + 33_000
    await expect.poll(() => Date.now(), waits).toBeGreaterThan(looked)
    expect(await lab.timers('oss02')).toHaveLength(1)
  })

  it('while an undoing waited for a server: the next one sends it when that server answers', async () => {
    await first()
    commit(3600)
    expect(await answer()).toBe('oss01 done, oss02 done')
    lab.cut('oss02')
    send({ do: 'undo' })
    expect(await answer()).toBe('oss01 done, oss02 pending')
    await kill()
    await lab.restart('oss02')
    expect(await isActive('oss02')).toBe(true)
    const { enforce } = await second()
    await enforce()
    await expect.poll(() => isActive('oss02'), waits).toBe(false)
    await expect.poll(() => change()?.undone, waits).toBe(true)
    expect(await lab.timers('oss02')).toEqual([])
  })
})

describe.skipIf(noSshd !== '')('a console that was killed and that alone would have stopped a rule', () => {
  beforeAll(async () => {
    const shell = join(scratch(), 'bare.sh')
    writeFileSync(shell, BARE)
    const env = { HOME: scratch(), TMPDIR: scratch(), BASH_ENV: shell }
    await openLab({ timers: 'shell', programs: { sh: BASH }, env })
  })
  afterAll(async () => lab.stop())
  const timers = async (host: string): Promise<string[]> =>
    (await lab.processes(host)).filter((p) => p.includes(' sluice-expiry '))

  it('leaves it to the next one, which stops it when its time is over', async () => {
    writeFileSync(file('bare'), '')
    await first()
    commit(30, true)
    expect(await answer()).toBe('oss01 done, oss02 done')
    await kill()
    const later = Date.now() + 31_000
    await expect.poll(() => Date.now(), waits).toBeGreaterThan(later)
    for (const host of HOSTS) expect(await isActive(host)).toBe(true)
    await second()
    for (const host of HOSTS) await expect.poll(() => isActive(host), waits).toBe(false)
  })

  it('leaves it to the next one, which gives it a timer on a server that can keep one now', async () => {
    writeFileSync(file('bare'), '')
    await first()
    commit(3600, true)
    expect(await answer()).toBe('oss01 done, oss02 done')
    await kill()
    for (const host of HOSTS) expect(await timers(host)).toEqual([])
    rmSync(file('bare'))
    const { enforce, close } = await second()
    await enforce()
    // The rule of each queue has one.
    for (const host of HOSTS) await expect.poll(() => timers(host), waits).toHaveLength(2)
    // It no longer needs this console.
    await close()
    live = undefined
    for (const host of HOSTS) expect([await isActive(host), (await timers(host)).length]).toEqual([true, 2])
  })
})
