import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { noScope } from '../cluster/remote/sudo-scope.ts'
import { throughHelper } from '../cluster/remote/command.ts'
import { scratch } from '#tests/kits/electron/ssh/sshd.ts'
import { endTimerCommand, listTimersCommand, makeTimerCommand, parseTimers } from './expiry.ts'
import { readRecorded, recordedFile } from '../../tests/lab/systemd-answers.ts'

const SOURCE = join(import.meta.dirname, '../../resources/server/sluice-rule')
const OST = 'ost.OSS.ost_io.nrs_tbf_rule'
const shells = ['/bin/dash', '/bin/bash'].filter((s) => existsSync(s))

let folder: string
let program: string
beforeEach(() => {
  folder = scratch()
  const lctl = join(folder, 'lctl')
  writeFileSync(lctl, `#!/bin/sh\nprintf '%s|' "$@" >>'${folder}/log'; echo >>'${folder}/log'\n`)
  chmodSync(lctl, 0o755)
  install({})
})
afterEach(() => {
  for (const t of parseTimers('helper', run(['list']).stdout))
    if (t.unit.includes(String(process.pid))) run(['end', t.unit])
})

/** The program as an admin installs it, except for the paths of the programs it uses. */
function install(more: Readonly<Record<string, string>>): void {
  program = join(folder, 'sluice-rule')
  let text = readFileSync(SOURCE, 'utf8').replace('LCTL=/usr/sbin/lctl', `LCTL='${folder}/lctl'`)
  for (const [from, to] of Object.entries({ '/run/systemd/system': `${folder}/systemd`, ...more })) {
    text = text.replaceAll(from, to)
  }
  writeFileSync(program, text)
  chmodSync(program, 0o755)
}

function run(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  shell?: string,
): { code: number | null; stdout: string; stderr: string } {
  const r = spawnSync(shell ?? program, shell === undefined ? args : [program, ...args], {
    encoding: 'latin1',
    env: { PATH: '/usr/bin:/bin', ...env },
    timeout: 20_000,
  })
  return { code: r.status, stdout: r.stdout, stderr: r.stderr }
}
const log = (): string[] =>
  existsSync(join(folder, 'log')) ? readFileSync(join(folder, 'log'), 'latin1').trim().split('\n') : []

