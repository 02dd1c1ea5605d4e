/** Commit of a rule over SSH to three servers, one of which fails in the middle: the report matches the state of the server. */
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { LIMITS } from '#electron/ssh/limits.ts'
import { noSshd, scratch } from '../kits/electron/ssh/sshd.ts'
import { startLab, type Lab } from '../lab/lab.ts'
import { endsOf, liveConsole, type LiveConsole } from './live-console.ts'

const HOSTS = ['oss01', 'oss02', 'oss03'] as const
const CAP = 'start cap jobid={1.hog.u1} rate=20'
/** A silent server is detected in four seconds. */
const LIMITS_HERE = { ...LIMITS, keepaliveMs: 1000, backoff: { baseMs: 100, mostMs: 400 }, stableMs: 1000 }

const SCENARIO = [
  'title: Three',
  'cluster: three',
  'clients: { count: 2 }',
  'control: { max_rate: 200, mode: observe }',
  'oss:',
  ...HOSTS.map((h, i) => `  - { name: ${h}, osts: [{ name: three-OST000${i}, disk: { bandwidth_mb_s: 1000 } }] }`),
  'jobs:',
  '  - { id: "1.hog.u1", clients: [1], op: write, size_kib: 64, total_rpcs: 4, pattern: { kind: continuous } }',
  '',
].join('\n')

/**
 * Delays the start of the rule on oss02, before or after it is executed, as long as the test needs. Next on PATH is the stand-in.
 */
const HELD = [
  'PATH=${PATH#*:}',
  'hold() { [ -e $LAB_SHARED/$1 ] || return 0; : >$LAB_SHARED/reached; while [ -e $LAB_SHARED/$1 ]; do sleep 0.05; done; }',
  'case "$*" in *"start cap"*) ;; *) exec lctl "$@" ;; esac',
  '[ "$(hostname)" = oss02 ] || exec lctl "$@"',
  'hold before',
  'lctl "$@"; code=$?',
  'hold after',
  'exit $code',
].join('\n')

const waits = { timeout: 60_000, interval: 100 }

