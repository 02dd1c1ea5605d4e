/** Commands that a login may not run on a server with a real sudo, and the console's report of it. */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { shellQuote } from '#core/lustre/lctl.ts'
import { scratch } from '#tests/kits/electron/ssh/sshd.ts'
import { startLab, type Lab } from '../lab/lab.ts'
import { noServers, type LoginShell, type Release } from '../lab/nspawn.ts'
import { ConsoleFolder, isFull, rulesOn, timersOn, until } from './lab.ts'

const HOST = 'oss01'
const OST = 'ost.OSS.ost_io.nrs_tbf_rule'
const HELPER = '/usr/local/sbin/sluice-rule'
const SCENARIO = `title: One
cluster: one
clients: { count: 1 }
control: { max_rate: 200, mode: observe }
oss:
  - { name: ${HOST}, osts: [{ name: one-OST0000, disk: { bandwidth_mb_s: 20 } }] }
jobs:
  - { id: "1.hog.u1001", clients: [1], op: write, size_kib: 64, total_rpcs: 100000000, pattern: { kind: continuous } }
`
const HOG = { name: 'sl_cap', match: 'jobid={1.hog.u1001}', rate: 20 }

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

const labOf = (sudo: 'read' | 'write' | 'none', release: Release = 'bookworm', shell?: LoginShell): Promise<Lab> => {
  const scenario = join(scratch(), 'one.yaml')
  writeFileSync(scenario, SCENARIO)
  return startLab({ parts: 'nspawn', scenario, servers: [HOST], login: 'ops', release, sudo, ...(shell && { shell }) })
}

const error = (ended: { readonly stdout: string }): Record<string, unknown> =>
  (JSON.parse(ended.stdout.trim().split('\n').at(-1) ?? '') as { error?: Record<string, unknown> }).error ?? {}

const SHELLS: readonly { readonly release: Release; readonly shell: LoginShell }[] = [
  { release: 'bookworm', shell: 'dash' },
  { release: 'bookworm', shell: 'bash' },
  { release: 'bookworm', shell: 'busybox' },
  { release: 'trixie', shell: 'dash' },
]

