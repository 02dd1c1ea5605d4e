import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { PadllEval } from './eval.ts'

interface Case {
  name: string
  why: string
  input: object
  output: { rates?: Record<string, number>; error?: { code: string; message: string } }
}

const cases = readFileSync(new URL('../../tests/cases/padll.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Case)
const evaluate = (line: string): Case['output'] => JSON.parse(new PadllEval().answer(line)) as Case['output']

describe('golden cases', () => {
  it.each(cases)('$name: $why', ({ input, output }) => {
    const got = evaluate(JSON.stringify(input))
    if (output.error) expect(got).toEqual(output)
    else expect(Object.keys(got.rates!)).toEqual(Object.keys(output.rates!))
    for (const [id, rate] of Object.entries(output.rates ?? {})) {
      expect(Math.abs(got.rates![id]! - rate), id).toBeLessThanOrEqual(Math.max(1e-6, 1e-9 * rate))
    }
  })
})

const good = { algorithm: 'psfa', max_rate: 100, jobs: [{ id: 'a', demand: 10, usage: 5 }] }
it.each<[string, string]>([
  ['E_REQUEST', ''],
  ['E_REQUEST', '{"algorithm":'],
  ['E_REQUEST', '[]'],
  ['E_REQUEST', 'null'],
  ['E_ALGORITHM', JSON.stringify({ ...good, algorithm: 'max-min' })],
  ['E_ALGORITHM', JSON.stringify({ ...good, algorithm: undefined })],
  ['E_ALGORITHM', JSON.stringify({ ...good, algorithm: ['psfa'] })],
  ['E_MAX_RATE', JSON.stringify({ ...good, max_rate: '100' })],
  ['E_MAX_RATE', '{"algorithm":"static","max_rate":1e999,"jobs":[]}'],
  ['E_EPSILON', JSON.stringify({ ...good, epsilon: '0.1' })],
  ['E_SLOTS', JSON.stringify({ ...good, slots: {} })],
  ['E_OVERSUBSCRIPTION', JSON.stringify({ ...good, oversubscription: 1 })],
  ['E_LEFTOVER', JSON.stringify({ ...good, leftover: true })],
  ['E_JOBS', JSON.stringify({ ...good, jobs: {} })],
  ['E_JOBS', JSON.stringify({ ...good, jobs: undefined })],
  ['E_JOBS', JSON.stringify({ ...good, jobs: [null] })],
  ['E_JOB_ID', JSON.stringify({ ...good, jobs: [{ id: 7 }] })],
  ['E_DEMAND', JSON.stringify({ ...good, jobs: [{ id: 'a', demand: '1' }] })],
  ['E_USAGE', JSON.stringify({ ...good, jobs: [{ id: 'a', demand: 1, usage: [1] }] })],
])('%s for %s', (code, line) => {
  const { error } = evaluate(line)
  expect(error?.code).toBe(code)
  expect(error?.message).not.toBe('')
})

it('takes null for what is not known, as if it were left out', () => {
  const nothing = { epsilon: null, slots: null, oversubscription: null, leftover: null }
  expect(evaluate(JSON.stringify({ ...good, ...nothing }))).toEqual(evaluate(JSON.stringify(good)))
  const job = { id: 'a', demand: null, usage: null }
  const bare = { id: 'a' }
  expect(evaluate(JSON.stringify({ ...good, jobs: [job] }))).toEqual(
    evaluate(JSON.stringify({ ...good, jobs: [bare] })),
  )
})

it('answers ids that are names of object parts like any other', () => {
  const jobs = ['__proto__', 'constructor', 'toString'].map((id) => ({ id, demand: 1, usage: 1 }))
  const { rates } = evaluate(JSON.stringify({ algorithm: 'uniform', max_rate: 9, jobs }))
  expect(Object.entries(rates!)).toEqual([
    ['__proto__', 3],
    ['constructor', 3],
    ['toString', 3],
  ])
})