describe.each(shells)('the helper on a server under %s', (shell) => {
  it('is a POSIX script', () => {
    expect(spawnSync(shell, ['-n', SOURCE])).toMatchObject({ status: 0 })
    expect(readFileSync(SOURCE, 'utf8')).not.toMatch(/\beval\b/)
  })

  it('writes rules of Sluice', () => {
    for (const args of [
      ['start', OST, 'reg', 'sl_hog', 'jobid={a.0 b*}&opcode={ost_write}', '50', 'rank=theirs', 'realtime=1'],
      ['start', OST, 'both', 'ab_0123456789', 'jobid={4690.python.u1021}', '999999'],
      ['change', OST, 'reg', 'sl_hog', 'rate=5'],
      ['stop', OST, 'hp', 'sluice_rematch'],
    ]) {
      expect(run(args, {}, shell), args.join(' ')).toEqual({ code: 0, stdout: '', stderr: '' })
    }
    expect(log()).toEqual([
      `set_param|${OST}=reg start sl_hog jobid={a.0 b*}&opcode={ost_write} rate=50 rank=theirs realtime=1|`,
      `set_param|${OST}=start ab_0123456789 jobid={4690.python.u1021} rate=999999|`,
      `set_param|${OST}=reg change sl_hog rate=5|`,
      `set_param|${OST}=hp stop sluice_rematch|`,
    ])
  })

  it('writes several rules with one call of lctl, and none if one is refused', () => {
    const hog = ['start', OST, 'reg', 'sl_hog', 'jobid={a.0 b*}&opcode={ost_write}', '50', 'rank=theirs']
    const change = ['change', OST, 'both', 'ab_0123456789', 'rate=7']
    const stop = ['stop', OST, 'hp', 'sluice_x']
    expect(run(['apply', ...hog, '--', ...change, '--', ...stop], {}, shell)).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    })
    expect(log()).toEqual([
      `set_param|${OST}=reg start sl_hog jobid={a.0 b*}&opcode={ost_write} rate=50 rank=theirs|` +
        `${OST}=change ab_0123456789 rate=7|${OST}=hp stop sluice_x|`,
    ])
    for (const bad of [['stop', OST, 'reg', 'theirs'], ['end', 'sshd', 'x', 'y'], ['apply', ...stop], ['--'], []]) {
      expect(run(['apply', ...hog, '--', ...bad, '--', ...stop], {}, shell).code, bad.join(' ')).toBe(2)
      expect(run(['apply', ...stop, '--', ...bad], {}, shell).code, bad.join(' ')).toBe(2)
    }
    expect(log()).toHaveLength(1)
  })

  it.each([
    ['a rule of others', ['stop', OST, 'reg', 'theirs']],
    ['the built-in rule', ['change', OST, 'reg', 'default', 'rate=1']],
    ['a name that only begins like one of Sluice', ['stop', OST, 'reg', 'ab_theirs']],
    ['a name that is too long', ['stop', OST, 'reg', 'sl_0123456789012']],
    ['a second rule in the name', ['stop', OST, 'reg', 'sl_a theirs']],
    ['a newline in the name', ['stop', OST, 'reg', 'sl_a\nx']],
    ['another parameter', ['stop', 'obdfilter.*.job_stats', 'reg', 'sl_a']],
    ['a parameter with an assignment', ['stop', `${OST}=x`, 'reg', 'sl_a']],
    ['a pattern of parameters', ['stop', 'ost.OSS.*.nrs_tbf_rule', 'reg', 'sl_a']],
    ['another queue', ['stop', OST, 'reg start', 'sl_a']],
    ['a substitution', ['start', OST, 'reg', 'sl_a', 'jobid={$(id)}', '5']],
    ['a back quote', ['start', OST, 'reg', 'sl_a', 'jobid={`id`}', '5']],
    ['quotes', ['start', OST, 'reg', 'sl_a', `jobid={'"}`, '5']],
    ['a second line', ['start', OST, 'reg', 'sl_a', 'jobid={x}\nreboot', '5']],
    ['a first line', ['start', OST, 'reg', 'sl_a', 'reboot\njobid={x}', '5']],
    ['a carriage return', ['start', OST, 'reg', 'sl_a', 'jobid={x}\r', '5']],
    ['a rate behind the conditions', ['start', OST, 'reg', 'sl_a', 'jobid={x} rate=9', '5']],
    ['an end of the list in the list', ['start', OST, 'reg', 'sl_a', 'jobid={x}}', '5']],
    ['an unknown field', ['start', OST, 'reg', 'sl_a', 'anything={x}', '5']],
    ['no conditions', ['start', OST, 'reg', 'sl_a', '', '5']],
    ['conditions without end', ['start', OST, 'reg', 'sl_a', `jobid={${'x'.repeat(2100)}}`, '5']],
    ['a rate of nothing', ['start', OST, 'reg', 'sl_a', 'jobid={x}', '0']],
    ['a rate that is octal', ['start', OST, 'reg', 'sl_a', 'jobid={x}', '010']],
    ['a rate that is an expression', ['start', OST, 'reg', 'sl_a', 'jobid={x}', 'a[$(id >&2)]']],
    ['a rate beyond numbers', ['start', OST, 'reg', 'sl_a', 'jobid={x}', '9'.repeat(40)]],
    ['a rank with a rate', ['start', OST, 'reg', 'sl_a', 'jobid={x}', '5', 'rank=a rate=9']],
    ['another pair', ['start', OST, 'reg', 'sl_a', 'jobid={x}', '5', 'hp=1']],
    ['too much', ['stop', OST, 'reg', 'sl_a', OST, 'reg', 'theirs']],
    ['time without end', ['expire', '604801', 'sluice-a', OST, 'reg', 'sl_a']],
    ['time that is an expression', ['expire', '1+x[$(id)]', 'sluice-a', OST, 'reg', 'sl_a']],
    ['a timer of others', ['end', 'sshd']],
    ['a timer that is an option', ['end', '--all']],
    ['a timer that is a pattern', ['end', 'sluice-*']],
    ['a timer for a rule of others', ['expire', '5', 'sluice-a', OST, 'reg', 'sl_a', OST, 'reg', 'theirs']],
    ['a timer that says half of it', ['expire', '5', 'sluice-a', OST, 'reg', 'sl_a', OST]],
    ['a firing for a rule of others', ['fire', OST, 'reg', 'theirs']],
    [
      'a rule of others among those of Sluice',
      ['apply', 'stop', OST, 'reg', 'sl_a', '--', 'stop', OST, 'reg', 'theirs'],
    ],
    [
      'a substitution among rules',
      ['apply', 'stop', OST, 'reg', 'sl_a', '--', 'start', OST, 'reg', 'sl_b', 'jobid={$(id)}', '5'],
    ],
    ['a second line among rules', ['apply', 'stop', OST, 'reg', 'sl_a', '--', 'stop', OST, 'reg', 'sl_b\nx']],
    ['an assignment among rules', ['apply', 'stop', OST, 'reg', 'sl_a', '--', 'x', 'y', 'z', 'jobid_var=x']],
    ['an assignment in place of a parameter', ['apply', 'stop', 'jobid_var=x', 'reg', 'sl_a']],
    ['a timer among rules', ['apply', 'end', 'sshd', 'x', 'y']],
    ['an expiry among rules', ['apply', 'expire', '5', 'sluice-a', OST, 'reg', 'sl_a']],
    [
      'more rules than it takes',
      [
        'apply',
        ...Array.from({ length: 64 }, () => ['stop', OST, 'reg', 'sl_a', '--']).flat(),
        'stop',
        OST,
        'reg',
        'sl_a',
      ],
    ],
    ['two expressions without a sign between', ['start', OST, 'reg', 'sl_a', 'jobid={x}uid={5}', '5']],
    ['conditions that end with a sign', ['start', OST, 'reg', 'sl_a', 'jobid={x}&', '5']],
    ['a list in a list', ['start', OST, 'reg', 'sl_a', 'jobid={x{y}}', '5']],
    ['a text before the field', ['start', OST, 'reg', 'sl_a', 'x jobid={x}', '5']],
    ['no verb', []],
    ['another verb', ['set_param', `${OST}=stop x`]],
  ])('exploit: %s is refused', (_what, args) => {
    const r = run(args, {}, shell)
    expect(r.code).toBe(2)
    expect(r.stderr).toMatch(/^sluice-rule: [a-zA-Z0-9_ .,={}[\]-]+\n$/)
    expect(log()).toEqual([])
  })

  it('exploit: the environment changes nothing', () => {
    const evil = join(folder, 'evil')
    mkdirSync(evil)
    for (const name of ['grep', 'lctl', 'logger', 'systemctl', 'sed', 'tr']) {
      writeFileSync(join(evil, name), `#!/bin/sh\ntouch '${folder}/owned'\nexit 0\n`)
      chmodSync(join(evil, name), 0o755)
    }
    const touch = `() { touch '${folder}/owned'; }`
    const env = {
      PATH: `${evil}:/usr/bin:/bin`,
      IFS: 'a',
      ENV: join(evil, 'grep'),
      BASH_ENV: join(evil, 'grep'),
      CDPATH: evil,
      'BASH_FUNC_grep%%': touch,
      'BASH_FUNC_printf%%': touch,
      'BASH_FUNC_command%%': touch,
      'BASH_FUNC_[%%': touch,
      LC_ALL: 'tr_TR.UTF-8',
      RATE_MOST: '99999999',
      LCTL: join(evil, 'lctl'),
      MARK: 'x',
      EXPRESSION: '.*',
      POSIXLY_CORRECT: '1',
    }
    expect(run(['start', OST, 'reg', 'sl_a', 'jobid={x}', '5'], env, shell).code).toBe(0)
    expect(run(['start', OST, 'reg', 'sl_a', 'jobid={x}', '9999999'], env, shell).code).toBe(2)
    expect(run(['start', OST, 'reg', 'sl_a', 'anything', '5'], env, shell).code).toBe(2)
    expect(run(['apply', 'stop', OST, 'reg', 'sl_a', '--', 'stop', OST, 'reg', 'theirs'], env, shell).code).toBe(2)
    expect(existsSync(join(folder, 'owned'))).toBe(false)
    expect(log()).toEqual([`set_param|${OST}=reg start sl_a jobid={x} rate=5|`])
  })

  it('keeps an expiry without systemd: listed, fired, ended', async () => {
    const unit = `sluice-h${process.pid}-${shell.length}`
    const spec = { unit, seconds: 3, stops: [{ parameter: OST, queue: 'reg' as const, name: 'sl_hog' }] }
    const words = (r: { ok: true; value: string } | { ok: false }): string[] =>
      r.ok ? r.value.split(' ').slice(1) : []
    const listed = () =>
      parseTimers('helper', run(words(listTimersCommand('helper'))).stdout).filter((t) => t.unit === unit)
    expect(run(words(makeTimerCommand('helper', spec))).code).toBe(0)
    expect(listed()).toMatchObject([{ stops: spec.stops }])
    expect(log()).toEqual([])
    while (log().length === 0) await new Promise((done) => setTimeout(done, 25))
    expect(log()).toEqual([`set_param|${OST}=reg stop sl_hog|`])
    expect(run(words(makeTimerCommand('helper', { ...spec, seconds: 600 }))).code).toBe(0)
    expect(run(['end', unit.slice(0, -1)]).code).toBe(5)
    expect(run(words(endTimerCommand('helper', unit))).code).toBe(0)
    expect(listed()).toEqual([])
    expect(run(words(endTimerCommand('helper', unit))).code).toBe(5)
  })
})

