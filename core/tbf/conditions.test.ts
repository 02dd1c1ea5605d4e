import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RELEASES } from '../lustre/release.ts'
import { RULE_DIALECTS, RULE_FIELDS, type RuleDialect } from '../lustre/rule-dialect.ts'
import {
  classKey,
  fullConditions,
  parseConditions,
  splitConditions,
  type Field,
  type RequestKey,
} from './conditions.ts'
import { Nodemaps } from './nodemaps.ts'
import { RPC_OPCODES } from './rpc-opcodes.ts'

const generic = RULE_FIELDS
const nodemaps = new Nodemaps(['TBF', 'lab'])
const request = (r: Partial<RequestKey> = {}): RequestKey => ({ jobId: 'j', nid: '0@lo', ...r })

const matches = (text: string, r: Partial<RequestKey>): boolean => {
  const c = parseConditions(text, generic, { nodemaps })
  if (!c.ok) throw new Error(`${text}: ${c.error.why}`)
  return c.value.matches(request(r))
}
const verdict = (text: string, fields: readonly Field[] = generic, rules?: RuleDialect): string => {
  const c = parseConditions(text, fields, { nodemaps, ...(rules ? { rules } : {}) })
  return c.ok ? 'ok' : `${c.error.at}+${c.error.length} ${c.error.why}`
}
/** Releases that accept a condition under a type. */
const takers = (text: string, fields: (d: RuleDialect) => readonly Field[]): string =>
  RELEASES.filter((r) => verdict(text, fields(RULE_DIALECTS[r]), RULE_DIALECTS[r]) === 'ok').join(' ')

