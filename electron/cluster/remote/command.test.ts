import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isMatchable } from '#core/control/desired-rule.ts'
import { LDLM_PARAMETERS } from '#core/lustre/ldlm-counters.ts'
import { assignmentResults, getParamCommand, setParamCommand, setParamsCommand, shellQuote } from '#core/lustre/lctl.ts'
import { reserveCommand, statusCommand } from '#core/haechi/console.ts'
import { setCommand, setPoliciesCommand, STATUS_COMMAND } from '#core/padll/console.ts'
import { endTimerCommand, listTimersCommand, makeTimerCommand } from '../../enforce/expiry.ts'
import { BATCH_WAYS } from '../batch/query-batch.ts'
import type { NodeConnection } from '../../base/connection.ts'
import { READINGS } from '../discovery/readings.ts'
import { noScope, ROOT_SCOPE, type SudoScope } from './sudo-scope.ts'
import { whileTimerExists } from '../../base/while-timer-exists.ts'
import { filteredCommand } from '../probes/job-filter.ts'
import { CLEAR_COMMAND } from '../control/job-stats-clearing.ts'
import { FIND_READERS } from '../probes/other-readers.ts'
import { READ_SHELL_CPU } from '../probes/shell-cpu.ts'
import { gate, literalOf, type Access, readLine } from './command.ts'
import { SERVICES } from '../../base/service.ts'
import { printed } from '#tests/kits/electron/answers.ts'

const RULES = SERVICES.ost_io.rules
const ROOT: Access = { isRoot: true, sudo: ROOT_SCOPE, lctl: 'lctl' }
const scope = (kind: SudoScope['kind'], more: Partial<SudoScope> = {}): SudoScope => ({
  ...noScope('x'),
  kind,
  ...more,
})
const BROAD: Access = { isRoot: false, sudo: scope('broad'), lctl: '/usr/sbin/lctl' }
const grant = (args: string) => ({ program: '/usr/sbin/lctl', args, isDenied: false })

const sent = (line: string, access = ROOT): string | undefined => {
  const literal = literalOf(line, access)
  return literal.ok ? literal.value : undefined
}
const value = <T>(r: { ok: true; value: T } | { ok: false; error: unknown }): T => {
  if (!r.ok) throw new Error(JSON.stringify(r.error))
  return r.value
}

const stops = [
  { parameter: RULES, queue: 'reg' as const, name: 'ab_0123456789' },
  { parameter: RULES, queue: 'both' as const, name: 'x' },
]
const timer = { unit: 'sluice-edit-1', seconds: 1800, stops }

const CHANGES = ['reg change sl_a rate=7', 'reg start sl_b jobid={4690.python.u1021} rate=50 rank=sl_a']
const REMOVALS = ['reg stop sl_c', 'reg stop sl_d']
const UNDER_TIMER = whileTimerExists('/run/systemd/transient/sluice-lease-1.timer', setParamsCommand(RULES, CHANGES))

