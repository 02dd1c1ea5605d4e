import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { endpointOf, knowing, sessionOf, stopSessions } from '#tests/kits/electron/ssh/console.ts'
import { makeKey, noSshd, publicHalf, scratch, startSshd, type Sshd } from '#tests/kits/electron/ssh/sshd.ts'
import { endTimerCommand, listTimersCommand, makeTimerCommand, parseTimers, type FoundTimer } from './expiry.ts'
import type { TimerSpec } from './expiry-spec.ts'

const OST = 'ost.OSS.ost_io.nrs_tbf_rule'
const hasProc = existsSync('/proc/self/cmdline')
const shells = ['/bin/sh', '/bin/dash', '/bin/bash', '/bin/busybox'].filter((s) => existsSync(s))

let folder: string
let lctl: string
let number = 0
let unit: string
beforeEach(() => {
  folder = scratch()
  mkdirSync(join(folder, 'sbin'))
  lctl = join(folder, 'sbin', 'lctl')
  // Fake lctl: logs its arguments verbatim.
  writeFileSync(lctl, `#!/bin/sh\nprintf '%s|' "$@" >>'${folder}/log'; echo >>'${folder}/log'\n`)
  chmodSync(lctl, 0o755)
  unit = `sluice-test-${process.pid}-${++number}`
})
afterEach(() => {
  const end = endTimerCommand('shell', unit)
  if (hasProc && end.ok) spawnSync('/bin/sh', ['-c', end.value])
})

const log = (): string[] =>
  existsSync(join(folder, 'log')) ? readFileSync(join(folder, 'log'), 'utf8').trim().split('\n') : []
const value = (r: { ok: true; value: string } | { ok: false; error: unknown }): string => {
  if (!r.ok) throw new Error(JSON.stringify(r.error))
  return r.value
}
const make = (seconds: number, stops: TimerSpec['stops'] = [{ parameter: OST, queue: 'reg', name: 'hog' }]): string =>
  value(makeTimerCommand('shell', { unit, seconds, stops }, { lctl, sudo: false }))
const end = (): string => value(endTimerCommand('shell', unit))
const list = value(listTimersCommand('shell'))
const mine = (stdout: string): FoundTimer[] => parseTimers('shell', stdout).filter((t) => t.unit === unit)

async function until(what: () => boolean): Promise<void> {
  while (!what()) await new Promise((done) => setTimeout(done, 25))
}
const isRunning = (pid: number | undefined): boolean => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1') !== ''
  } catch {
    return false
  }
}

/** The sleep process of a timer. */
const sleepOf = (pid: number | undefined): number => {
  const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
    .trim()
    .split(/\s+/)
  expect(children).toHaveLength(1)
  return Number(children[0])
}

describe.skipIf(!hasProc).each(shells)('a detached timer under %s', (shell) => {
  const run = (command: string): { stdout: string; code: number | null } => {
    const args = shell.endsWith('busybox') ? ['sh', '-c', command] : ['-c', command]
    const r = spawnSync(shell, args, { encoding: 'latin1', timeout: 20_000 })
    return { stdout: r.stdout, code: r.status }
  }

  it('stops its rules, queue by queue, when its time has come', async () => {
    const stops = [
      { parameter: OST, queue: 'reg' as const, name: 'hog' },
      { parameter: 'mds.MDS.mdt.nrs_tbf_rule', queue: 'both' as const, name: 'ab_0123456789' },
    ]
    const made = run(make(1, stops))
    expect(made.code).toBe(0)
    await until(() => log().length === 2)
    expect(log()).toEqual([`set_param|${OST}=reg stop hog|`, 'set_param|mds.MDS.mdt.nrs_tbf_rule=stop ab_0123456789|'])
    await until(() => !isRunning(Number(made.stdout)))
    expect(mine(run(list).stdout)).toEqual([])
  })

  it('is listed with what it stops, ends with its sleep, once, and leaves nothing', async () => {
    const stops = [
      { parameter: OST, queue: 'reg' as const, name: 'hog' },
      { parameter: 'mds.MDS.mdt.nrs_tbf_rule', queue: 'both' as const, name: 'ab_0123456789' },
    ]
    const made = run(make(600, stops))
    expect(made.code).toBe(0)
    const [listed] = mine(run(list).stdout)
    expect(listed).toMatchObject({ unit, stops, isOwn: true, pid: Number(made.stdout) })
    expect(listed?.leftS).toBeLessThanOrEqual(600)
    expect(listed?.leftS).toBeGreaterThan(500)
    const sleep = sleepOf(listed?.pid)
    expect(run(end()).code).toBe(0)
    // A signal that was sent does not mean a process that has ended.
    await until(() => !isRunning(listed?.pid) && !isRunning(sleep))
    expect(mine(run(list).stdout)).toEqual([])
    expect(run(end()).code).toBe(5)
    expect(readdirSync(folder)).toEqual(['sbin'])
    expect(log()).toEqual([])
  })
})

