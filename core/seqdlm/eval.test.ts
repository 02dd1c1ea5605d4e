import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { SeqdlmEval } from './eval.ts'

interface Case {
  id: number
  ref: string
  in: { op: string }
  out: unknown
}

const cases = readFileSync(new URL('../../tests/cases/seqdlm.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Case)
const evaluate = (input: object | string): unknown =>
  JSON.parse(new SeqdlmEval().answer(typeof input === 'string' ? input : JSON.stringify(input)))

describe('golden cases', () => {
  it.each(cases)('$id $in.op: $ref', ({ in: input, out }) => expect(evaluate(input)).toEqual(out))
})

const request = { client: 'a', start: 0, end: 9, mode: 'NBW' }
const expand = (fields: object): object => ({ op: 'expand_range', request, granted: [], queued: [], ...fields })

it('caps the range of DLM-Lustre at 32 MiB above 32 unreleased locks, and nowhere else', () => {
  const apart = (n: number): object[] =>
    Array.from({ length: n }, (_, i) => ({ client: `c${i}`, start: 2 ** 40 + i, end: 2 ** 40 + i, mode: 'PW' }))
  const end = (policy: string, n: number): unknown =>
    (evaluate(expand({ request: { ...request, mode: 'PW' }, policy, granted: apart(n) })) as { end: unknown }).end
  expect(end('dlm-lustre', 33)).toBe(32 * 1024 * 1024 - 1)
  expect(end('dlm-lustre', 32)).toBe(2 ** 40 - 1)
  expect(end('dlm-basic', 33)).toBe(2 ** 40 - 1)
  expect(end('dlm-datatype', 33)).toBe(9)
})

it('lets a CANCELING NBW lock neither bound an NBW nor a lock of its own client that it absorbs', () => {
  const later = { client: 'b', start: 20, end: 'EOF' }
  const ends = (granted: object): unknown => (evaluate(expand({ granted: [granted] })) as { end: unknown }).end
  expect(ends({ ...later, mode: 'NBW', state: 'CANCELING' })).toBe('EOF')
  expect(ends({ ...later, mode: 'NBW', state: 'GRANTED' })).toBe(19)
  expect(ends({ ...later, mode: 'BW', state: 'CANCELING' })).toBe(19)
  expect(evaluate(expand({ granted: [{ client: 'a', start: 5, end: 40, mode: 'NBW' }] }))).toEqual({
    start: 0,
    end: 'EOF',
    expanded: true,
    state: 'GRANTED',
  })
})

it.each<[string, object | string]>([
  ['E_REQUEST', '{"op":'],
  ['E_REQUEST', '[]'],
  ['E_OP', {}],
  ['E_OP', { op: 'constructor' }],
  ['E_MODE', { op: 'upgrade', held: 'PR', requested: 'EX' }],
  ['E_STATE', { op: 'compatible', new: 'PR', granted: 'PR', state: 'WAITING' }],
  ['E_KIND', { op: 'select_mode', kind: 'rename', resources: 1 }],
  ['E_FIELD', { op: 'select_mode', kind: 'read', resources: 0 }],
  ['E_FIELD', { op: 'downgrade', mode: 'PW', readers_only: 'yes' }],
  ['E_RANGE', expand({ request: { ...request, start: 10 } })],
  ['E_RANGE', expand({ request: { ...request, start: 'EOF' } })],
  ['E_RANGE', expand({ request: { ...request, end: 0.5 } })],
  ['E_CLIENT', expand({ request: { ...request, client: {} } })],
  ['E_POLICY', expand({ policy: '__proto__' })],
  ['E_FIELD', expand({ granted: 7 })],
  ['E_FIELD', expand({ queued: [null] })],
  [
    'E_EXTENTS',
    {
      op: 'merge',
      entries: [
        [0, 4, 1],
        [3, 5, 2],
      ],
      blocks: [],
    },
  ],
  ['E_EXTENTS', { op: 'client_write', extents: [], write: [4, 4, 1] }],
  ['E_EXTENTS', { op: 'client_write', extents: [], write: [0, 'EOF', 1] }],
  ['E_EXTENTS', { op: 'client_write', extents: [[0, 2 ** 50, 1]], write: [0, 1, 1] }],
])('%s for %j', (code, line) => expect(evaluate(line)).toMatchObject({ error: { code } }))
