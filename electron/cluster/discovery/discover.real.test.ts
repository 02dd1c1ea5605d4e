import { afterEach, describe, expect, it } from 'vitest'
import type { PolicyStatus } from '#core/lustre/nrs-policies.ts'
import { formatNrsPolicies } from '#core/lustre/nrs-policies.ts'
import { stopSessions } from '#tests/kits/electron/ssh/console.ts'
import { noSshd } from '#tests/kits/electron/ssh/sshd.ts'
import { SERVICES } from '../../base/service.ts'
import { discover, isCutShort } from './discover.ts'
import { LCTL_PATH } from '../remote/sudo-scope.ts'
import { sudoersToRead } from './readings.ts'
import { look, startStandIn, type StandIn, type StandInOptions } from '#tests/kits/electron/cluster/stand-in.ts'

const policy = (queue: 'reg' | 'hp', name: string, arg = '', state = 'started'): PolicyStatus => ({
  queue,
  name,
  arg,
  state,
  fallback: name === 'fifo',
  queued: 0,
  active: 0,
})
const both = (name: string, arg = ''): string =>
  formatNrsPolicies([policy('reg', 'fifo'), policy('reg', name, arg), policy('hp', 'fifo'), policy('hp', name, arg)])
const rules =
  'regular_requests:\nCPT 0:\nsl_a {4690.*} 50, ref 1\ndefault {*} 10000, ref 0\nhigh_priority_requests:\nCPT 0:\ndefault {*} 10000, ref 0\n'

const OSS_DEVICES =
  '  0 UP osd-zfs testfs-OST0000-osd testfs-OST0000-osd_UUID 4\n  1 UP mgc MGC10.0.2.15@tcp 8a67 4\n' +
  '  2 UP ost OSS OSS_uuid 2\n  3 UP obdfilter testfs-OST0000 testfs-OST0000_UUID 6\n  4 UP obdfilter testfs-OST0001 testfs-OST0001_UUID 6\n'
const MDS_DEVICES = '  5 UP mds MDS MDS_uuid 2\n  6 UP mdt testfs-MDT0000 testfs-MDT0000_UUID 10\n'
const MGS_DEVICES = '  7 UP mgs MGS MGS 4\n'

const COMMON = {
  version: 'version=2.15.8_dirty\n',
  jobid_var: 'jobid_var=SLURM_JOB_ID\n',
  jobid_name: 'jobid_name=%j.%e\n',
  cpu_partition_table: 'cpu_partition_table=\n0\t: 0\n1\t: 1\n',
}
const OSS_PARAMS = {
  ...COMMON,
  [SERVICES.ost_io.policies]: `${SERVICES.ost_io.policies}=\n${both('tbf', 'jobid')}`,
  [SERVICES.ost_io.rules]: `${SERVICES.ost_io.rules}=\n${rules}`,
  'obdfilter.*.job_stats':
    'obdfilter.testfs-OST0000.job_stats=\n- job_id:          a=b\nobdfilter.testfs-OST0001.job_stats=job_stats:\n',
}
const OSS: StandInOptions = { params: OSS_PARAMS, devices: OSS_DEVICES }
const LIVE = `mgs.MGS.live.testfs=
fsname: testfs
flags: 0x20     gen: 15
testfs-MDT0000
testfs-OST0000
testfs-OST0001
testfs-OST0007

Secure RPC Config Rules:

imperative_recovery_state:
    state: full
`
/** Output of sudo for the grants of the sample; without a terminal and into a pipe it does not wrap. */
const sample = sudoersToRead('ops', LCTL_PATH)
  .split('\n')
  .slice(1, -1)
  .map((l) => l.trim().replace(/ \\$/, ''))
  .join(' ')
const LISTED = `User ops may run the following commands on oss01:\n    (root) NOPASSWD: ${sample}\n`

