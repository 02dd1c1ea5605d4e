import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { HaechiEval } from './eval.ts'

interface Case {
  id: string
  op: string
  in: object
  out: object
  note?: string
}

const cases = readFileSync(new URL('../../tests/cases/haechi.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Case)
const evaluate = (input: object | string): unknown =>
  JSON.parse(new HaechiEval().answer(typeof input === 'string' ? input : JSON.stringify(input)))

describe('golden cases', () => {
  it('are all here', () => expect(cases).toHaveLength(56))
  it.each(cases)('$id', ({ op, in: input, out }) => expect(evaluate({ op, in: input })).toEqual(out))
})

const decay = { xi: 30, R: 50, T_ns: 1e9, elapsed_ns: 6e8 }

it.each<[string, object | string]>([
  ['E_REQUEST', '{"op":'],
  ['E_REQUEST', '[]'],
  ['E_OP', {}],
  ['E_OP', { op: 'constructor', in: {} }],
  ['E_FIELD', { op: 'decay' }],
  ['E_FIELD', { op: 'decay', in: { ...decay, T_ns: 0 } }],
  ['E_FIELD', { op: 'decay', in: { ...decay, xi: -1 } }],
  ['E_FIELD', { op: 'decay', in: { ...decay, R: 1.5 } }],
  ['E_FIELD', { op: 'decay', in: { ...decay, rule: 'toString' } }],
  ['E_FIELD', { op: 'unpack', in: { hex: '0x12' } }],
  ['E_FIELD', { op: 'zipf', in: { total: 1, groups: 1e6, per: 1e6, s: 1 } }],
  ['E_FIELD', { op: 'fluid_haechi', in: { R: [1], D: [], pool: 0, CG: 1, CL: 1, T_ns: 1 } }],
  ['E_FIELD', { op: 'client_step', in: { state: {}, event: { k: 'complete', n: 5 } } }],
])('refuses with %s: %o', (code, input) => {
  expect(evaluate(input)).toEqual({ error: { code, message: expect.any(String) as string } })
})
