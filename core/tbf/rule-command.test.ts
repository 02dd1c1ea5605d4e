import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RULE_DIALECTS } from '../lustre/rule-dialect.ts'
import { parseRuleCommand, type RuleGrammar } from './rule-command.ts'
import { typeOf } from './tbf-type.ts'

const generic: RuleGrammar = { type: typeOf(RULE_DIALECTS.dev.fields) }
const verdict = (value: string, grammar: RuleGrammar = generic): string => {
  const r = parseRuleCommand(value, grammar)
  return r.ok ? 'ok' : r.error.errno
}
/** `at+length part: why` of the fault. */
const faultOf = (value: string, grammar: RuleGrammar = generic): string => {
  const r = parseRuleCommand(value, grammar)
  return r.ok ? 'ok' : `${r.error.at}+${r.error.length} ${r.error.part ?? '-'}: ${r.error.why}`
}

describe('a command of nrs_tbf_rule', () => {
  it('is read into its parts', () => {
    expect(parseRuleCommand('hp start a jobid={x y}&uid={1} rate=5 rank=b realtime=1')).toEqual({
      ok: true,
      value: {
        verb: 'start',
        queue: 'hp',
        name: 'a',
        conditions: 'jobid={x y}&uid={1}',
        rate: 5,
        rank: 'b',
        realtime: true,
      },
    })
    expect(parseRuleCommand('change a rate=5 rate=7')).toMatchObject({
      value: { verb: 'change', rate: 7, rank: undefined },
    })
    expect(parseRuleCommand('reg stop a realtime=1')).toEqual({
      ok: true,
      value: { verb: 'stop', queue: 'reg', name: 'a' },
    })
  })

  it.each([
    ['', '0+0 -: expected start, change or stop, and a name'],
    ['start', '5+0 -: expected start, change or stop, and a name'],
    ['start ', '6+0 name: a rule needs a name'],
    ['reg ', '4+0 verb: expected start, change or stop'],
    ['strat a uid={1}', '0+5 verb: unknown command strat, nearest is start'],
    ['reg START a uid={1}', '4+5 verb: unknown command START, nearest is start'],
    [' start a uid={1}', '0+0 verb: unknown command ""'],
    ['start a', '7+0 conditions: conditions are missing'],
    ['start  uid={1}', '6+0 name: a rule needs a name'],
    ['start a-b uid={1}', "7+1 name: - cannot be in a rule's name"],
    ['start averyveryverylongname uid={1}', "21+6 name: a rule's name has at most 15 characters"],
    ['start a uid={1} rate=0', '21+1 rate: rate 0 is below 1'],
    ['start a uid={1} rate=1000000', '21+7 rate: rate 1000000 is above 999999'],
    ['start a uid={1} rate=1k', '21+2 rate: rate 1k is not a whole decimal number'],
    ['start a uid={1} rate=', '16+5 rate: rate= is not one of rate=, rank=, realtime='],
    ['start a uid={1} rate', '16+4 rate: rate is not one of rate=, rank=, realtime='],
    ['start a uid={1} Rate=5', '16+4 rate: unknown word Rate=, nearest is rate'],
    ['start a uid={1}  rate=5', '16+0 rate: two blanks in a row'],
    ['start a uid={1} rank=b.d', "22+1 rank: . cannot be in a rule's name"],
    ['start a uid={1} realtime=-1', '25+2 realtime: realtime -1 is not a number'],
    ['start a uid={1}x', '15+1 conditions: x follows the conditions, expected a blank'],
    ['start a {0@lo} 100', '8+6 conditions: {0@lo} is not of the form field={items}'],
    ['start a rate=5', '8+6 conditions: conditions field={items} are missing'],
    ['start a jobid={x rate=5', '8+15 conditions: the list has no }'],
    ['start a opcode={ost_wirte} rate=5', '16+9 conditions: unknown opcode ost_wirte, nearest is ost_write'],
    ['reg start a uid={1},pid={2} rate=5', '20+3 conditions: unknown field pid, nearest is nid'],
    ['change a', '8+0 rate: rate= or rank= is missing'],
    ['change a realtime=1', '19+0 rate: a change needs rate= or rank='],
    ['change a 1000', '9+4 rate: 1000 is not one of rate=, rank=, realtime='],
    ['stop a rate=5', '7+6 rate: stop does not allow rate='],
    ['stop a b', '7+1 rate: b is not one of rate=, rank=, realtime='],
    ['stop *', "5+1 name: * cannot be in a rule's name"],
  ])('%j is refused at its place: %s', (value, why) => {
    expect(faultOf(value)).toBe(why)
    expect(['EINVAL', 'ENAMETOOLONG']).toContain(verdict(value))
  })

  it('is checked in the order of a server: selector, verb, name, conditions, pairs', () => {
    const stages = [
      'hp start averyveryverylongname pid={1} rate=0',
      'start averyveryverylongname pid={1} rate=0',
      'start a pid={1} rate=0',
      'start a uid={1} rate=0',
    ]
    expect(stages.map((s) => verdict(s, { ...generic, hp: false }))).toEqual([
      'ENODEV',
      'ENAMETOOLONG',
      'EINVAL',
      'EINVAL',
    ])
    expect(stages.slice(1).map((s) => faultOf(s).split(' ')[1])).toEqual(['name:', 'conditions:', 'rate:'])
    expect(verdict('hp bogus', { ...generic, hp: false })).toBe('ENODEV')
    expect(faultOf('start a uid={1}', { type: null })).toBe('8+7 conditions: TBF does not run on this queue')
  })

  it('has at most 4095 bytes, and ends at a NUL', () => {
    const start = (items: number): string => `start a jobid={${'x'.repeat(items)}} rate=5`
    const rest = 4095 - start(0).length
    expect([verdict(start(rest)), verdict(start(rest + 1))]).toEqual(['ok', 'EINVAL'])
    expect(faultOf(start(rest + 9))).toBe('4095+9 -: a command has at most 4095 bytes, this has 4104')
    expect(verdict('start a uid={1} rate=5\0 nonsense')).toBe('ok')
    expect(verdict('start\0 a uid={1} rate=5')).toBe('EINVAL')
  })

  it('takes a newline behind a number and nowhere else, as echo needs it', () => {
    expect(verdict('start a jobid={x} rate=5\n')).toBe('ok')
    expect(verdict('change a rate=5\n')).toBe('ok')
    for (const text of [
      'start a jobid={x}\n',
      'stop a\n',
      'change a rank=b\n',
      'start a jobid={x} rate=5 \n',
      'stop a \n',
    ]) {
      expect(verdict(text), JSON.stringify(text)).toBe('EINVAL')
    }
  })

  it('tolerates one blank at the end', () => {
    for (const text of ['start a uid={1} ', 'start a uid={1} rate=5 ', 'change a rate=5 ', 'stop a ']) {
      expect([verdict(text), verdict(`${text} `)], text).toEqual(['ok', 'EINVAL'])
    }
  })

  it('keeps conditions as they were typed, up to the last brace', () => {
    const r = parseRuleCommand('start a  jobid = { x } , uid={1} rate=5', generic)
    expect(r).toMatchObject({
      value: { conditions: ' jobid = { x } , uid={1}', parsed: { text: ' jobid = { x } , uid={1}' } },
    })
  })

  it('takes letters of Latin-1 in a name, as the kernel knows them, and no other byte', () => {
    for (let code = 1; code < 256; code++) {
      const c = String.fromCharCode(code)
      const isWord = /[A-Za-z0-9_]/.test(c) || (code >= 0xc0 && code !== 0xd7 && code !== 0xf7)
      if (c !== ' ') expect(verdict(`stop a${c}b`), `byte ${code}`).toBe(isWord ? 'ok' : 'EINVAL')
    }
  })

  it('under 2.12 has names of any length, and rates below 65535', () => {
    const old: RuleGrammar = { rules: RULE_DIALECTS['2.12'] }
    expect(verdict('start averyveryverylongname uid={1}', old)).toBe('ok')
    expect(verdict('start  uid={1}', old)).toBe('ok')
    expect(verdict('start a~b uid={1}', old)).toBe('EINVAL')
    expect([verdict('change a rate=65534', old), verdict('change a rate=65535', old)]).toEqual(['ok', 'EINVAL'])
  })

  it('is read back from the text that its parts make', () => {
    const name = fc.string({ unit: fc.constantFrom('a', 'Z', '0', '_'), minLength: 1, maxLength: 15 })
    const parts = fc.record({
      queue: fc.constantFrom(undefined, 'reg' as const, 'hp' as const),
      name,
      rate: fc.option(fc.integer({ min: 1, max: 999_999 }), { nil: undefined }),
      rank: fc.option(name, { nil: undefined }),
      realtime: fc.boolean(),
    })
    fc.assert(
      fc.property(parts, ({ queue, ...p }) => {
        const selector = queue === undefined ? '' : `${queue} `
        const pairs = `${p.rate === undefined ? '' : ` rate=${p.rate}`}${p.rank === undefined ? '' : ` rank=${p.rank}`}`
        const start = `${selector}start ${p.name} jobid={x}${pairs}${p.realtime ? ' realtime=1' : ''}`
        expect(parseRuleCommand(start)).toEqual({
          ok: true,
          value: { verb: 'start', queue, conditions: 'jobid={x}', ...p },
        })
        if (pairs === '') return
        const change = parseRuleCommand(`${selector}change ${p.name}${pairs}`)
        expect(change).toEqual({ ok: true, value: { verb: 'change', queue, ...p, realtime: false } })
      }),
    )
  })
})