describe.skipIf(noSshd !== '')('a rule for three servers over SSH', () => {
  const folder = scratch()
  const file = (name: string): string => join(folder, name)
  let lab: Lab
  let live: LiveConsole
  beforeAll(async () => {
    const scenario = join(folder, 'three.yaml')
    writeFileSync(scenario, SCENARIO)
    lab = await startLab({ scenario, servers: HOSTS, programs: { lctl: HELD }, shared: folder })
  })
  afterEach(async () => {
    for (const name of ['before', 'after', 'reached']) rmSync(file(name), { force: true })
    await live?.close()
    lab.resume('oss02')
    for (const host of HOSTS) {
      await lab.exec(host, "lctl set_param ost.OSS.ost_io.nrs_tbf_rule='stop cap'")
      for (const unit of await lab.timers(host)) await lab.exec(host, `systemctl stop ${unit}`)
    }
  })
  afterAll(async () => lab?.stop())

  const open = async (): Promise<void> => {
    live = await liveConsole({ cluster: lab.clusterFile, knownHosts: lab.knownHosts, limits: LIMITS_HERE })
    await live.show()
    await live.card((c) => c.state === 'connected')
    await live.enforce()
  }
  /** Actual presence of the rule on a server, and its timers, bypassing SSH. */
  const truth = async (host: string): Promise<[boolean, number]> => {
    return [/^cap /m.test(await lab.rules(host)), (await lab.timers(host)).length]
  }
  const stateOf = (host: string): string | undefined =>
    live
      .ruleService()
      .changes.find((c) => c.nodes.some((n) => n.host === host && c.title === 'start cap'))
      ?.nodes.find((n) => n.host === host)?.state
  const undo = async (): Promise<string[]> => {
    await live.client.rules.undo({
      changeId:
        live
          .ruleService()
          .changesOf('ost_io')
          .find((c) => c.title === 'start cap')?.id ?? '',
    })
    return live.commit()
  }

  it.each([
    { fault: 'is cut off before it took the rule', at: 'before', ends: [false] },
    { fault: 'is cut off when it had taken the rule', at: 'after', ends: [true] },
    { fault: 'hangs, and takes the rule when it comes back', at: 'before', ends: [true] },
    { fault: 'comes back with an empty memory', at: 'after', ends: [false] },
  ])('of which one $fault: unknown, then the truth; and all of it is taken back', async ({ fault, at, ends }) => {
    await open()
    await live.stage(CAP, 600)
    writeFileSync(file(at), '')
    const sent = live.commit()
    await expect.poll(() => existsSync(file('reached')), waits).toBe(true)
    if (fault.startsWith('hangs')) lab.stall('oss02')
    else lab.cut('oss02')
    rmSync(file(at))
    expect(await sent).toEqual(['oss01 done', 'oss02 unknown', 'oss03 done'])
    for (const host of ['oss01', 'oss03']) expect(await truth(host)).toEqual([true, 1])
    // A rule on an unreachable server has its timer.
    const [isActive, timers] = await truth('oss02')
    expect(timers).toBe(1)
    if (!fault.startsWith('hangs')) expect([isActive]).toEqual([at === 'after'])
    if (fault.startsWith('hangs')) lab.resume('oss02')
    else {
      if (fault.endsWith('empty memory')) {
        lab.kill('oss02')
        await lab.forget('oss02')
      }
      await lab.restart('oss02')
    }
    await live.card((c) => c.state === 'connected')
    await expect.poll(() => stateOf('oss02'), waits).not.toBe('unknown')
    expect([(await truth('oss02'))[0]]).toEqual(ends)
    expect(stateOf('oss02') === 'done').toBe(ends[0])
    if (fault.endsWith('empty memory')) {
      await lab.exec('oss02', "lctl set_param ost.OSS.ost_io.nrs_policies='tbf jobid'")
      const policy = (): string | undefined =>
        live
          .ruleService()
          .servers('ost_io')
          .find((s) => s.server === 'oss02')?.tbf.reg
      await expect.poll(policy, waits).toBe('jobid')
    }
    const back = await undo()
    expect(back).toEqual(expect.arrayContaining(['oss01 done', 'oss03 done']))
    expect(back.filter((end) => !end.endsWith(' done'))).toEqual([])
    for (const host of HOSTS) expect((await truth(host))[0]).toBe(false)
    // A timer on a server with unknown outcome may remain: it stops what no longer exists.
    for (const host of ['oss01', 'oss03']) expect(await truth(host)).toEqual([false, 0])
  })

  it('taken back while one is away waits for that one, and is sent when it answers', async () => {
    await open()
    await live.stage(CAP, 600)
    expect(await live.commit()).toEqual(HOSTS.map((h) => `${h} done`))
    lab.cut('oss03')
    await live.card((c) => c.state === 'partial')
    await expect.poll(() => live.host.monitor.missing.has('oss03'), waits).toBe(true)
    expect(await undo()).toEqual(['oss01 done', 'oss02 done', 'oss03 pending'])
    expect(await Promise.all(HOSTS.map(truth))).toEqual([
      [false, 0],
      [false, 0],
      [true, 1],
    ])
    expect((await live.staged()).changes.find((c) => c.title === 'start cap')).toMatchObject({
      undone: false,
      pending: [{ host: 'oss03' }],
    })
    await lab.restart('oss03')
    await expect.poll(() => truth('oss03'), waits).toEqual([false, 0])
    await expect
      .poll(async () => (await live.staged()).changes.find((c) => c.title === 'start cap'), waits)
      .toMatchObject({ undone: true, pending: [] })
    expect(endsOf(live.ruleService().changes[0]?.nodes ?? [])).toEqual(HOSTS.map((h) => `${h} done`))
  })
})
