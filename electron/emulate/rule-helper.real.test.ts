import { spawnSync } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ruleHelper } from '#core/emulator/rule-helper.ts'
import { resourcePath } from '#electron/files/resources.ts'
import { scratch } from '#tests/kits/electron/ssh/sshd.ts'

const PARAMETER = 'ost.OSS.ost_io.nrs_tbf_rule'

/** Runs the actual script, with an lctl that prints its arguments and without access to the system log. */
function realHelper(): (args: readonly string[]) => { stdout: string; stderr: string; code: number } {
  const folder = scratch()
  const lctl = join(folder, 'lctl')
  writeFileSync(lctl, '#!/bin/sh\nprintf "%s\\n" "$@"\n')
  chmodSync(lctl, 0o755)
  const script = join(folder, 'sluice-rule')
  const text = readFileSync(resourcePath(join('server', 'sluice-rule')), 'utf8')
  writeFileSync(script, text.replace('LCTL=/usr/sbin/lctl', `LCTL='${lctl}'`).replace(/command -v logger/g, 'false'))
  return (args) => {
    const r = spawnSync('/bin/sh', [script, ...args], { encoding: 'latin1' })
    return { stdout: r.stdout, stderr: r.stderr, code: r.status ?? -1 }
  }
}

describe('the helper of an emulated server', () => {
  it('takes and refuses what the script does, word for word', () => {
    const real = realHelper()
    const emulated = ruleHelper({
      setParams: (assignments) => ({ stdout: `set_param\n${assignments.join('\n')}\n`, stderr: '', code: 0 }),
      hasTimer: () => false,
      systemdRun: () => ({ stdout: '', stderr: '', code: 99 }),
      systemctl: () => ({ stdout: '', stderr: '', code: 99 }),
      uptime: () => '1.00 1.00\n',
    })
    const rule = [PARAMETER, 'reg', 'sl_a']
    const cases: string[][] = [
      [],
      ['list', 'x'],
      ['start', ...rule, 'jobid={a.n01}', '50'],
      ['start', ...rule, 'jobid={a.n01}&opcode={ost_write},nid={10.4.0.*@tcp}', '999999', 'rank=sl_b', 'realtime=1'],
      ['start', PARAMETER, 'both', 'ab_0123456789', 'uid={500}', '1'],
      ['start', PARAMETER, 'hp', 'ab_012345678g', 'uid={500}', '1'],
      ['start', PARAMETER, 'all', 'sl_a', 'uid={500}', '1'],
      ['start', 'jobid_var', 'reg', 'sl_a', 'uid={500}', '1'],
      ['start', PARAMETER, 'reg', 'default', 'uid={500}', '1'],
      ['start', PARAMETER, 'reg', 'sl_', 'uid={500}', '1'],
      ['start', PARAMETER, 'reg', 'sl_0123456789abc', 'uid={500}', '1'],
      ['start', PARAMETER, 'reg', 'sl_a b', 'uid={500}', '1'],
      ['start', ...rule, 'jobid={a} stop x', '5'],
      ['start', ...rule, "jobid={a'b}", '5'],
      ['start', ...rule, 'jobid={a\nb}', '5'],
      ['start', ...rule, 'jobid={}', '5'],
      ['start', ...rule, `jobid={${'a'.repeat(2050)}}`, '5'],
      ['start', ...rule, '', '5'],
      ...['0', '01', '-1', '1e3', '1000000', '9999999999', '', '5 '].map((rate) => ['start', ...rule, 'uid={5}', rate]),
      ['start', ...rule, 'uid={5}', '5', 'rank='],
      ['start', ...rule, 'uid={5}', '5', 'realtime=0'],
      ['start', ...rule, 'uid={5}', '5', 'a', 'b', 'c'],
      ['change', ...rule, 'rate=70'],
      ['change', ...rule, 'rate=70', 'rank=default'],
      ['change', ...rule, 'rate=x'],
      ['change', ...rule, 'name=x'],
      ['change', ...rule],
      ['stop', ...rule],
      ['stop', ...rule, 'x'],
      ['stop', PARAMETER, 'both', 'pd_0123456789'],
      ['stop', PARAMETER, 'reg', 'foreign'],
      ['fire', ...rule, PARAMETER, 'hp', 'sluice_x'],
      ['fire', ...rule, 'x'],
      ['expire', '0', 'sluice-a', ...rule],
      ['expire', '604801', 'sluice-a', ...rule],
      ['expire', '5', 'other', ...rule],
      ['expire', '5', 'sluice-a b', ...rule],
      ['expire', '5', `sluice-${'a'.repeat(60)}`, ...rule],
      ['expire', '5', 'sluice-a', PARAMETER, 'reg'],
      ['expire', '5', 'sluice-a', PARAMETER, 'reg', 'x'],
      ['end'],
      ['end', 'ssh'],
      ['frob'],
      ['apply'],
      ['apply', '--'],
      ['apply', 'stop', ...rule],
      ['apply', 'stop', ...rule, '--'],
      ['apply', '--', 'stop', ...rule],
      ['apply', 'stop', ...rule, '--', '--', 'stop', ...rule],
      ['apply', 'stop', ...rule, '--', 'start', ...rule, 'jobid={a.n01}', '50', '--', 'change', ...rule, 'rate=7'],
      ['apply', 'start', ...rule, 'jobid={a}', '5', 'rank=x', 'realtime=1', '--', 'stop', PARAMETER, 'hp', 'sluice_x'],
      ['apply', 'stop', ...rule, '--', 'stop', PARAMETER, 'reg', 'foreign'],
      ['apply', 'stop', PARAMETER, 'reg', 'foreign', '--', 'stop'],
      ['apply', 'stop', ...rule, 'stop', ...rule],
      ['apply', 'stop', ...rule, '--', 'start', ...rule, '--', '5'],
      ['apply', 'end', 'sluice-a', 'x', 'y'],
      ['apply', 'apply', 'stop', ...rule],
      ['apply', ...Array.from({ length: 64 }, () => ['stop', ...rule, '--']).flat(), 'stop', ...rule],
      ['apply', ...Array.from({ length: 63 }, () => ['stop', ...rule, '--']).flat(), 'stop', ...rule],
      ['start', ...rule, 'jobid={a}uid={5}', '5'],
      ['start', ...rule, 'jobid={a},', '5'],
      ['start', ...rule, 'jobid={a}&&uid={5}', '5'],
      ['start', ...rule, 'jobid={a{b}}', '5'],
      ['start', ...rule, 'jobid={a', '5'],
      ['start', ...rule, 'xjobid={a}', '5'],
      ['start', ...rule, 'jobid={a}&uid={5},nid={b}', '5'],
    ]
    let refused = 0
    for (const args of cases) {
      const expected = real(args)
      expect(emulated(args, ''), args.join(' ')).toEqual(expected)
      if (expected.code === 2) refused++
    }
    // Both kinds occur.
    expect(refused).toBeGreaterThan(20)
    expect(cases.length - refused).toBeGreaterThan(6)
  })
})
