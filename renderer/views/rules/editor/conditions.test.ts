import fc from 'fast-check'
import { expect, it } from 'vitest'
import { expressionPlaces, fields, overlaps, readConditions, writeConditions } from './conditions.ts'

it('takes a condition apart and puts it together again', () => {
  const text = 'jobid={4690.* dd.*}&opcode={ost_write},uid={500}'
  expect(readConditions(text)).toEqual([
    { join: '', field: 'jobid', items: ['4690.*', 'dd.*'] },
    { join: 'and', field: 'opcode', items: ['ost_write'] },
    { join: 'or', field: 'uid', items: ['500'] },
  ])
  expect(writeConditions(readConditions(text) ?? [])).toBe(text)
  expect(readConditions('')).toEqual([])
  for (const bad of ['{192.168.1.1@tcp}', 'jobid={}', 'jobid={a', 'jobid', 'jobid={a}&', '*']) {
    expect(readConditions(bad)).toBeNull()
  }
})

it('round-trips every list of expressions, also with separators inside braces', () => {
  const item = fc.stringMatching(/^[A-Za-z0-9.*,&<>[\]-]{1,8}$/)
  const expression = fc.record({
    join: fc.constantFrom('and' as const, 'or' as const),
    field: fc.constantFrom(...fields),
    items: fc.array(item, { minLength: 1, maxLength: 3 }),
  })
  fc.assert(
    fc.property(fc.array(expression, { minLength: 1, maxLength: 4 }), (list) => {
      const chips = list.map((e, i) => (i === 0 ? { ...e, join: '' as const } : e))
      expect(readConditions(writeConditions(chips))).toEqual(chips)
    }),
  )
})

it('finds each expression in the value, so that a fault outlines its chip', () => {
  const conditions = 'jobid={4690.*}&opcode={ost_wirte}'
  const text = `reg start hog4690 ${conditions} rate=400`
  const [jobid, opcode] = expressionPlaces(text, conditions)
  const fault = { at: text.indexOf('ost_wirte'), length: 9 }
  expect([overlaps(jobid!, fault), overlaps(opcode!, fault)]).toEqual([false, true])
  expect(expressionPlaces('reg start a', 'jobid={x}')).toEqual([])
})