/** All command lines that the console sends to a server. */
const OURS: readonly string[] = [
  ...READINGS.map((args) => `lctl ${args.map(shellQuote).join(' ')}`),
  getParamCommand('obdfilter.*.job_stats', SERVICES.ost_io.policies, RULES),
  getParamCommand(...LDLM_PARAMETERS),
  setParamCommand(RULES, 'reg start sl_a jobid={4690.python.u1021} rate=50 rank=x'),
  setParamCommand(RULES, 'change sl_a rate=7'),
  setParamCommand(RULES, 'hp stop sl_a'),
  setParamsCommand(RULES, REMOVALS),
  UNDER_TIMER,
  `${setParamsCommand(RULES, REMOVALS)}; ${UNDER_TIMER}`,
  setParamCommand(SERVICES.mdt.rules, 'start o opcode={ldlm_enqueue}&jobid={a.*} rate=10'),
  setParamCommand(SERVICES.ost_io.policies, 'tbf jobid'),
  setParamCommand(SERVICES.ost_io.policies, 'fifo'),
  'systemctl is-system-running; command -v systemd-run; command -v setsid; command -v nohup',
  'id -u; id -un; hostname',
  'sudo -n -l',
  'date +%s.%N',
  `squeue -h -a -o ${shellQuote('%A|%D|%u|%a')}`,
  ...BATCH_WAYS.map((w) => w.command),
  STATUS_COMMAND,
  statusCommand(12),
  reserveCommand('0123456789abcdef', 'c1', 9000, null) ?? '',
  reserveCommand('0123456789abcdef', 'c1', 0, 4000) ?? '',
  setCommand({ epsilon: 0.1, limits: [{ scope: 'read', rate: 5 }] }, 3),
  setPoliciesCommand("a: 'b'\nc", 3),
  READ_SHELL_CPU,
  FIND_READERS,
  CLEAR_COMMAND,
  filteredCommand(['obdfilter.*.job_stats', RULES], { s: 1, ns: 2 }),
  ...(['systemd', 'shell', 'helper'] as const).flatMap((kind) => [
    value(makeTimerCommand(kind, timer)),
    value(endTimerCommand(kind, timer.unit)),
    value(listTimersCommand(kind)),
  ]),
]