describe('jobid={...}', () => {
  it('matches as a regular expression with .* for every star', () => {
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*', '(', '$'), minLength: 1, maxLength: 8 })
    const id = fc.string({ unit: fc.constantFrom('a', 'b', '.', '(', '$', '\n'), maxLength: 12 })
    fc.assert(
      fc.property(pattern, fc.array(id, { minLength: 1, maxLength: 20 }), (p, ids) => {
        const source = p.replace(/[.($]/g, '\\$&').replaceAll('*', '.*')
        const reference = new RegExp(`^${source}$`, 's')
        for (const i of ids) expect(matches(`jobid={${p}}`, { jobId: i }), `${p} on ${i}`).toBe(reference.test(i))
      }),
      { numRuns: 1000 },
    )
  })

  it('matches any of its items, case-sensitively, and with * the empty id too', () => {
    expect(matches('jobid={a  dd.* }', { jobId: 'dd.500' })).toBe(true)
    expect(matches('jobid={a  dd.* }', { jobId: 'DD.500' })).toBe(false)
    expect(matches('jobid={*}', { jobId: '' })).toBe(true)
    expect(matches('jobid={a*a}', { jobId: 'a' })).toBe(false)
  })

  it('is fast on patterns that a naive matcher would try for years', () => {
    expect(matches(`jobid={${'*a'.repeat(1000)}b}`, { jobId: 'a'.repeat(31) })).toBe(false)
  })

  it('takes braces and = inside as characters', () => {
    expect(matches('jobid={a{b}}', { jobId: 'a{b}' })).toBe(true)
    expect(matches('jobid={a=b}', { jobId: 'a=b' })).toBe(true)
    expect(splitConditions('jobid={a{b}}')).toEqual([{ join: '', field: 'jobid', items: ['a{b}'] }])
  })
})

describe('ids', () => {
  it('are read as C reads them and cut to 32 bits', () => {
    const table: [string, number][] = [
      ['500', 500],
      ['010', 8],
      ['0x1F', 31],
      ['+7', 7],
      ['4294967295', 0xffff_ffff],
      ['4294967296', 0],
      ['18446744073709551615', 0xffff_ffff],
      ['7\n', 7],
    ]
    for (const [text, n] of table) {
      for (const field of ['uid', 'gid', 'projid'] as const) {
        expect(matches(`${field}={${text}}`, { [field]: n }), text).toBe(true)
        expect(matches(`${field}={${text}}`, { [field]: n + 1 }), text).toBe(false)
      }
    }
    for (const text of [
      '-1',
      '08',
      '0x',
      '1k',
      '1.5',
      '500-600',
      '*',
      '++1',
      'root',
      '18446744073709551616',
      '1\n\n',
    ]) {
      expect(verdict(`uid={${text}}`), text).toContain('is not an id, expected a number')
    }
  })

  it('of a request that does not know them are 2^32-1', () => {
    expect(matches('uid={4294967295}', {})).toBe(true)
    expect(matches('uid={0}', {})).toBe(false)
  })
})

describe('opcode={...}', () => {
  it('takes the names of RPCs and nothing else', () => {
    for (const name of RPC_OPCODES.keys()) {
      expect(verdict(`opcode={${name}}`), name).toBe('ok')
      expect(matches(`opcode={ost_read ${name}}`, { opcode: name })).toBe(true)
    }
    expect(matches('opcode={ost_read}', {})).toBe(false)
    expect(verdict('opcode={ost_read ost_wirte}')).toBe('17+9 unknown opcode ost_wirte, nearest is ost_write')
    for (const text of ['read', '3', 'ost_*', 'OST_READ', 'ost_read,ost_write']) {
      expect(verdict(`opcode={${text}}`), text).not.toBe('ok')
    }
  })

  it('has numbers as they are on the wire', () => {
    const some = [
      'ost_read',
      'ost_seek',
      'mds_getattr',
      'mds_reint',
      'mds_batch',
      'ldlm_enqueue',
      'mgs_config_read',
      'obd_ping',
    ]
    expect(some.map((n) => RPC_OPCODES.get(n))).toEqual([3, 23, 33, 36, 63, 101, 256, 400])
    expect(new Set(RPC_OPCODES.values()).size).toBe(RPC_OPCODES.size)
  })
})

describe('nodemap={...}', () => {
  it('keeps the id that the name had', () => {
    const maps = new Nodemaps(['lab'])
    const lab = maps.idOf('lab') as number
    const read = parseConditions('nodemap={lab default}', generic, { nodemaps: maps })
    if (!read.ok) throw new Error(read.error.why)
    const is = (nodemap: number): boolean => read.value.matches(request({ nodemap }))
    expect([is(lab), is(0), is(lab + 1), read.value.matches(request())]).toEqual([true, true, false, false])
    maps.remove('lab')
    expect(is(lab)).toBe(true)
    expect(maps.add('lab')).not.toBe(lab)
    expect(verdict('nodemap={lap}')).toBe('9+3 no nodemap is called lap, nearest is lab')
  })
})

describe('conditions', () => {
  it('bind & tighter than a comma', () => {
    const text = 'jobid={a}&nid={0@lo},jobid={b}'
    const truth: [string, string, boolean][] = [
      ['a', '0@lo', true],
      ['a', '1.1.1.1@tcp', false],
      ['b', '1.1.1.1@tcp', true],
      ['c', '0@lo', false],
    ]
    for (const [jobId, nid, want] of truth) expect(matches(text, { jobId, nid })).toBe(want)
    expect(splitConditions(text)?.map((e) => e.join)).toEqual(['', 'and', 'or'])
  })

  it.each([
    ['', '0+0 an expression is missing here'],
    ['*', '0+1 * is not of the form field={items}'],
    ['jobid={}', '7+0 the list is empty'],
    ['jobid={ }', '7+1 the list is empty'],
    ['jobid={a,b}', '8+1 "," ends the expression, also inside braces'],
    ['jobid={a&b}', '8+1 "&" ends the expression, also inside braces'],
    ['jobid={a}&&nid={0@lo}', '10+0 an expression is missing here'],
    [',jobid={a}', '0+0 an expression is missing here'],
    ['jobid=a}', '6+2 expected {items} after jobid='],
    ['jobid={a', '8+0 the list has no }'],
    ['={1}', '0+0 a field is missing before ='],
    ['jobid!={a}', '0+6 unknown field jobid!, nearest is jobid'],
    ['(jobid={a})', '11+0 the list has no }'],
    ['constructor={a}', '0+11 unknown field constructor'],
    ['Jobid={a}', '0+5 unknown field Jobid, nearest is jobid'],
    ['uid={1}|gid={2}', '5+9 1}|gid={2 is not an id, expected a number'],
  ])('%s is refused: %s', (text, why) => {
    expect(verdict(text)).toBe(why)
  })

  it('may use the fields of the running type only', () => {
    expect(verdict('nid={0@lo}', ['jobid'])).toBe('0+3 field nid is not part of the running type jobid')
    expect(verdict('jobid={a},nid={0@lo}', ['jobid'])).toBe('10+3 field nid is not part of the running type jobid')
    expect(verdict('jobid={a}', ['jobid'])).toBe('ok')
  })

  it('are read as each release reads them, alone and under generic TBF', () => {
    const alone: Record<string, string> = {
      'jobid = {a}': '2.16 2.17 dev',
      'jobid ={a}': '2.12 2.15 2.16 2.17 dev',
      ' jobid={a}': '2.12 2.15 2.16 2.17 dev',
      'jobid={ a  b}': '2.12 2.15 2.16 2.17 dev',
      'jobid={a b }': '2.16 2.17 dev',
      'jobid={a,b}': '2.12 2.15 2.16 2.17',
      'jobid={a&b}': '2.12 2.15 2.16 2.17',
      'jobid={a},jobid={b}': '2.12 2.15 2.16 2.17 dev',
      'uid={0x10}': '2.16 2.17 dev',
      'uid={4294967296}': '2.16 2.17 dev',
      'nid={1.1.1.[1,3]@tcp}': '2.12 2.15 2.16 2.17',
      'opcode={ost_seek}': '2.15 2.16 2.17 dev',
      'opcode={mds_batch}': '2.16 2.17 dev',
      'projid={5}': '2.17 dev',
      'nodemap={TBF}': 'dev',
    }
    const only = (text: string): Field => /[a-z]+/.exec(text)?.[0] as Field
    const readAlone = Object.keys(alone).map((t) => [t, takers(t, () => [only(t)])])
    expect(Object.fromEntries(readAlone)).toEqual(alone)
    const together: Record<string, string> = {
      'jobid={a} & uid={1}': '2.12 2.15 2.16 2.17 dev',
      'jobid={a},uid= {1}': '2.16 2.17 dev',
      'uid={ 500  11}&gid={1 }': '2.16 2.17 dev',
      'jobid={a,b}': '',
      'projid={5}': '2.17 dev',
      'nodemap={lab},jobid={x}': 'dev',
    }
    const readTogether = Object.keys(together).map((t) => [t, takers(t, (d) => d.fields)])
    expect(Object.fromEntries(readTogether)).toEqual(together)
  })

  it('echo what was typed, or the list alone where a type has a grammar of its own', () => {
    const text = (typed: string, fields: readonly Field[], rules: RuleDialect): string | undefined => {
      const c = parseConditions(typed, fields, { rules })
      return c.ok ? c.value.text : undefined
    }
    expect(text(' jobid = { a  b }', ['jobid'], RULE_DIALECTS.dev)).toBe(' jobid = { a  b }')
    expect(text(' jobid = { a  b }', ['jobid'], RULE_DIALECTS['2.17'])).toBe('{ a  b }')
    expect(text('projid={5}', ['projid'], RULE_DIALECTS['2.17'])).toBe('projid={5}')
    expect(fullConditions('{ a  b }', ['jobid'])).toBe('jobid={ a  b }')
    expect(fullConditions('jobid={a}', ['jobid'])).toBe('jobid={a}')
    expect(splitConditions('{a,b c}', ['jobid'])).toEqual([{ join: '', field: 'jobid', items: ['a,b', 'c'] }])
  })

  it('name the job ids that they are about, when they are about nothing else', () => {
    const ids = (text: string): readonly string[] | undefined => {
      const c = parseConditions(text, generic)
      return c.ok ? c.value.jobIds : undefined
    }
    expect(ids('jobid={a b}')).toEqual(['a', 'b'])
    for (const text of ['jobid={a*}', 'jobid={a}&uid={1}', 'jobid={a},jobid={b}', 'uid={1}'])
      expect(ids(text), text).toBeUndefined()
  })

  it('that are printed from their parts mean what the parts mean', () => {
    const jobIds = fc.constantFrom('a', 'b', 'dd.*', '*x', 'c')
    const expression = fc.oneof(
      fc.record({ field: fc.constant('jobid' as const), items: fc.array(jobIds, { minLength: 1, maxLength: 3 }) }),
      fc.record({
        field: fc.constantFrom('uid' as const, 'gid' as const, 'projid' as const),
        items: fc.array(fc.constantFrom('0', '1', '2'), { minLength: 1, maxLength: 2 }),
      }),
      fc.record({
        field: fc.constant('opcode' as const),
        items: fc.array(fc.constantFrom('ost_read', 'ost_write'), { minLength: 1, maxLength: 2 }),
      }),
      fc.record({
        field: fc.constant('nid' as const),
        items: fc.array(fc.constantFrom('*@tcp', '0@lo', '1.2.3.[4-6]@tcp'), { minLength: 1, maxLength: 2 }),
      }),
    )
    const disjunction = fc.array(fc.array(expression, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 })
    const someone = fc.record({
      jobId: fc.constantFrom('a', 'b', 'c', 'dd.1', 'yx', ''),
      nid: fc.constantFrom('0@lo', '1.2.3.5@tcp', '9.9.9.9@o2ib'),
      opcode: fc.constantFrom('ost_read', 'ost_write', 'ost_sync'),
      uid: fc.nat(2),
      gid: fc.nat(2),
      projid: fc.nat(2),
    })
    const holds = (e: { field: string; items: readonly string[] }, r: Required<Omit<RequestKey, 'nodemap'>>): boolean =>
      e.items.some((i) => {
        if (e.field === 'jobid') return new RegExp(`^${i.replace('.', '\\.').replaceAll('*', '.*')}$`).test(r.jobId)
        if (e.field === 'nid')
          return i === '*@tcp' ? r.nid.endsWith('@tcp') : i === '0@lo' ? r.nid === i : r.nid === '1.2.3.5@tcp'
        if (e.field === 'opcode') return i === r.opcode
        return Number(i) === r[e.field as 'uid' | 'gid' | 'projid']
      })
    fc.assert(
      fc.property(disjunction, fc.array(someone, { minLength: 1, maxLength: 5 }), (or, requests) => {
        const text = or.map((and) => and.map((e) => `${e.field}={${e.items.join(' ')}}`).join('&')).join(',')
        expect(splitConditions(text)).toEqual(
          or.flatMap((and, i) =>
            and.map((e, k) => ({ join: k > 0 ? 'and' : i > 0 ? 'or' : '', field: e.field, items: e.items })),
          ),
        )
        for (const r of requests) {
          expect(matches(text, r), `${text} ${JSON.stringify(r)}`).toBe(or.some((and) => and.every((e) => holds(e, r))))
        }
      }),
      { numRuns: 500 },
    )
  })

  it('name a class by the fields of the type, never two classes alike', () => {
    const one = request({ jobId: 'a', uid: 7 })
    expect([classKey(['jobid'], one), classKey(['uid'], one), classKey(['gid'], one)]).toEqual(['a', '7', '4294967295'])
    const id = fc.string({ maxLength: 3 }).filter((s) => !s.includes('\0'))
    fc.assert(
      fc.property(id, id, id, id, (j1, n1, j2, n2) => {
        const same = j1 === j2 && n1 === n2
        const key = (jobId: string, nid: string): string => classKey(['jobid', 'nid'], { jobId, nid })
        expect(key(j1, n1) === key(j2, n2)).toBe(same)
      }),
    )
  })
})
