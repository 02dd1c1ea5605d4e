import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { classKey, parseConditions, splitConditions, type Field } from './conditions.ts'
import { nidMatches, parseNidRange } from './nid.ts'

const both: readonly Field[] = ['jobid', 'nid']
const matches = (text: string, jobId: string, nid = '0@lo'): boolean => {
  const c = parseConditions(text, both)
  if (!c.ok) throw new Error(c.error)
  return c.value.matches({ jobId, nid })
}
const verdict = (text: string, fields = both): string => {
  const c = parseConditions(text, fields)
  return c.ok ? 'ok' : c.error
}

describe('jobid={...}', () => {
  it('matches as a regular expression with .* for every star', () => {
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*', '(', '$'), minLength: 1, maxLength: 8 })
    const id = fc.string({ unit: fc.constantFrom('a', 'b', '.', '(', '$', '\n'), maxLength: 12 })
    fc.assert(
      fc.property(pattern, fc.array(id, { minLength: 1, maxLength: 20 }), (p, ids) => {
        const source = p.replace(/[.($]/g, '\\$&').replaceAll('*', '.*')
        const reference = new RegExp(`^${source}$`, 's')
        for (const i of ids) expect(matches(`jobid={${p}}`, i), `${p} on ${i}`).toBe(reference.test(i))
      }),
      { numRuns: 1000 },
    )
  })

  it('matches any of its items, case-sensitively, and with * the empty id too', () => {
    expect(matches('jobid={a  dd.* }', 'dd.500')).toBe(true)
    expect(matches('jobid={a  dd.* }', 'DD.500')).toBe(false)
    expect(matches('jobid={*}', '')).toBe(true)
    expect(matches('jobid={a*a}', 'a')).toBe(false)
  })

  it('takes braces and = inside as characters', () => {
    expect(matches('jobid={a{b}}', 'a{b}')).toBe(true)
    expect(matches('jobid={a=b}', 'a=b')).toBe(true)
    expect(splitConditions('jobid={a{b}}')).toEqual([{ join: '', field: 'jobid', items: ['a{b}'] }])
  })
})

describe('nid={...}', () => {
  it('matches addresses octet by octet and the network by its name', () => {
    const ok: [string, string][] = [
      ['192.168.1.1@tcp', '192.168.1.1@tcp'],
      ['192.168.1.1@tcp', '192.168.1.1@tcp0'],
      ['192.168.*.[2-128]@tcp', '192.168.77.128@tcp'],
      ['192.168.*.[2-128/2]@tcp', '192.168.0.4@tcp'],
      ['*.*.*.*@tcp', '1.2.3.4@tcp'],
      ['*@o2ib1', '1.2.3.4@o2ib1'],
      ['0@lo', '0@lo'],
      ['*@lo', '0@lo'],
      ['0x0a.010.0.[0x10-0x1f]@tcp', '10.8.0.17@tcp'],
      ['10.0.0.[7]@tcp', '10.0.0.7@tcp'],
    ]
    const not: [string, string][] = [
      ['192.168.1.1@tcp', '192.168.1.2@tcp'],
      ['192.168.1.1@tcp', '192.168.1.1@tcp1'],
      ['192.168.*.[2-128]@tcp', '192.168.77.129@tcp'],
      ['192.168.*.[2-128/2]@tcp', '192.168.0.5@tcp'],
      ['*@o2ib1', '1.2.3.4@o2ib'],
      ['*@tcp', '0@lo'],
      ['0@lo', '10.0.0.0@tcp'],
    ]
    for (const [range, nid] of ok) expect(matches(`nid={${range}}`, 'j', nid), `${range} ${nid}`).toBe(true)
    for (const [range, nid] of not) expect(matches(`nid={${range}}`, 'j', nid), `${range} ${nid}`).toBe(false)
  })

  it('matches a range of one octet exactly where counting by its stride would', () => {
    const span = fc.tuple(fc.nat(255), fc.nat(255), fc.integer({ min: 1, max: 20 }))
    fc.assert(
      fc.property(span, fc.nat(255), ([a, b, stride], octet) => {
        const [lo, hi] = [Math.min(a, b), Math.max(a, b)]
        const range = parseNidRange(`10.1.[${lo}-${hi}/${stride}].9@o2ib3`)
        const members = new Set<number>()
        for (let v = lo; v <= hi; v += stride) members.add(v)
        expect(range.ok && nidMatches(range.value, `10.1.${octet}.9@o2ib3`)).toBe(members.has(octet))
      }),
    )
  })

  it('refuses what is no range', () => {
    const bad = ['1.2.3.4', '1.2.3@tcp', '1.2.3.4.5@tcp', '1.2.3.256@tcp', '1.2.3.4@', '1.2.3.4@eth', '1.2.3.[9-1]@tcp']
    const worse = [
      '1.2.3.[1-9/0]@tcp',
      '1.2.3.-1@tcp',
      '1.2.3.@tcp',
      '5@tcp',
      '1.2.3.08@tcp',
      'a@tcp@tcp',
      '1.2.3.[1-]@tcp',
    ]
    for (const item of [...bad, ...worse]) expect(parseNidRange(item), item).toEqual({ ok: false, error: 'EINVAL' })
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
    for (const [jobId, nid, want] of truth) expect(matches(text, jobId, nid)).toBe(want)
    expect(splitConditions(text)?.map((e) => e.join)).toEqual(['', 'and', 'or'])
  })

  it('are taken with blanks around their parts and refused when they are not whole', () => {
    for (const good of ['jobid = {a}', ' jobid={ a b }', 'nid={0@lo} , jobid={x}', 'jobid={a} & jobid={b}']) {
      expect(verdict(good), good).toBe('ok')
    }
    const bad = ['', '*', 'jobid={}', 'jobid={ }', 'jobid={a,b}', 'jobid={a&b}', 'jobid={a}&&nid={0@lo}', ',jobid={a}']
    const worse = [
      'jobid=a}',
      '={1}',
      'jobid!={a}',
      '(jobid={a})',
      'uid={1}',
      'constructor={a}',
      'Jobid={a}',
      'jobid={a}x',
    ]
    for (const text of [...bad, ...worse]) expect(verdict(text), text).toBe('EINVAL')
  })

  it('may use the fields of the running type only', () => {
    expect(verdict('nid={0@lo}', ['jobid'])).toBe('EINVAL')
    expect(verdict('jobid={a},nid={0@lo}', ['jobid'])).toBe('EINVAL')
    expect(verdict('jobid={a}', ['jobid'])).toBe('ok')
  })

  it('name a class by the fields of the type, never two classes alike', () => {
    const request = { jobId: 'a', nid: '0@lo' }
    expect([classKey(['jobid'], request), classKey(['nid'], request)]).toEqual(['a', '0@lo'])
    const id = fc.string({ maxLength: 3 }).filter((s) => !s.includes('\0'))
    fc.assert(
      fc.property(id, id, id, id, (j1, n1, j2, n2) => {
        const same = j1 === j2 && n1 === n2
        expect(classKey(both, { jobId: j1, nid: n1 }) === classKey(both, { jobId: j2, nid: n2 })).toBe(same)
      }),
    )
  })
})