describe('the closed list', () => {
  it.each(OURS)('has %s', (line) => {
    expect(sent(line)).toBe(line)
  })

  it('puts sudo -n and a path before what needs root, and nothing before what does not', () => {
    expect(sent('lctl dl', BROAD)).toBe('sudo -n /usr/sbin/lctl dl')
    expect(sent(setParamCommand(RULES, 'stop a'), BROAD)).toBe(`sudo -n /usr/sbin/lctl set_param ${RULES}='stop a'`)
    expect(sent('systemctl stop sluice-a.timer', BROAD)).toBe('sudo -n /usr/bin/systemctl stop sluice-a.timer')
    for (const line of ['id -u; id -un; hostname', 'squeue --json', 'date +%s.%N', READ_SHELL_CPU, STATUS_COMMAND]) {
      expect(sent(line, BROAD)).toBe(line)
    }
  })

  it('reads ccPFS servers without root', () => {
    for (const line of ['sluice ccpfs list', 'sluice ccpfs observe --after 77:2,78:0 --names 1,2']) {
      expect(sent(line, BROAD)).toBe(line)
    }
  })

  it('reaches root in the way of each timer', () => {
    const as = (kind: 'systemd' | 'shell' | 'helper', access: Access) =>
      sent(value(makeTimerCommand(kind, timer)), access) ?? ''
    expect(as('systemd', BROAD)).toMatch(
      /^sudo -n \/usr\/bin\/systemd-run --on-active=1800s .* sh -c '\/usr\/sbin\/lctl set_param/,
    )
    // The detached shell belongs to the login: sudo precedes lctl inside it.
    expect(as('shell', BROAD)).toMatch(/^sh -c .*until sudo -n \/usr\/sbin\/lctl set_param/s)
    const helped: Access = { ...BROAD, sudo: scope('write', { hasHelper: true, helper: '/opt/sbin/sluice-rule' }) }
    expect(as('helper', helped)).toMatch(/^sudo -n \/opt\/sbin\/sluice-rule expire 1800 sluice-edit-1 /)
    expect(as('shell', { ...ROOT, lctl: '/usr/sbin/lctl' })).toMatch(/until \/usr\/sbin\/lctl set_param/)
  })

  it('sends a reading in the parts that sudoers grants, and whole where the whole is granted', () => {
    const narrow: Access = {
      ...BROAD,
      sudo: scope('read', { grants: [grant('get_param obdfilter.\\*.job_stats'), grant(`get_param ${RULES}`)] }),
    }
    const line = getParamCommand('obdfilter.*.job_stats', SERVICES.ost_io.policies, RULES)
    const parts = `sudo -n /usr/sbin/lctl get_param 'obdfilter.*.job_stats'; sudo -n /usr/sbin/lctl get_param ${RULES}`
    expect(sent(line, narrow)).toBe(parts)
    expect(sent(filteredCommand(['obdfilter.*.job_stats', RULES], { s: 1, ns: 2 }), narrow)).toContain(
      `(${parts}) | LC_ALL=C awk `,
    )
    const whole = grant(`get_param obdfilter.\\*.job_stats ${SERVICES.ost_io.policies} ${RULES}`)
    const wide: Access = { ...narrow, sudo: { ...narrow.sudo, grants: [...narrow.sudo.grants, whole] } }
    expect(sent(line, wide)).toBe(`sudo -n /usr/sbin/${line}`)
    // None of it is granted: sudo itself reports it.
    expect(sent('lctl get_param health_check version', narrow)).toBe(
      'sudo -n /usr/sbin/lctl get_param health_check version',
    )
  })

  it('writes rules through the helper where sudoers allows nothing else', () => {
    const helped: Access = {
      ...BROAD,
      sudo: scope('write', { hasHelper: true, helper: '/usr/local/sbin/sluice-rule' }),
    }
    const as = (v: string) => sent(setParamCommand(RULES, v), helped)
    const helper = 'sudo -n /usr/local/sbin/sluice-rule'
    expect(as('reg start sl_a jobid={a.*}&uid={500} rate=50 rank=sl_b realtime=1')).toBe(
      `${helper} start ${RULES} reg sl_a 'jobid={a.*}&uid={500}' 50 rank=sl_b realtime=1`,
    )
    expect(as('change sl_a rate=7 rank=sl_b')).toBe(`${helper} change ${RULES} both sl_a rate=7 rank=sl_b`)
    expect(as('hp stop sl_a')).toBe(`${helper} stop ${RULES} hp sl_a`)
    const policy = setParamCommand(SERVICES.ost_io.policies, 'tbf jobid')
    expect(literalOf(policy, helped)).toMatchObject({ ok: false, error: { code: 'REMOTE_NO_RIGHT' } })
    expect(sent('lctl dl', helped)).toBe('sudo -n /usr/sbin/lctl dl')
  })

  it('writes several rules with one call of lctl, or of the helper', () => {
    const line = `${setParamsCommand(RULES, REMOVALS)}; ${UNDER_TIMER}`
    const file = '/run/systemd/transient/sluice-lease-1.timer'
    const check = `test -e ${file} || systemctl is-active --quiet sluice-lease-1.timer`
    expect(sent(line)).toBe(line)
    expect(sent(line, BROAD)).toBe(line.replaceAll('lctl ', 'sudo -n /usr/sbin/lctl '))
    const helped: Access = { ...BROAD, sudo: scope('write', { hasHelper: true, helper: '/x/sluice-rule' }) }
    expect(sent(line, helped)).toBe(
      `sudo -n /x/sluice-rule apply stop ${RULES} reg sl_c -- stop ${RULES} reg sl_d; ${check} && ` +
        `sudo -n /x/sluice-rule apply change ${RULES} reg sl_a rate=7 -- start ${RULES} reg sl_b 'jobid={4690.python.u1021}' 50 rank=sl_a`,
    )
    const none: Access = { isRoot: false, sudo: noScope('no'), lctl: '/usr/sbin/lctl' }
    expect(literalOf(line, none)).toMatchObject({ ok: false, error: { code: 'REMOTE_NO_RIGHT' } })
  })

  it('answers like a shell where the login has no right, and sends nothing', async () => {
    const node: NodeConnection = { host: 'h', roles: ['oss'], exec: () => Promise.reject(new Error('it was sent')) }
    const none: Access = { isRoot: false, sudo: noScope('sudo asks for a password'), lctl: '/usr/sbin/lctl' }
    const answer = await gate(node, none).exec('lctl dl')
    expect(answer).toMatchObject({
      ok: true,
      value: { code: 126, stdout: '', stderr: expect.stringMatching(/sudo asks for a password/) as string },
    })
  })

  it('without root and without sudo sends nothing that needs root', () => {
    const none: Access = { isRoot: false, sudo: noScope('no'), lctl: '/usr/sbin/lctl' }
    for (const line of OURS.filter((l) => /^lctl (?!--version)/.test(l))) {
      expect(literalOf(line, none)).toMatchObject({ ok: false, error: { code: 'REMOTE_NO_RIGHT' } })
    }
    for (const kind of ['systemd', 'shell', 'helper'] as const) {
      const line = value(makeTimerCommand(kind, timer))
      expect(literalOf(line, none)).toMatchObject({ ok: false, error: { code: 'REMOTE_NO_RIGHT' } })
    }
    expect(sent(READ_SHELL_CPU, none)).toBe(READ_SHELL_CPU)
  })
})