describe.skipIf(noSshd !== '')('finding out about a server over a real sshd', () => {
  let server: StandIn
  afterEach(() => {
    stopSessions()
    server?.sshd.stop()
  })
  const start = async (o: StandInOptions): Promise<StandIn> => (server = await startStandIn(o))

  it('as root: everything, each step with the literal command before its answer', async () => {
    await start(OSS)
    const { found, steps, history } = await look(server)
    if (!found.ok) throw new Error(JSON.stringify(found.error))
    const { sudo, services, ...facts } = found.value
    expect(facts).toMatchObject({
      host: 'oss01',
      hostname: 'oss01',
      user: 'root',
      isRoot: true,
      lctl: 'lctl',
      version: { major: 2, minor: 15, patch: 8, text: '2.15.8_dirty' },
      versionText: '2.15.8_dirty',
      roles: ['oss'],
      targets: ['testfs-OST0000', 'testfs-OST0001'],
      expected: [],
      cpts: 2,
      jobid: { variable: 'SLURM_JOB_ID', name: '%j.%e' },
      timers: 'shell',
    })
    expect(Math.abs(facts.clockSkewMs ?? NaN)).toBeLessThan(1000)
    expect(facts.roundTripMs).toBeGreaterThan(0)
    expect(sudo).toMatchObject({ kind: 'root', watch: expect.stringMatching(/separate login/) as string })
    expect(services).toMatchObject([
      { service: 'ost_io', readsRules: true, rules: [{ name: 'sl_a', rate: 50 }, {}, {}] },
    ])
    expect(steps.map((s) => [s.id, s.state, s.command])).toEqual([
      ['sudo', 'watch', 'id -u; id -un; hostname'],
      ['lctl', 'ok', 'command -v lctl\nlctl get_param -n version'],
      ['role', 'ok', 'lctl dl'],
      ['policy', 'ok', `lctl get_param cpu_partition_table ${SERVICES.ost_io.policies} ${SERVICES.ost_io.rules}`],
      ['jobs', 'ok', "lctl get_param -N 'obdfilter.*.job_stats'; lctl get_param jobid_var jobid_name"],
      ['timer', 'ok', 'systemctl is-system-running; command -v systemd-run; command -v setsid; command -v nohup'],
      ['clock', 'ok', 'date +%s.%N'],
    ])
    expect(steps.find((s) => s.id === 'policy')?.detail).toBe('ost_io tbf jobid, 2 rules; 2 CPTs')
    expect(steps.find((s) => s.id === 'jobs')?.detail).toBe(
      'jobid_var=SLURM_JOB_ID jobid_name=%j.%e; job_stats of 2 targets',
    )
    // Everything that was sent had been listed first.
    const now = history.flatMap((list) =>
      list.filter((s) => s.state === 'now').map((s) => s.command.split('\n').at(-1)),
    )
    for (const s of steps) for (const c of s.command.split('\n')) expect(now).toContain(c)
    // The job table is not read just to find out whether it exists.
    expect(server.calls()).toEqual([
      'lctl get_param -n version',
      'lctl dl',
      `lctl get_param cpu_partition_table ${SERVICES.ost_io.policies} ${SERVICES.ost_io.rules}`,
      'lctl get_param -N obdfilter.*.job_stats',
      'lctl get_param jobid_var jobid_name',
    ])
  })

  it('with the sudoers sample: every reading through sudo -n, in the parts that are granted', async () => {
    await start({ ...OSS, uid: 1000, sudoList: LISTED })
    const { found, steps } = await look(server)
    expect(found).toMatchObject({
      ok: true,
      value: {
        user: 'ops',
        isRoot: false,
        lctl: '/usr/sbin/lctl',
        sudo: { kind: 'read', watch: '' },
        timers: 'none',
        cpts: 2,
      },
    })
    expect(steps.map((s) => s.state)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok', 'skipped', 'ok'])
    const calls = server.calls()
    expect(calls.filter((c) => c.startsWith('sudo '))).toEqual([
      'sudo -n -l',
      ...[
        'get_param -n version',
        'dl',
        'get_param cpu_partition_table',
        `get_param ${SERVICES.ost_io.policies}`,
        `get_param ${SERVICES.ost_io.rules}`,
        'get_param -N obdfilter.*.job_stats',
        'get_param jobid_var jobid_name',
      ].map((c) => `sudo -n /usr/sbin/lctl ${c}`),
    ])
    // No lctl without sudo.
    expect(calls.filter((c) => c.startsWith('lctl '))).toHaveLength(
      calls.filter((c) => c.startsWith('sudo -n /')).length,
    )
  })

  it('any command without a password: works, with a note that it is more than needed', async () => {
    const systemctl = 'echo running'
    await start({
      ...OSS,
      uid: 1000,
      sudoList: '    (ALL) NOPASSWD: ALL\n',
      programs: { systemctl, 'systemd-run': ':' },
    })
    const { found, step } = await look(server)
    expect(found).toMatchObject({ ok: true, value: { sudo: { kind: 'broad' }, timers: 'systemd' } })
    expect(step('sudo')).toMatchObject({ state: 'watch', fix: expect.stringMatching(/sample/) as string })
  })

  it.each([
    ['asks for a password', 'echo "sudo: a password is required" >&2; exit 1', /asks for a password/],
    ['wants a terminal', 'echo "sudo: sorry, you must have a tty to run sudo" >&2; exit 1', /requiretty/],
    ['is not there', 'echo "sh: 1: sudo: not found" >&2; exit 127', /there is no sudo/],
    ['grants nothing', 'echo "Sorry, user ops may not run sudo on oss01." ; exit 1', /grants this login nothing/],
  ])('sudo %s: nothing is read, and the lines to ask for are there', async (_, sudo, why) => {
    await start({ ...OSS, uid: 1000, sudo })
    const { found, step, steps } = await look(server)
    expect(found).toMatchObject({
      ok: false,
      error: { code: 'SUDO_NEEDED', facts: { user: 'ops', sudo: { kind: 'none' } } },
    })
    expect(step('sudo')).toMatchObject({ state: 'bad', detail: expect.stringMatching(why) as string })
    expect(step('sudo').detail).toMatch(/without root are wrong/)
    const path = `${server.folder}/bin/lctl`
    expect(step('sudo').fix).toBe(sudoersToRead('ops', path))
    expect(steps.slice(2).map((s) => s.state)).toEqual(['skipped', 'skipped', 'skipped', 'skipped', 'skipped'])
    expect(server.calls().filter((c) => c.startsWith('lctl '))).toEqual([])
  })

  it('sudo that lists nothing without a password, and runs lctl all the same', async () => {
    const sudo = (bin: string): string => `#!/bin/sh
[ "$2" = -l ] && { echo 'sudo: a password is required' >&2; exit 1; }
shift 2; exec ${bin} "$@"`
    await start({ ...OSS, uid: 1000, sudo: sudo('lctl') })
    const { found, step } = await look(server)
    expect(found).toMatchObject({ ok: true, value: { sudo: { kind: 'read' }, roles: ['oss'] } })
    expect(step('sudo').detail).toMatch(/listpw/)
  })

  it('without lctl: a scheduler where there is one, and nothing of use elsewhere', async () => {
    await start({ uid: 1000, sudo: 'exit 1', programs: { lctl: null, squeue: ':' } })
    const scheduler = await look(server)
    expect(scheduler.found).toMatchObject({ ok: true, value: { roles: ['scheduler'], version: undefined } })
    expect(scheduler.step('sudo').state).toBe('ok')
    expect(scheduler.steps.filter((s) => s.state === 'skipped').map((s) => s.id)).toEqual([
      'lctl',
      'policy',
      'jobs',
      'timer',
    ])
    stopSessions()
    server.sshd.stop()
    await start({ programs: { lctl: null, sluice: ':' } })
    expect((await look(server)).found).toMatchObject({ ok: true, value: { roles: ['controller'] } })
    stopSessions()
    server.sshd.stop()
    await start({ programs: { lctl: null } })
    const none = await look(server)
    expect(none.found).toMatchObject({ ok: false, error: { code: 'NO_LCTL', facts: { isRoot: true } } })
    expect(none.step('lctl')).toMatchObject({ state: 'bad', detail: 'lctl is not installed' })
  })

  it('that sudo would let lctl run on, and that has none, lacks lctl, not a line of sudoers', async () => {
    const sudo = `[ "$2" = -l ] && { cat <<'END'\n${LISTED}END\nexit 0; }\necho "sudo: $2: command not found" >&2; exit 1`
    await start({ uid: 1000, sudo, programs: { lctl: null } })
    const { found, step } = await look(server)
    expect(found).toMatchObject({
      ok: false,
      error: { code: 'NO_LCTL', next: expect.stringMatching(/Lustre server packages/) as string },
    })
    expect(step('lctl')).toMatchObject({ state: 'bad', detail: 'lctl is not installed' })
    expect(step('lctl').fix).not.toMatch(/NOPASSWD/)
  })

  it('with the modules not loaded reports it, with the version of the tool', async () => {
    await start({})
    const { found, step } = await look(server)
    expect(found).toMatchObject({
      ok: false,
      error: { code: 'LUSTRE_NOT_LOADED', next: expect.stringMatching(/modprobe/) as string },
    })
    expect(step('lctl').detail).toMatch(/lctl 2\.15\.8_dirty is there, the modules are not loaded: error: get_param/)
  })

  it('an unknown version is shown and read, and never written to', async () => {
    await start({ ...OSS, params: { ...OSS_PARAMS, version: 'version=exascaler-7\n' } })
    const { found, step } = await look(server)
    expect(found).toMatchObject({ ok: true, value: { version: undefined, versionText: 'exascaler-7', roles: ['oss'] } })
    expect(step('lctl')).toMatchObject({ state: 'watch', detail: expect.stringMatching(/never written to/) as string })
  })

  it('MGS, MDS and OSS in one: all services, and the targets that the MGS has on its books', async () => {
    const params = {
      ...OSS_PARAMS,
      'mgs.MGS.live.*': LIVE,
      [SERVICES.mdt.policies]: `${SERVICES.mdt.policies}=\n${both('fifo')}`,
      [SERVICES.mdt_readpage.policies]: `${SERVICES.mdt_readpage.policies}=\n${both('fifo')}`,
      'mdt.*.job_stats': 'mdt.testfs-MDT0000.job_stats=job_stats:\n',
    }
    await start({ params, devices: OSS_DEVICES + MDS_DEVICES + MGS_DEVICES })
    const { found, step } = await look(server)
    expect(found).toMatchObject({
      ok: true,
      value: {
        roles: ['mgs', 'mds', 'oss'],
        targets: ['testfs-OST0000', 'testfs-OST0001', 'testfs-MDT0000'],
        expected: ['testfs-MDT0000', 'testfs-OST0000', 'testfs-OST0001', 'testfs-OST0007'],
        services: [
          { service: 'ost_io', readsRules: true },
          { service: 'mdt', readsRules: false },
          { service: 'mdt_readpage', readsRules: false },
        ],
      },
    })
    expect(step('policy')).toMatchObject({
      state: 'ok',
      detail: expect.stringMatching(/mdt fifo; mdt_readpage fifo; 2 CPTs/) as string,
    })
  })

  it.each([
    [
      'an MGS alone',
      { devices: MGS_DEVICES, params: { ...COMMON, 'mgs.MGS.live.*': LIVE } },
      'ok',
      /mgs alone: .*4 targets registered/,
    ],
    ['nothing mounted', { devices: '', params: COMMON }, 'watch', /no target is mounted/],
    ['no OST mounted', { devices: '  2 UP ost OSS OSS_uuid 2\n', params: COMMON }, 'watch', /oss: no target/],
    [
      'a client',
      { devices: '  1 UP mgc MGC1@tcp a 4\n  2 UP osc t-OST0000-osc-ff u 4\n', params: COMMON },
      'watch',
      /a client/,
    ],
    [
      'a target that is not up',
      { devices: OSS_DEVICES.replace('3 UP', '3 IN'), params: OSS_PARAMS },
      'watch',
      /testfs-OST0000 is IN/,
    ],
    ['devices not loaded', { params: COMMON }, 'bad', /\/dev\/obd failed/],
  ] as const)('%s', async (_, options, state, detail) => {
    await start(options)
    const { found, step } = await look(server)
    expect(found.ok).toBe(true)
    expect(step('role')).toMatchObject({ state, detail: expect.stringMatching(detail) as string })
  })

  it('job ids that are switched off come with the command that switches them on', async () => {
    await start({ ...OSS, params: { ...OSS_PARAMS, jobid_var: 'jobid_var=disable\n' } })
    const { step } = await look(server)
    expect(step('jobs')).toMatchObject({
      state: 'watch',
      fix: expect.stringMatching(/lctl set_param -P jobid_var=/) as string,
    })
  })

  it('a clock that is off, and one without fractions', async () => {
    await start({ ...OSS, programs: { date: 'echo 1000000000.500000000' } })
    const late = await look(server, { nowMs: () => 1_000_000_090_500 })
    expect(late.found).toMatchObject({ ok: true, value: { clockSkewMs: -90_000 } })
    expect(late.step('clock')).toMatchObject({
      state: 'watch',
      detail: expect.stringMatching(/^90 s behind/) as string,
    })
    stopSessions()
    server.sshd.stop()
    await start({ ...OSS, programs: { date: 'echo 1000000000.N' } })
    const whole = await look(server, { nowMs: () => 1_000_000_000_900 })
    expect(whole.step('clock')).toMatchObject({ state: 'ok', detail: '400 ms behind this machine (within 500 ms)' })
  })

  it.each([
    [
      'noise of login files',
      'echo Welcome; echo 0; echo "version=9.9.9" >&2',
      'exec sh -c "$SSH_ORIGINAL_COMMAND"',
      true,
    ],
    [
      'noise, and no command channel',
      'echo "Welcome to oss01"; echo 0',
      '[ "$SSH_ORIGINAL_COMMAND" = "exec sh" ] && exit 1; exec sh -c "$SSH_ORIGINAL_COMMAND"',
      true,
    ],
    ['no shell', 'echo "This account is currently not available."', 'exit 1', false],
    ['a shell that knows no programs', 'echo "menu: unknown command" >&2', 'exit 127', false],
    ['a forced command that says nothing', ':', 'exit 0', false],
  ])('%s', async (_, noise, run, isOk) => {
    await start({ ...OSS, forced: `#!/bin/sh\n${noise}\n${run}` })
    const { found, step } = await look(server)
    if (isOk)
      expect(found).toMatchObject({
        ok: true,
        value: { user: 'root', versionText: '2.15.8_dirty', cpts: 2, targets: { length: 2 } },
      })
    else {
      expect(found).toMatchObject({ ok: false, error: { code: 'REMOTE_SHELL', facts: undefined } })
      expect(step('sudo')).toMatchObject({ state: 'bad', fix: expect.stringMatching(/shell|login|ssh HOST/) as string })
    }
  })

  it('exploit: a server that answers every question with job ids, escapes and markup', async () => {
    const evil = '\x1b]0;x\x07<img src=x onerror=alert(1)>\n$(reboot)`reboot`;reboot'
    const params = Object.fromEntries(
      Object.keys(OSS_PARAMS).map((name) => [name, `${name.replace(/[*]/g, 'x')}=${evil}\n`]),
    )
    await start({
      params,
      devices: `  1 UP obdfilter ${'A'.repeat(500)}<b> x 1\n  2 UP ost ${evil}`,
      programs: { hostname: `printf '${evil.replaceAll('`', '')}'` },
    })
    const { steps } = await look(server)
    for (const s of steps) {
      expect(s.detail).toMatch(/^[\x20-\x7e…]*$/)
      expect(s.detail.length).toBeLessThanOrEqual(600)
      expect(s.command).not.toContain('reboot')
    }
  })

  it('a command that does not end is an answer, and the rest is not asked', async () => {
    await start({ ...OSS, programs: { lctl: '[ "$1" = dl ] && sleep 30; echo 2.15.8' } })
    const { found, steps } = await look(server, { commandMs: 3000 })
    expect(found).toMatchObject({ ok: false, error: { code: 'SSH_COMMAND_TIMEOUT', facts: { versionText: '2.15.8' } } })
    expect(steps.map((s) => s.state)).toEqual(['watch', 'ok', 'bad', 'skipped', 'skipped', 'skipped', 'skipped'])
  })

  it('a connection that breaks on the way cuts it short, with the list as far as it came', async () => {
    await start(OSS)
    const session = server.session()
    await session.connect()
    let states: readonly string[] = []
    const exec = async (command: string) => {
      if (command === 'lctl dl') session.stop()
      return session.run(command)
    }
    const found = await discover(exec, 'oss01', (steps) => (states = steps.map((s) => s.state)))
    expect(found).toMatchObject({
      ok: false,
      error: { code: 'SSH_NOT_CONNECTED', what: expect.stringMatching(/not connected/) as string },
    })
    expect(!found.ok && isCutShort(found.error)).toBe(true)
    expect(states).toEqual(['watch', 'ok', 'bad', 'skipped', 'skipped', 'skipped', 'skipped'])
  })
})