describe
  .skipIf(noServers !== '')
  .each(SHELLS.filter(({ release, shell }) => isFull || (release === 'bookworm' && shell === 'dash')))(
  'the login with the helper, on $release in $shell',
  ({ release, shell }) => {
    let lab: Lab
    beforeAll(async () => {
      lab = await labOf('write', release, shell)
    })
    afterAll(async () => lab?.stop())

    /** Runs a command line in the login's own shell, through sshd. */
    const login = (line: string): Promise<Ended> =>
      new Promise((resolve) => {
        const words = ['-F', lab.sshConfig, '-o', 'BatchMode=yes', HOST, line]
        execFile('ssh', words, { encoding: 'latin1' }, (e, stdout, stderr) =>
          resolve({ code: e ? Number(e.code) : 0, stdout, stderr }),
        )
      })
    const helper = (...words: string[]): Promise<Ended> => login(`sudo -n ${HELPER} ${words.map(shellQuote).join(' ')}`)
    const lists = async (): Promise<[string, string[]]> => [await lab.rules(HOST), await lab.timers(HOST)]

    it('writes, changes and stops rules of Sluice', async () => {
      const started = await helper('start', OST, 'reg', 'sl_hog', 'jobid={a.0 b*}', '50')
      expect(started).toMatchObject({ code: 0, stderr: '' })
      expect(await lab.rules(HOST)).toMatch(/^sl_hog .* 50, ref/m)
      expect((await helper('change', OST, 'reg', 'sl_hog', 'rate=70')).code).toBe(0)
      expect(await lab.rules(HOST)).toMatch(/^sl_hog .* 70, ref/m)
      expect((await helper('stop', OST, 'reg', 'sl_hog')).code).toBe(0)
      expect(await lab.rules(HOST)).not.toContain('sl_hog')
    })

    it('starts and changes nothing while a stop is under way, and stops what it is told', async () => {
      expect((await helper('start', OST, 'reg', 'sl_hog', 'jobid={a.0 b*}', '50')).code).toBe(0)
      expect((await helper('expire', '60', 'sluice-stop-x--y-0000aa-1', OST, 'reg', 'sl_hog')).code).toBe(0)
      for (const words of [
        ['start', OST, 'reg', 'sl_late', 'jobid={b}', '50'],
        ['change', OST, 'reg', 'sl_hog', 'rate=5'],
        ['apply', 'stop', OST, 'reg', 'sl_hog', '--', 'change', OST, 'reg', 'sl_hog', 'rate=5'],
      ]) {
        const said = 'sluice-rule: a stop of Sluice is in progress on this server\n'
        expect(await helper(...words)).toMatchObject({ code: 2, stderr: said })
      }
      expect(await lab.rules(HOST)).toMatch(/^sl_hog .* 50, ref/m)
      expect((await helper('stop', OST, 'reg', 'sl_hog')).code).toBe(0)
      expect((await helper('end', 'sluice-stop-x--y-0000aa-1')).code).toBe(0)
      expect((await helper('start', OST, 'reg', 'sl_late', 'jobid={b}', '50')).code).toBe(0)
      expect((await helper('stop', OST, 'reg', 'sl_late')).code).toBe(0)
    })

    it('sees the file of a timer without any right, as long as the timer waits', async () => {
      const file = '/run/systemd/transient/sluice-a.timer'
      expect((await login(`test -e ${file}`)).code).toBe(1)
      expect((await helper('expire', '60', 'sluice-a', OST, 'reg', 'sl_a')).code).toBe(0)
      expect((await login(`test -e ${file}`)).code).toBe(0)
      expect((await helper('end', 'sluice-a')).code).toBe(0)
      expect((await login(`test -e ${file}`)).code).toBe(1)
    })

    it('exploit: is refused everything else by the helper, and nothing is written', async () => {
      await lab.exec(HOST, `lctl set_param ${OST}='reg start theirs jobid={x.*} rate=9'`)
      const before = await lists()
      const calls = [
        ['stop', OST, 'reg', 'theirs'],
        ['apply', 'start', OST, 'reg', 'sl_a', 'jobid={x}', '5', '--', 'stop', OST, 'reg', 'theirs'],
        [
          'apply',
          'start',
          OST,
          'reg',
          'sl_a',
          'jobid={x}',
          '5',
          '--',
          'start',
          OST,
          'reg',
          'sl_b',
          'jobid={$(id)}',
          '5',
        ],
        ['apply', 'start', OST, 'reg', 'sl_a', 'jobid={x}', '5', '--', 'end', 'sshd', 'x', 'y'],
        ['change', OST, 'reg', 'default', 'rate=1'],
        ['stop', OST, 'reg', 'ab_theirs'],
        ['stop', OST, 'reg', 'sl_a theirs'],
        ['stop', OST, 'reg', 'sl_a\nx'],
        ['stop', `${OST}=x`, 'reg', 'sl_a'],
        ['stop', 'ost.OSS.*.nrs_tbf_rule', 'reg', 'sl_a'],
        ['start', 'jobid_var', 'reg', 'sl_a', 'jobid={x}', '5'],
        ['start', OST, 'reg', 'sl_a', 'jobid={$(id)}', '5'],
        ['start', OST, 'reg', 'sl_a', 'jobid={x} rate=9', '5'],
        ['start', OST, 'reg', 'sl_a', 'jobid={x}\nreboot', '5'],
        ['start', OST, 'reg', 'sl_a', 'jobid={x}', 'a[$(id >&2)]'],
        ['start', OST, 'reg', 'sl_a', 'jobid={x}', '9999999'],
        ['expire', '604801', 'sluice-a', OST, 'reg', 'sl_a'],
        ['expire', '1+x[$(id)]', 'sluice-a', OST, 'reg', 'sl_a'],
        ['expire', '5', 'sluice-a', OST, 'reg', 'sl_a', OST, 'reg', 'theirs'],
        ['end', 'ssh'],
        ['end', '--all'],
        ['end', 'sluice-*'],
        ['fire', OST, 'reg', 'theirs'],
        ['set_param', `${OST}=stop x`],
        [],
      ]
      for (const words of calls) {
        const refused = await helper(...words)
        expect(refused.code, words.join(' ')).toBe(2)
        expect(refused.stderr, words.join(' ')).toMatch(/^sluice-rule: [a-zA-Z0-9_ .,={}[\]-]+\n$/)
      }
      expect(await lists()).toEqual(before)
    })

    it('exploit: is refused everything else by sudo, and its environment does not reach the helper', async () => {
      const before = await lists()
      for (const words of [
        `lctl set_param ${OST}='reg start sl_a jobid={x} rate=5'`,
        `lctl get_param '*'`,
        `lctl get_param jobid_var jobid_name version`,
        'systemd-run true',
        'systemctl stop ssh',
        'sh -c id',
        'LD_PRELOAD=/tmp/x.so true',
        `-u nobody ${HELPER} list`,
        '-s',
        '-e /etc/sudoers',
      ]) {
        const refused = await login(`sudo -n ${words}`)
        expect(refused.code, words).not.toBe(0)
        expect(refused.stderr, words).toMatch(/password is required|not allowed|not permitted/)
      }
      await login(
        'mkdir -p evil; for n in lctl grep systemctl logger; do printf "#!/bin/sh\\ntouch /tmp/owned\\n" >evil/$n; chmod 755 evil/$n; done',
      )
      const environment = `PATH=$HOME/evil:$PATH LCTL=$HOME/evil/lctl RATE_MOST=99999999 ENV=$HOME/evil/grep BASH_ENV=$HOME/evil/grep`
      const call = (rate: string): Promise<Ended> =>
        login(`export ${environment}; /usr/bin/sudo -n ${HELPER} start ${OST} reg sl_a 'jobid={x}' ${rate}`)
      expect((await call('9999999')).code).toBe(2)
      expect((await call('5')).code).toBe(0)
      expect((await lab.exec(HOST, 'test -e /tmp/owned')).code).not.toBe(0)
      expect((await helper('stop', OST, 'reg', 'sl_a')).code).toBe(0)
      expect(await lists()).toEqual(before)
    })

    it('has a rule end by its timer, and may not change a policy', async () => {
      await lab.exec(HOST, `lctl set_param ${OST}='reg stop theirs'`)
      const console = new ConsoleFolder(lab)
      const applied = await console.apply(await console.plan([HOG]), '10s').ended
      expect([applied.code, applied.stderr]).toEqual([0, ''])
      expect(await timersOn(lab, HOST, 'helper')).toMatchObject([{ stops: [{ name: 'sl_cap' }], isOwn: true }])
      await until(
        () => rulesOn(lab, HOST),
        (rules) => rules.length === 0,
      )
      await until(
        () => lab.timers(HOST),
        (units) => units.length === 0,
      )
      const planned = await console.run('policy', 'plan', console.cluster, '--policy', 'tbf nid', '--json')
      const { id } = JSON.parse(planned.stdout) as { id: string }
      const sent = await console.run('policy', 'apply', id, '--target', console.cluster, '--json')
      expect(sent.code).not.toBe(0)
      expect(sent.stdout + sent.stderr).toContain('sudo allows the helper only')
    })
  },
)