it('clearing of job_stats goes through sudo where its line is granted, and not through the helper, which cannot', () => {
  const helper = scope('write', { hasHelper: true, grants: [grant('get_param version')] })
  expect(literalOf(CLEAR_COMMAND, { ...BROAD, sudo: helper })).toMatchObject({
    ok: false,
    error: { code: 'REMOTE_NO_RIGHT' },
  })
  const granted = scope('write', { hasHelper: true, grants: [grant('set_param obdfilter.\\*.job_stats=clear')] })
  expect(sent(CLEAR_COMMAND, { ...BROAD, sudo: granted })).toBe(
    "sudo -n /usr/sbin/lctl set_param 'obdfilter.*.job_stats'=clear",
  )
})

const REFUSED: readonly string[] = [
  '',
  ' ',
  'reboot',
  'sh -c reboot',
  'lctl',
  'lctl get_param',
  'lctl get_param -R version',
  'lctl get_param ../../etc/shadow',
  'lctl get_param /etc/shadow',
  'lctl get_param version; reboot',
  'lctl get_param version;reboot',
  'lctl get_param version && reboot',
  'lctl get_param version | sh',
  'lctl get_param version > /etc/passwd',
  'lctl get_param version &',
  'lctl get_param version # x',
  'lctl get_param version\nreboot',
  'lctl get_param `reboot`',
  'lctl get_param $(reboot)',
  'lctl get_param "version"',
  'lctl get_param ver*',
  'lctl get_param  version',
  ' lctl get_param version',
  "'lctl' get_param version",
  'PATH=/tmp lctl get_param version',
  '/tmp/lctl get_param version',
  '~/lctl get_param version',
  'lctl network down',
  'lctl --device 3 deactivate',
  'lctl set_param',
  'lctl set_param jobid_var=x',
  'lctl set_param obdfilter.*.job_stats=clear',
  "lctl set_param 'mdt.*.job_stats'=clear",
  "lctl set_param 'obdfilter.one-OST0000.job_stats'=clear",
  "lctl set_param 'obdfilter.*.job_stats'=1.job.u1",
  "lctl set_param 'obdfilter.*.job_stats'=clear jobid_var=x",
  "lctl set_param -P 'obdfilter.*.job_stats'=clear",
  "lctl set_param 'obdfilter.*.stats'=clear",
  "lctl set_param 'obdfilter.*.job_stats'=clear; lctl set_param 'obdfilter.*.job_stats'=clear",
  `lctl set_param -P ${RULES}='stop a'`,
  `lctl set_param ${RULES}='stop a' jobid_var=x`,
  `lctl set_param ${RULES}='stop a'; lctl set_param ${RULES}='stop b'`,
  `lctl set_param ${RULES}='stop a' ${RULES}`,
  `lctl set_param ${RULES}='stop a' ${SERVICES.mdt.rules}='stop a'`,
  `lctl set_param ${RULES}='stop a' ${SERVICES.ost_io.policies}=fifo`,
  `lctl set_param ${SERVICES.ost_io.policies}=fifo ${SERVICES.ost_io.policies}=fifo`,
  `lctl set_param ${RULES}='stop a' -P ${RULES}='stop b'`,
  setParamsCommand(RULES, Array(65).fill('stop a') as string[]),
  `${setParamsCommand(RULES, REMOVALS)}; reboot; ${UNDER_TIMER}`,
  `${setParamsCommand(RULES, REMOVALS)}; ${UNDER_TIMER}; reboot`,
  `reboot; ${UNDER_TIMER}`,
  `lctl dl; ${UNDER_TIMER}`,
  `${UNDER_TIMER}; ${UNDER_TIMER}`,
  `${setParamsCommand(RULES, REMOVALS)}; ${UNDER_TIMER.replace('sluice-lease-1', 'sshd')}`,
  `${setParamsCommand(RULES, REMOVALS)}; ${UNDER_TIMER.replace('lctl set_param', 'lctl get_param')}`,
  `${setParamsCommand(RULES, REMOVALS)}; test -e /etc/shadow && ${setParamsCommand(RULES, CHANGES)}`,
  `lctl set_param ${RULES}=`,
  `lctl set_param ${RULES}='start a jobid={x} rate=1 $(reboot)'`,
  `lctl set_param ${RULES}='start aaaaaaaaaaaaaaaa jobid={x} rate=1'`,
  `lctl set_param ${RULES}='start a-b jobid={x} rate=1'`,
  `lctl set_param ${RULES}='start a jobid={x"} rate=1'`,
  'lctl set_param ost.OSS.ost.nrs_policies=fifo',
  "lctl set_param ost.OSS.ost_io.nrs_policies='tbf; x'",
  'systemctl stop sshd',
  'systemctl stop sluice-a.timer sshd.service',
  'systemctl poweroff',
  'systemd-run --on-active=5s --unit=sluice-a --collect reboot',
  `systemd-run --on-active=5s --unit=sshd ${setParamCommand(RULES, 'stop a')}`,
  `systemd-run --on-active=5s --unit=sluice-a ${setParamCommand(RULES, 'stop a')}`,
  `systemd-run --on-active=5s --unit=sluice-a --uid=0 ${setParamCommand(RULES, 'stop a')}`,
  `systemd-run --on-active=5s --unit=sluice-a ${setParamCommand(RULES, 'start a jobid={x} rate=1')}`,
  `systemd-run --on-active=5s --unit=sluice-a sh -c ${shellQuote(`${setParamCommand(RULES, 'stop a')}; reboot`)}`,
  `${value(makeTimerCommand('shell', timer))}; reboot`,
  value(makeTimerCommand('shell', timer)).replace('sleep', 'reboot'),
  `${filteredCommand(['version'], { s: 1, ns: 2 })} | sh`,
  filteredCommand(['version'], { s: 1, ns: 2 }).replace('lctl get_param', 'lctl network'),
  'sluice haechi stop',
  'sluice haechi node',
  'sluice haechi add x',
  'sluice haechi status',
  'sluice haechi status --json --since 1; reboot',
  'sluice haechi status --json --since $(id)',
  'sluice haechi set a reservation=1 limit=none',
  'sluice haechi set --run 0123456789abcdef $(id) reservation=1 limit=none',
  'sluice haechi set --run 0123456789abcdef a reservation=-1 limit=none',
  "printf %s 'a' | sluice padll policies set; reboot",
  "printf %s 'a'; reboot; 'b' | sluice padll policies set",
  'sluice ccpfs server --data /tmp/x',
  'sluice ccpfs observe --key-file /etc/shadow',
  'sluice ccpfs observe --names 1 --after 1:1',
  "sluice ccpfs observe --after '1:1;reboot'",
  'sudo -n -l; sudo -n reboot',
  'sudo -n reboot',
  'squeue -o %A --clusters=$(x)',
  'command -v reboot',
  'date -s 0',
  `lctl get_param ${'x'.repeat(130_000)}`,
]

