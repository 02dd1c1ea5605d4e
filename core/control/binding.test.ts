import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseConditions } from '../tbf/conditions.ts'
import type { RequestKey } from '../tbf/request-key.ts'
import { typeOf } from '../tbf/tbf-type.ts'
import { Binder, sharesOf } from './binding.ts'
import { covers, exactJobIds, shapeMatches, shapeOf, type KnownRequest, type Shape } from './condition-shape.ts'

const TYPE = typeOf(['jobid', 'nid', 'opcode', 'uid'])
const clause = fc.oneof(
  fc
    .uniqueArray(fc.constantFrom('a', 'ab', 'a.1', 'a*', '*1', '*', 'a*1', '*a*', '**'), { minLength: 1, maxLength: 2 })
    .map((items) => `jobid={${items.join(' ')}}`),
  fc
    .uniqueArray(fc.constantFrom('0', '1', '500'), { minLength: 1, maxLength: 2 })
    .map((items) => `uid={${items.join(' ')}}`),
  fc.constantFrom('opcode={ost_read}', 'opcode={ost_write}', 'opcode={ost_read ost_write}'),
  fc.constantFrom('nid={1.2.3.4@tcp}', 'nid={1.2.3.*@tcp}', 'nid={*@tcp}', 'nid={1.2.3.[1-9]@tcp *@o2ib}'),
)
const conditions = fc
  .array(fc.array(clause, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 })
  .map((any) => any.map((all) => all.join('&')).join(','))
const request: fc.Arbitrary<Required<Pick<RequestKey, 'jobId' | 'nid' | 'opcode' | 'uid'>>> = fc.record({
  jobId: fc.constantFrom('a', 'ab', 'a.1', 'b1', 'ba', '', 'a11'),
  nid: fc.constantFrom('1.2.3.4@tcp', '1.2.3.99@tcp', '9.9.9.9@tcp', '1.2.3.4@o2ib'),
  opcode: fc.constantFrom('ost_read', 'ost_write', 'ost_punch'),
  uid: fc.constantFrom(0, 1, 500, 7),
})
const matches = (text: string, r: RequestKey): boolean => {
  const read = parseConditions(text, TYPE.fields)
  if (!read.ok) throw new Error(text)
  return read.value.matches(r)
}
const shape = (text: string): Shape => shapeOf(text, TYPE) as Shape

describe('a condition taken apart', () => {
  it('matches like the server, and is never wrong for partially known requests', () => {
    fc.assert(
      fc.property(conditions, request, fc.subarray(['nid', 'opcode', 'uid'] as const), (text, r, hidden) => {
        expect(shapeMatches(shape(text), r)).toBe(matches(text, r))
        const known: KnownRequest = Object.fromEntries(Object.entries(r).filter(([k]) => !hidden.includes(k as 'nid')))
        const verdict = shapeMatches(shape(text), known)
        if (verdict !== undefined) expect(matches(text, r)).toBe(verdict)
      }),
      { numRuns: 2000 },
    )
  })

  it('covers another only if it matches all that the other does', () => {
    let covered = 0
    fc.assert(
      fc.property(conditions, conditions, fc.array(request, { minLength: 20, maxLength: 20 }), (a, b, requests) => {
        if (!covers(shape(a), shape(b))) return
        covered++
        for (const r of requests) if (matches(b, r)) expect(matches(a, r), `${a} covers ${b}`).toBe(true)
      }),
      { numRuns: 5000 },
    )
    expect(covered).toBeGreaterThan(200)
  })

  it.each([
    ['jobid={*}', 'uid={500}&nid={1.2.3.4@tcp}'],
    ['jobid={dd.*}', 'jobid={dd.5*}&opcode={ost_write}'],
    ['jobid={a b c}', 'jobid={c},jobid={a}&uid={0}'],
    ['nid={*@tcp}', 'nid={1.2.3.[1-9]@tcp}'],
    ['nid={1.2.3.[1-9]@tcp}', 'nid={1.2.3.4@tcp}'],
    ['uid={5},jobid={x}', 'jobid={x}'],
  ])('%s covers %s, and not the other way round', (a, b) => {
    expect(covers(shape(a), shape(b))).toBe(true)
    expect(covers(shape(b), shape(a))).toBe(false)
  })

  it('names its job ids only when it can match no other', () => {
    expect(exactJobIds(shape('jobid={a b},jobid={b c}&uid={0}'))).toEqual(['a', 'b', 'c'])
    for (const text of ['jobid={a*}', 'jobid={a},uid={0}', 'uid={0}']) expect(exactJobIds(shape(text))).toBeUndefined()
    expect(shapeOf('*', TYPE)).toBeUndefined()
  })
})

describe('the rule of a job', () => {
  it('is the first that surely matches, behind those that may, and never one that a server would not choose', () => {
    const rules = fc
      .array(conditions, { maxLength: 8 })
      .map((list) => list.map((c, i) => ({ name: `r${i}`, conditions: c })))
    fc.assert(
      fc.property(rules, request, fc.subarray(['nid', 'opcode', 'uid'] as const), (list, r, hidden) => {
        const known: KnownRequest = Object.fromEntries(Object.entries(r).filter(([k]) => !hidden.includes(k as 'nid')))
        const { sure, may } = new Binder(list, TYPE).bind(known)
        const real = list.find((x) => matches(x.conditions, r))
        expect([...may, sure]).toContain(real)
        if (hidden.length === 0) expect(may).toEqual([])
        const at = [...may, sure].map((x) => (x ? list.indexOf(x) : Infinity))
        expect(at).toEqual(at.toSorted((a, b) => a - b))
      }),
      { numRuns: 2000 },
    )
  })

  it('distinguishes kinds of RPCs where they are known', () => {
    const rules = [
      { name: 'w', conditions: 'jobid={a}&opcode={ost_write}' },
      { name: 'n', conditions: 'nid={1.2.3.4@tcp}' },
      { name: 'all', conditions: 'jobid={*}' },
    ]
    const binder = new Binder(rules, TYPE)
    const job = { jobId: 'a', servers: ['oss01'], rpcs: 5 }
    const shares = (more: object) =>
      [...sharesOf(binder.bindJob({ ...job, ...more }))].map(([r, s]) => `${r?.name ?? 'default'} ${s}`)
    expect(shares({})).toEqual(['w may', 'n may', 'all may'])
    expect(shares({ opcodes: ['ost_write'] })).toEqual(['w all'])
    expect(shares({ opcodes: ['ost_write', 'ost_read'], nids: ['9.9.9.9@tcp'] })).toEqual(['w some', 'all some'])
    expect(shares({ opcodes: ['ost_read'], nids: ['9.9.9.9@tcp', '1.2.3.4@tcp'] })).toEqual(['all some', 'n some'])
    expect(shares({ opcodes: ['ost_read'] })).toEqual(['n may', 'all may'])
  })
})