describe.skipIf(noServers !== '')('a login that sudo lets read only', () => {
  let lab: Lab
  beforeAll(async () => {
    lab = await labOf('read')
  })
  afterAll(async () => lab?.stop())

  it('plans, and is told why nothing can be written; neither a rule nor a timer is there', async () => {
    const console = new ConsoleFolder(lab)
    const applied = await console.apply(await console.plan([HOG]), '10m').ended
    const words = ['control', console.cluster, '--controller', 'static', '--mode', 'enforce', '--target']
    const enforced = await console.run(...words, console.cluster, '--for', '16', '--json')
    expect([applied.code, error(applied)['code']]).toEqual([1, 'NO_TIMER'])
    expect(applied.stderr).toContain('Allow systemd-run or the helper there')
    expect(enforced.code).toBe(1)
    expect(JSON.parse(enforced.stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
      rules: [{ host: HOST, rules: [] }],
      failures: [{ code: 'RATE_GUESSED' }, { code: 'LEASE_FAILED' }],
    })
    expect([await rulesOn(lab, HOST), await lab.timers(HOST)]).toEqual([[], []])
  })
})

describe.skipIf(noServers !== '')('a login that sudo lets do nothing', () => {
  let lab: Lab
  beforeAll(async () => {
    lab = await labOf('none')
  })
  afterAll(async () => lab?.stop())

  it('is reported, with the sudoers entry to request', async () => {
    const console = new ConsoleFolder(lab)
    const listed = await console.run('rules', 'list', console.cluster, '--json')
    expect(listed.code).not.toBe(0)
    expect(error(listed)).toMatchObject({ code: 'SUDO_NEEDED' })
  })
})