describe('a line that is not on the list', () => {
  it.each(REFUSED.map((l) => [l.slice(0, 100), l]))('is refused: %s', async (_, line) => {
    const seen: string[] = []
    const node: NodeConnection = { host: 'h', roles: ['oss'], exec: async (c) => (seen.push(c), printed('')) }
    for (const access of [ROOT, BROAD]) {
      expect(await gate(node, access).exec(line)).toMatchObject({
        ok: false,
        error: {
          code: 'REMOTE_COMMAND_REFUSED',
          what: 'The command is not on the list of allowed commands',
          unaffected: 'Nothing was sent.',
        },
      })
    }
    expect(seen).toEqual([])
  })

  it('is refused if the path of lctl is not valid', () => {
    expect(literalOf('lctl dl', { ...ROOT, lctl: '/bin/sh -c reboot; lctl' }).ok).toBe(false)
  })

  it('says the command in its message, printable and cut', () => {
    const literal = literalOf(`reboot \x1b[2J${'x'.repeat(500)}`, ROOT)
    expect(literal).toMatchObject({
      ok: false,
      error: { why: expect.stringMatching(/^reboot \?\[2Jx{1,120}$/) as string },
    })
  })
})

/** Bytes that are special to a shell are frequent. */
const hostileId = fc.string({
  unit: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...'\'"`$\\;|&<>(){}[]*?!#~=% \t\n\r-a1.@_') },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 255 }).map((c) => String.fromCharCode(c)) },
  ),
  minLength: 1,
  maxLength: 40,
})

