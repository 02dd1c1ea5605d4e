import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyCharacter } from '../../tests/any-character.ts'
import { parseJobFilter, type FilterRow } from './job-filter.ts'

const row: FilterRow = {
  jobId: '4690.python.u1021',
  user: 'tkovac',
  account: 'ml-train',
  topOp: 'write',
  rule: 'ab_0123456789',
  targets: ['demo-OST0000', 'demo-OST0003'],
  servers: ['oss01', 'oss02'],
  nodes: null,
  rpcs: 5200,
  readBps: 0,
  writeBps: 3.5e6,
  mdops: 0,
  throttled: 0.25,
  record: -12,
  ageMs: 700_000,
}
const idle: FilterRow = { ...row, rpcs: 0, rule: 'default', record: null, throttled: 0, nodes: 4, ageMs: 1000 }

function passes(filter: string, r: FilterRow): boolean {
  const parsed = parseJobFilter(filter)
  if (!parsed.ok) throw new Error(parsed.error.message)
  return parsed.value(r)
}

describe('the filter', () => {
  it.each([
    ['', true, true],
    ['  ', true, true],
    ['PYTHON', true, true],
    ['4690*u1021', true, true],
    ['python*', false, false],
    ['*python*', true, true],
    ['-vasp', true, true],
    ['user:tko', true, true],
    ['user:tko*x', false, false],
    ['account:ml-* op:write', true, true],
    ['account:ml-* op:read', false, false],
    ['target:OST0003', true, true],
    ['target:OST0001', false, false],
    ['-target:OST0003', false, false],
    ['node:oss02', true, true],
    ['node:oss03', false, false],
    ['rpc>5k', true, false],
    ['rpc<=5.2K', true, true],
    ['rpc=0', false, true],
    ['rpc>=1m', false, false],
    ['write>3', true, true],
    ['read>0', false, false],
    ['throttled>=25', true, false],
    ['record<0', true, false],
    ['record>=-12', true, false],
    ['record<-12', false, false],
    ['nodes>1', false, true],
    ['-nodes>1', true, false],
    ['rule:*', true, false],
    ['-rule:*', false, true],
    ['rule:none', false, true],
    ['rule:ab_*', true, false],
    ['is:borrowing', true, false],
    ['is:lending', false, false],
    ['is:throttled', true, false],
    ['is:bound', true, false],
    ['is:idle', false, true],
    ['is:new', false, true],
    ['-', false, false],
  ])('%j', (filter, busyPasses, idlePasses) => {
    expect([passes(filter, row), passes(filter, idle)]).toEqual([busyPasses, idlePasses])
  })

  it.each([
    ['rpc>', 1, 'a number is not a number'],
    ['ana rpc>5x', 5, '5x is not a number'],
    ['user>5', 1, 'user is not numeric; numeric fields are rpc, nodes'],
    ['a  b  colour:red', 7, 'colour: is not a field; fields are job, user'],
    ['user:', 1, 'user: needs a value'],
    ['x -is:wet', 3, 'is: must be one of borrowing'],
    ['is:__proto__', 1, 'is: must be one of borrowing'],
    ['is:constructor', 1, 'is: must be one of borrowing'],
    ['constructor:x', 1, 'constructor: is not a field'],
    ['constructor>5', 1, 'constructor is not numeric'],
  ])('%j is refused at column %i: %s', (filter, column, message) => {
    const parsed = parseJobFilter(filter)
    expect(parsed).toMatchObject({ ok: false, error: { column } })
    expect(!parsed.ok && parsed.error.message).toContain(message)
  })

  it('never throws, neither in reading nor in judging, and an error names a column of the text', () => {
    const word = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.constantFrom('is:', 'user:', 'rpc>', '*', '-', ':', '<=', '__proto__', 'toString', '5k', ' ', '\\', '[', '('),
    )
    fc.assert(
      fc.property(fc.array(word), fc.string(), (words, jobId) => {
        const text = words.join('')
        const parsed = parseJobFilter(text)
        if (parsed.ok) expect(typeof parsed.value({ ...row, jobId })).toBe('boolean')
        else {
          expect(parsed.error.column).toBeGreaterThanOrEqual(1)
          expect(text.slice(parsed.error.column - 1)).toMatch(/^\S/)
        }
      }),
      { numRuns: 200 },
    )
  })

  it('matches `*` as any run of characters, like a regular expression of the same meaning', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*', '.'), maxLength: 6 })
    fc.assert(
      fc.property(letters, letters, (pattern, jobId) => {
        fc.pre(pattern !== '')
        const source = pattern.replaceAll('.', '\\.').replaceAll('*', '.*')
        const expected = new RegExp(pattern.includes('*') ? `^${source}$` : source).test(jobId)
        expect(passes(pattern, { ...row, jobId })).toBe(expected)
      }),
      { numRuns: 500 },
    )
  })

  it('is quick for a pattern and a job id made to be slow', () => {
    const began = performance.now()
    expect(passes(`${'a*'.repeat(200)}b`, { ...row, jobId: 'a'.repeat(128) })).toBe(false)
    expect(performance.now() - began).toBeLessThan(200)
  })
})
