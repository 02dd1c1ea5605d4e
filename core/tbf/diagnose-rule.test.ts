import { describe, expect, it } from 'vitest'
import { profile } from '../lustre/profile.ts'
import { diagnoseRule, type DiagnosisOptions } from './diagnose-rule.ts'
import { UNSAFE_OPCODE, RPC_OPCODES } from './rpc-opcodes.ts'

const names = ['hog', 'quiet', 'default']
const diagnose = (value: string, options: Partial<DiagnosisOptions> = {}): ReturnType<typeof diagnoseRule> =>
  diagnoseRule(value, { type: '', names, ...options })
/** Fault as an editor marks it: the marked text in brackets. */
const marked = (value: string, options: Partial<DiagnosisOptions> = {}): string => {
  const f = diagnose(value, options).fault
  if (!f) return 'ok'
  const end = f.at + f.length
  return `${value.slice(0, f.at)}[${value.slice(f.at, end)}]${value.slice(end)} ${f.errno}: ${f.why}`
}

describe('diagnoseRule', () => {
  it('gives the command that a server would take', () => {
    const d = diagnose('start a jobid={x} rate=5 rank=hog')
    expect(d).toMatchObject({ command: { verb: 'start', name: 'a', rate: 5 }, warnings: [] })
    expect(d.fault).toBeUndefined()
  })

  it.each([
    [
      'start a opcode={ost_wirte} rate=5',
      'start a opcode={[ost_wirte]} rate=5 EINVAL: unknown opcode ost_wirte, nearest is ost_write',
    ],
    ['start a jobid={x} rate=0', 'start a jobid={x} rate=[0] EINVAL: rate 0 is below 1'],
    ['start hog jobid={x}', 'start [hog] jobid={x} EEXIST: a rule is called hog already'],
    ['start default jobid={x}', 'start [default] jobid={x} EEXIST: a rule is called default already'],
    ['change hgo rate=5', 'change [hgo] rate=5 ENOENT: no rule is called hgo, nearest is hog'],
    ['change hog rank=quite', 'change hog rank=[quite] ENOENT: no rule is called quite, nearest is quiet'],
    ['reg stop default', 'reg stop [default] EPERM: the built-in rule cannot be stopped'],
    ['stop nosuch', 'ok'],
    ['change default rate=5', 'ok'],
  ])('%s', (value, want) => {
    expect(marked(value)).toBe(want)
  })

  it('knows the running type, the release and the queues', () => {
    expect(marked('start a uid={1}', { type: 'jobid+nid' })).toContain(
      '[uid]={1} EINVAL: field uid is not part of the running type jobid+nid',
    )
    expect(marked('start a uid={1}', { type: ['uid'] })).toBe('ok')
    expect(marked('start a jobid={a,b}', { type: 'jobid', profile: profile('2.15') })).toBe('ok')
    expect(marked('start a jobid={a,b}', { type: 'jobid' })).toContain('also inside braces')
    expect(marked('hp stop a', { hp: false })).toBe('[hp] stop a ENODEV: this service has no high-priority queue')
    expect(marked('stop hog', { type: null })).toBe('stop [hog] ENODEV: TBF does not run on this queue')
    expect(marked('start a uid={1}', { type: null })).toContain('EINVAL: TBF does not run on this queue')
  })

  it('refuses commands that servers accept and mishandle, and still returns them', () => {
    for (const [name, number] of RPC_OPCODES) {
      const d = diagnose(`start a opcode={ost_read ${name}} rate=5`, { type: 'opcode' })
      expect(d.command, name).toBeDefined()
      expect(d.fault?.isMishandled, name).toBe(number >= UNSAFE_OPCODE ? true : undefined)
    }
    expect(marked('start a opcode={obd_ping} rate=5')).toBe(
      'start a opcode={[obd_ping]} rate=5 EINVAL: obd_ping is RPC 400: servers write outside their opcode map for it',
    )
    expect(diagnose('start a nid={1.2.3.[1-9/0]@tcp}').fault).toMatchObject({
      isMishandled: true,
      part: 'conditions',
      at: 13,
      length: 17,
    })
  })

  it('warns of probable mistakes', () => {
    const warned = (value: string): string[] =>
      diagnose(value).warnings.map((w) => `${value.slice(w.at, w.at + w.length)}: ${w.why}`)
    expect(warned('start a uid={0777 5000000000}')).toEqual([
      '0777: 0777 is octal and means 511',
      '5000000000: 5000000000 is truncated to 32 bits and means 705032704',
    ])
    const long = 'x'.repeat(32)
    expect(warned(`start a jobid={${long} ok*}`)).toEqual([`${long}: job ids have at most 31 bytes, this has 32`])
    expect(warned('change hog rate=5 realtime=1')).toEqual(['realtime=1: a change does not set realtime'])
  })
})
