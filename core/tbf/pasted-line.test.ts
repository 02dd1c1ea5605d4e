import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { diagnoseRule } from './diagnose-rule.ts'
import { readPastedLine } from './pasted-line.ts'

const read = (text: string, type: Parameters<typeof readPastedLine>[1] = []): string => {
  const p = readPastedLine(text, type)
  if (p.fault) return `fault ${p.fault.at}+${p.fault.length}: ${p.fault.why}`
  return `${p.parameter}${p.service === undefined ? '' : ` of ${p.service}`}${p.queue === undefined ? '' : ` (${p.queue})`}: ${p.value}`
}
const IO = 'ost.OSS.ost_io.nrs_tbf_rule'

describe('a pasted line', () => {
  it.each([
    [`lctl set_param ${IO}="start a jobid={x} rate=5"`, 'nrs_tbf_rule of ost_io: start a jobid={x} rate=5'],
    [
      `lctl set_param ${IO}='reg start a jobid={x}&uid={1} rate=5'`,
      'nrs_tbf_rule of ost_io (reg): reg start a jobid={x}&uid={1} rate=5',
    ],
    [
      `[root@oss1 ~]# lctl set_param "${IO}=start a jobid={x},uid={1} rate=5"`,
      'nrs_tbf_rule of ost_io: start a jobid={x},uid={1} rate=5',
    ],
    [
      `root@oss1:~# sudo -u root /usr/sbin/lctl set_param -n mds.MDS.mdt.nrs_tbf_rule='hp stop a'`,
      'nrs_tbf_rule of mdt (hp): hp stop a',
    ],
    [`$ lctl set_param ${IO}=start a jobid={x} rate=5`, 'nrs_tbf_rule of ost_io: start a jobid={x} rate=5'],
    [`lctl set_param ${IO} "change a rate=7"`, 'nrs_tbf_rule of ost_io: change a rate=7'],
    [`lctl set_param -P ${IO}="stop a"`, 'nrs_tbf_rule of ost_io: stop a'],
    [`set_param ost/OSS/ost_io/nrs_tbf_rule="stop a"`, 'nrs_tbf_rule of ost_io: stop a'],
    [`lctl set_param ${IO}=\\\n  "start a jobid={x} rate=5"`, 'nrs_tbf_rule of ost_io: start a jobid={x} rate=5'],
    [`lctl set_param ${IO}="start a jobid={x} rate=5`, 'nrs_tbf_rule of ost_io: start a jobid={x} rate=5'],
    [`lctl set_param 'ost.OSS.*.nrs_tbf_rule=stop a'`, 'nrs_tbf_rule: stop a'],
    [`ssh -p 22 oss1 "sudo lctl set_param ${IO}='stop a'"`, 'nrs_tbf_rule of ost_io: stop a'],
    [`pdsh -w oss[1-4] lctl set_param ${IO}="stop a"`, 'nrs_tbf_rule of ost_io: stop a'],
    ['echo "start a uid={1}" > /proc/fs/lustre/ost/OSS/ost_io/nrs_tbf_rule', 'nrs_tbf_rule of ost_io: start a uid={1}'],
    ['echo -n stop a | sudo tee /sys/kernel/debug/lustre/mds/MDS/mdt/nrs_tbf_rule', 'nrs_tbf_rule of mdt: stop a'],
    ["printf 'stop a\\n' >/proc/fs/lustre/ost/OSS/ost_io/nrs_tbf_rule", 'nrs_tbf_rule of ost_io: stop a'],
    ['sudo tee /proc/fs/lustre/ost/OSS/ost_io/nrs_tbf_rule <<< "stop a"', 'nrs_tbf_rule of ost_io: stop a'],
    [
      `${IO}=start loginnode nid={192.168.1.1@tcp} rate=100`,
      'nrs_tbf_rule of ost_io: start loginnode nid={192.168.1.1@tcp} rate=100',
    ],
    [`${IO}="stop a"`, 'nrs_tbf_rule of ost_io: stop a'],
    ['“start a jobid={x}”', 'nrs_tbf_rule: start a jobid={x}'],
    ['start a jobid={ x  y }', 'nrs_tbf_rule: start a jobid={ x  y }'],
    ['> start  a   jobid={x  y}   rate=5\n', 'nrs_tbf_rule: start a jobid={x  y} rate=5'],
    [`lctl set_param ost.OSS.ost_io.nrs_policies="tbf hp nid"`, 'nrs_policies of ost_io (hp): tbf hp nid'],
    ['tbf jobid', 'nrs_policies: tbf jobid'],
  ])('%s', (text, want) => {
    expect(read(text)).toBe(want)
  })

  it.each([
    ['a jobid={dd.*} 50, ref 2', 'start a jobid={dd.*} rate=50'],
    ['a nid={*@tcp 0@lo}&uid={1} 50, ref 2', 'start a nid={*@tcp 0@lo}&uid={1} rate=50'],
    ['a {192.168.1.1@tcp} 50, ref 0', 'start a nid={192.168.1.1@tcp} rate=50'],
    ['a {ost_read ost_write} 50, ref 0', 'start a opcode={ost_read ost_write} rate=50'],
    ['a {500} 50, ref 0', 'start a jobid={500} rate=50'],
    ['default * 10000, ref 0', 'change default rate=10000'],
    ['default {*} 10000, ref 0', 'change default rate=10000'],
    ['regular_requests:\nCPT 0:\na {x} 5, ref 1', 'start a jobid={x} rate=5'],
  ])('that get_param printed: %s', (text, want) => {
    expect(read(text)).toBe(`nrs_tbf_rule: ${want}`)
  })

  it('that get_param printed takes the field of the running type', () => {
    expect(read('a {500} 50, ref 0', ['uid'])).toBe('nrs_tbf_rule: start a uid={500} rate=50')
    expect(read('a {*} 50, ref 0', ['nid', 'uid'])).toBe('nrs_tbf_rule: start a jobid={*} rate=50')
  })

  // Every command that the document of 2013 calls valid, including its line breaks.
  it.each([
    ['"start loginnode\n{192.168.1.1@tcp} 10000"', 'start loginnode nid={192.168.1.1@tcp} rate=10000'],
    ['"reg start loginnode\n\n{192.168.1.1@tcp} 10000"', 'reg start loginnode nid={192.168.1.1@tcp} rate=10000'],
    ['"hp start loginnode\n{192.168.1.1@tcp} 10000"', 'hp start loginnode nid={192.168.1.1@tcp} rate=10000'],
    ['"start computenodes\n{192.168.1.[1-128]@tcp} 1000"', 'start computenodes nid={192.168.1.[1-128]@tcp} rate=1000'],
    ['"start other_clients\n{192.168.*.*@tcp} 100"', 'start other_clients nid={192.168.*.*@tcp} rate=100'],
    ['"change loginnode 1000"', 'change loginnode rate=1000'],
    ['"reg change loginnode 1000"', 'reg change loginnode rate=1000'],
    ['"hp change loginnode 1000"', 'hp change loginnode rate=1000'],
    ['"stop loginnode"', 'stop loginnode'],
    ['"reg stop loginnode"', 'reg stop loginnode'],
    ['"hp stop loginnode"', 'hp stop loginnode'],
  ])('of 2013, lctl set_param ...nrs_tbf_rule=%j', (value, want) => {
    const p = readPastedLine(`lctl set_param ${IO}=${value}`)
    expect(p.value).toBe(want)
    expect(diagnoseRule(want, { type: 'nid' }).fault).toBeUndefined()
    // A current server refuses the typed text if it differs.
    const typed = value.slice(1, -1)
    if (typed !== want) expect(diagnoseRule(typed, { type: 'nid' }).fault?.errno).toBe('EINVAL')
  })

  it('reports its changes', () => {
    expect(readPastedLine('lctl set_param x.x.x.nrs_policies="reg change loginnode 1000"').notes).toEqual([
      'it is written to nrs_tbf_rule, not to nrs_policies',
      'the rate is written rate=1000',
    ])
    expect(readPastedLine(`lctl set_param -P ${IO}=start a {dd.0} 5`).notes).toEqual([
      '-P, which stores the value for every mount, was removed',
      'a shell needs quotes around the value',
      'jobid= is written before the list',
      'the rate is written rate=5',
    ])
    expect(readPastedLine('start a jobid={x} rate=5').notes).toEqual([])
  })

  it.each([
    ['', 'fault 0+0: nothing was pasted'],
    ['hello world', 'fault 0+11: hello world is not an lctl set_param line, a rule or a command'],
    [`# lctl get_param ${IO}`, 'fault 2+4: lctl get_param writes nothing, expected lctl set_param'],
    ['lctl set_param jobid_var=disable', 'fault 15+9: jobid_var is neither nrs_tbf_rule nor nrs_policies'],
    [`lctl set_param ${IO}`, `fault 15+27: ${IO} has no value`],
    ['lctl set_param -P -d x', 'fault 18+2: -d writes no value'],
    ['a {x} 5, ref 1\nb {y} 6, ref 0', 'fault 0+0: 2 rules were pasted, expected one'],
  ])('without a value: %j', (text, want) => {
    expect(read(text)).toBe(want)
  })

  it('of any kind is answered, within its own length', () => {
    const word = fc.constantFrom(
      'lctl', 'set_param', IO, `${IO}=`, 'start', 'a', '{x', 'y}', '"', "'", '\\', '\n', ' ', '=', '>', '|', 'tee', 'echo',
      '10000, ref 1', 'ssh', 'sudo', '-P', '-u', '#', '$', '“', '\u00a0', 'nrs_policies', '/nrs_tbf_rule', '\0', '\ud800',
    ) // prettier-ignore
    fc.assert(
      fc.property(fc.array(word, { maxLength: 30 }), (words) => {
        const text = words.join('')
        const p = readPastedLine(text)
        if (!p.fault) return
        expect(p.fault.at).toBeGreaterThanOrEqual(0)
        expect(p.fault.at).toBeLessThanOrEqual(text.length)
      }),
      { numRuns: 2000 },
    )
    for (const text of [
      '('.repeat(20_000),
      '"'.repeat(16_000),
      '\\n'.repeat(8000),
      `echo ${'\\n'.repeat(8000)}x > /nrs_tbf_rule`,
      '1 '.repeat(8000),
    ]) {
      expect(readPastedLine(text)).toBeDefined()
    }
  })
})