describe.skipIf(!hasProc)('a detached timer', () => {
  const run = (command: string, env: NodeJS.ProcessEnv = process.env): string =>
    execFileSync('/bin/sh', ['-c', command], { encoding: 'latin1', env })

  it('keeps running after HUP, INT, QUIT and PIPE', async () => {
    const pid = Number(run(make(600)))
    for (const signal of ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGPIPE'] as const) process.kill(pid, signal)
    expect(mine(run(list))).toMatchObject([{ unit, pid }])
    expect(log()).toEqual([])
    process.kill(sleepOf(pid), 'SIGKILL')
    await until(() => log().length > 0)
    expect(log()).toEqual([`set_param|${OST}=reg stop hog|`])
  })

  it('whose sleep is killed fires early rather than never', async () => {
    run(make(600))
    const pid = mine(run(list))[0]?.pid
    process.kill(sleepOf(pid), 'SIGKILL')
    await until(() => log().length > 0)
    expect(log()).toEqual([`set_param|${OST}=reg stop hog|`])
  })

  it('tries again when the server refuses for a moment', async () => {
    writeFileSync(lctl, `#!/bin/sh\necho try >>'${folder}/log'; [ "$(wc -l <'${folder}/log')" -ge 2 ]\n`)
    run(make(1))
    await until(() => log().length === 2)
    expect(log()).toEqual(['try', 'try'])
  })

  it('is not ended by the name of another that begins alike, and ends none by a pattern', () => {
    run(make(600))
    for (const other of [unit.slice(0, -1), `${unit}1`, 'sluice-x']) {
      const r = spawnSync('/bin/sh', ['-c', value(endTimerCommand('shell', other))])
      expect(r.status).toBe(5)
    }
    expect(mine(run(list))).toHaveLength(1)
  })

  it('is not confused with a process that only imitates its arguments', () => {
    const line = `/proc/1 0 sh -c sluice-expiry ${unit} 99 9 ${OST} reg hog \n10.00 10.00\n`
    // Of another login it is listed, but proves nothing.
    expect(mine(line)).toMatchObject([{ isOwn: false }])
    expect(mine(line.replace('sh -c', 'vi x'))).toEqual([])
    expect(mine(line.replace('hog', '$(id)'))).toEqual([])
  })
})

describe.skipIf(noSshd !== '' || !hasProc)('a detached timer made through a real sshd', () => {
  let sshd: Sshd
  let key: string
  beforeAll(async () => {
    key = makeKey(join(scratch(), 'id'))
    sshd = await startSshd({ authorized: [publicHalf(key)] })
  })
  afterAll(() => sshd?.stop())
  afterEach(stopSessions)
  const open = async () => {
    const session = sessionOf(knowing(sshd.knownLines()), endpointOf(sshd.port, [key]))
    const connected = await session.connect()
    if (!connected.ok) throw new Error(JSON.stringify(connected.error))
    return session
  }

  it.each(['run', 'exec'] as const)('does not hold the connection, and fires after it was killed (%s)', async (way) => {
    const session = await open()
    expect(await session[way](make(600))).toMatchObject({ ok: true, value: { code: 0 } })
    const listed = await session[way](list)
    const [timer] = listed.ok ? mine(listed.value.stdout) : []
    expect(timer).toMatchObject({ unit, isOwn: true })
    sshd.killSessions()
    await until(() => session.state.kind !== 'connected')
    session.stop()
    expect(log()).toEqual([])
    expect(isRunning(timer?.pid)).toBe(true)
    process.kill(sleepOf(timer?.pid), 'SIGKILL')
    await until(() => log().length > 0)
    expect(log()).toEqual([`set_param|${OST}=reg stop hog|`])
    expect(readdirSync(folder).toSorted()).toEqual(['log', 'sbin'])
  })

  it('is seen and ended from another connection', async () => {
    const first = await open()
    await first.run(make(600))
    first.stop()
    const second = await open()
    const listed = await second.run(list)
    expect(listed.ok && mine(listed.value.stdout)).toHaveLength(1)
    expect(await second.run(end())).toMatchObject({ ok: true, value: { code: 0 } })
    const after = await second.run(list)
    expect(after.ok && mine(after.value.stdout)).toEqual([])
  })

  it('outlives the signals that end a command of its session', async () => {
    const session = await open()
    const made = await session.run(make(600))
    const pid = made.ok ? Number(made.value.stdout) : NaN
    // The channel's process group is killed with the command that takes too long.
    expect(await session.run('sleep 20', { timeoutMs: 100 })).toMatchObject({ ok: false })
    expect(isRunning(pid)).toBe(true)
    expect(log()).toEqual([])
    process.kill(sleepOf(pid), 'SIGKILL')
    await until(() => log().length > 0)
    expect(log()).toEqual([`set_param|${OST}=reg stop hog|`])
  })
})