describe('exploit: job ids that are shell code', () => {
  // One id per rule, through the text of the rule and the quoting that all commands use; 10,000 of them.
  const ids = fc.sample(hostileId, { numRuns: 10_000, seed: 20_261_121 })
  const rule = (id: string): string => `reg start sl_x jobid={${id}} rate=5`

  it('pass the gate only as data, and those that a rule may match always do', () => {
    let passed = 0
    for (const id of ids) {
      const line = setParamCommand(RULES, rule(id))
      const literal = sent(line)
      if (isMatchable(id)) expect(literal, JSON.stringify(id)).toBe(line)
      if (literal === undefined) continue
      passed++
      expect(literal).toBe(line)
      expect(readLine(literal)?.map((c) => c.map((w) => w.text))).toEqual([
        ['lctl', 'set_param', `${RULES}=${rule(id)}`],
      ])
      expect(id).not.toMatch(/[`$;|<>"'\\!()\x00-\x1f\x7f-\xff]/)
    }
    expect(passed).toBeGreaterThan(100)
  })

  it('do not leave their rule in a line of several, nor make a result of their own', () => {
    const file = '/run/systemd/transient/sluice-lease-1.timer'
    let passed = 0
    for (const id of ids.slice(0, 3000)) {
      const values = ['reg change sl_a rate=7', rule(id), 'reg start sl_y jobid={b} rate=5']
      const line = `${setParamCommand(RULES, 'reg stop sl_c')}; ${whileTimerExists(file, setParamsCommand(RULES, values))}`
      const literal = sent(line)
      expect(literal === undefined, JSON.stringify(id)).toBe(sent(setParamCommand(RULES, rule(id))) === undefined)
      if (literal === undefined) continue
      passed++
      expect(literal).toBe(line)
      const words = readLine(literal.slice(literal.indexOf(' && ') + 4))?.map((c) => c.map((w) => w.text))
      expect(words).toEqual([['lctl', 'set_param', ...values.map((v) => `${RULES}=${v}`)]])
      const stderr = `error: set_param: setting /sys/kernel/debug/lustre/x=${rule(id)}: Invalid argument\n`
      const { results } = assignmentResults(RULES, values, { stdout: '', stderr, code: 22 })
      expect(results.map((r) => r.message !== '')).toEqual([false, true, false])
    }
    expect(passed).toBeGreaterThan(30)
  })

  it('written without quotes are refused, whatever is dangerous in them', () => {
    for (const id of ids) {
      if (!/[\n\0`$;|&<>()"\\*?~#!\t\r ]/.test(id) && !id.includes("'")) continue
      const literal = sent(`lctl set_param ${RULES}=${id}`)
      expect(literal, JSON.stringify(id)).toBeUndefined()
    }
  })
})