describe('the helper where there is systemd', () => {
  beforeEach(() => {
    mkdirSync(join(folder, 'systemd'))
    const bin = join(folder, 'bin')
    mkdirSync(bin)
    for (const name of ['systemd-run', 'systemctl']) {
      writeFileSync(
        join(bin, name),
        `#!/bin/sh\nprintf '%s|' ${name} "$@" >>'${folder}/log'; echo >>'${folder}/log'\n[ "$1" != show ] || cat '${join(folder, 'shown')}'\n`,
      )
      chmodSync(join(bin, name), 0o755)
    }
    // The helper's own timer, as printed by systemd 252.
    const { answers } = readRecorded(readFileSync(recordedFile(252), 'utf8'))
    const shown = answers.find(
      (a) => a.command.startsWith('systemctl show --all') && a.stdout.includes('sluice-rule fire'),
    )
    writeFileSync(join(folder, 'shown'), shown?.stdout ?? '')
    install({ 'PATH=/usr/sbin': `PATH=${bin}:/usr/sbin` })
  })

  it('leaves the expiry to a transient timer that calls the helper again', () => {
    expect(run(['expire', '90', 'sluice-a', OST, 'reg', 'sl_a']).code).toBe(0)
    expect(log()[0]?.replace(/sluice-rule sluice-a \d+ /, 'sluice-rule sluice-a AT ')).toBe(
      `systemd-run|--quiet|--on-active=90s|--timer-property=AccuracySec=1s|--unit=sluice-a|--collect|--description=sluice-rule sluice-a AT ${OST} reg sl_a|${program}|fire|${OST}|reg|sl_a|`,
    )
    expect(parseTimers('helper', run(['list']).stdout)).toMatchObject([
      { unit: 'sluice-rec-h', stops: [{ name: 'sl_help' }, { name: 'sl_more', queue: 'both' }] },
    ])
    run(['end', 'sluice-a'])
    expect(log().at(-1)).toBe('systemctl|stop|sluice-a.timer|')
  })
})

describe('rule commands in the words of the helper', () => {
  const name = fc.constantFrom(
    'ab_0123456789',
    'sl_x',
    'sl_hog_of_ml',
    'pd_abcdef0123',
    'theirs',
    'default',
    'sluice_rematch',
  )
  const value = fc.oneof(
    fc
      .tuple(name, fc.constantFrom('reg ', 'hp ', ''), fc.integer({ min: 1, max: 999_999 }))
      .map(([n, q, r]) => `${q}change ${n} rate=${r}`),
    fc.tuple(name, fc.constantFrom('reg ', 'hp ', '')).map(([n, q]) => `${q}stop ${n}`),
    fc
      .tuple(
        name,
        fc.constantFrom('reg ', 'hp ', ''),
        fc.stringMatching(/^[A-Za-z0-9.@_:/+#%=~^*?-]{1,31}$/),
        fc.boolean(),
      )
      .map(([n, q, id, ranked]) => `${q}start ${n} jobid={${id}} rate=7${ranked ? ' rank=default' : ''}`),
  )

  it('come out of the helper as they went in, byte for byte, and those of others do not', () => {
    fc.assert(
      fc.property(value, (v) => {
        const call = throughHelper([`${OST}=${v}`], { ...noScope('', ''), hasHelper: true, helper: '/x/sluice-rule' })
        const command = call.ok ? call.value : ''
        expect(command).toMatch(/^sudo -n \/x\/sluice-rule /)
        const isOurs = !/ (?:theirs|default)(?: |$)/.test(v.replace(/ rank=\w+/, ''))
        writeFileSync(join(folder, 'log'), '')
        const r = spawnSync('/bin/sh', ['-c', command.replace('sudo -n /x/sluice-rule', `'${program}'`)], {
          encoding: 'latin1',
        })
        expect([r.status, log()]).toEqual(isOurs ? [0, [`set_param|${OST}=${v}|`]] : [2, ['']])
      }),
      { numRuns: 60 },
    )
  })

  it('come out of one call of the helper together, byte for byte, or not at all', () => {
    fc.assert(
      fc.property(fc.array(value, { minLength: 2, maxLength: 6 }), (values) => {
        const call = throughHelper(
          values.map((v) => `${OST}=${v}`),
          { ...noScope('', ''), hasHelper: true, helper: '/x/sluice-rule' },
        )
        const command = call.ok ? call.value : ''
        expect(command).toMatch(/^sudo -n \/x\/sluice-rule apply /)
        const areOurs = values.every((v) => !/ (?:theirs|default)(?: |$)/.test(v.replace(/ rank=\w+/, '')))
        writeFileSync(join(folder, 'log'), '')
        const r = spawnSync('/bin/sh', ['-c', command.replace('sudo -n /x/sluice-rule', `'${program}'`)], {
          encoding: 'latin1',
        })
        const written = `set_param|${values.map((v) => `${OST}=${v}|`).join('')}`
        expect([r.status, log()]).toEqual(areOurs ? [0, [written]] : [2, ['']])
      }),
      { numRuns: 60 },
    )
  })
})
