import { describe, expect, it } from 'vitest'
import { AdaptbfEval } from './eval.ts'

interface Answer {
  t?: number
  budget: number
  alloc: Record<string, number>
  record: Record<string, number>
  error: { code: string; message: string }
}
const evaluate = (evaluator: AdaptbfEval, line: string): Answer => JSON.parse(evaluator.answer(line)) as Answer
const period = (fields: object): string => JSON.stringify({ t: 1, max_rate: 1000, dt: 0.1, jobs: [], ...fields })
const ab = [
  { id: 'a', nodes: 1, demand: 5 },
  { id: 'b', nodes: 2, demand: 200 },
]

describe('AdaptbfEval', () => {
  it('keeps state from line to line and forgets it on reset', () => {
    const evaluator = new AdaptbfEval()
    const first = evaluator.answer(period({ jobs: ab }))
    expect(JSON.parse(first)).toMatchObject({ t: 1, budget: 100, alloc: { a: 6, b: 94 }, record: { a: 27, b: -27 } })
    expect(evaluate(evaluator, period({ t: 2 }))).toMatchObject({ t: 2, alloc: {}, record: { a: 27, b: -27 } })
    expect(evaluator.answer(' {"reset":true}\r')).toBe('{"reset":true}')
    expect(evaluator.answer(period({ jobs: ab }))).toBe(first)
  })

  it('answers one line for any JobID', () => {
    const jobs = ['__proto__', 'toString', 'a\nb', '4711', 'ü'].map((id) => ({ id, demand: 500 }))
    const line = new AdaptbfEval().answer(period({ jobs }))
    expect(line).not.toContain('\n')
    const { alloc } = JSON.parse(line) as Answer
    expect(Object.keys(alloc).sort()).toEqual(jobs.map(({ id }) => id).sort())
    expect(Object.values(alloc)).toEqual(Array(5).fill(20))
  })

  it('takes nodes of null as missing, and needs no t', () => {
    const answer = evaluate(new AdaptbfEval(), '{"max_rate":10,"dt":1,"jobs":[{"id":"a","nodes":null,"demand":3}]}')
    expect(answer.alloc).toEqual({ a: 10 })
    expect(answer).not.toHaveProperty('t')
  })

  it.each([
    ['', 'NOT_JSON', 'The line is empty'],
    ['{"t":1,', 'NOT_JSON', 'The line is not JSON'],
    ['[1]', 'NOT_AN_OBJECT', 'got a list'],
    ['null', 'NOT_AN_OBJECT', 'got null'],
    ['7', 'NOT_AN_OBJECT', 'got the number 7'],
    ['{}', 'MISSING_FIELD', 'max_rate is missing'],
    ['{"reset":false}', 'WRONG_TYPE', 'reset is not true: got the boolean false'],
    ['{"max_rate":1000,"jobs":[]}', 'MISSING_FIELD', 'dt is missing'],
    ['{"max_rate":1000,"dt":0.1}', 'MISSING_FIELD', 'jobs is missing'],
    [period({ t: 'now' }), 'WRONG_TYPE', 't is not a number: got the string "now"'],
    [period({ max_rate: '1000' }), 'WRONG_TYPE', 'max_rate is not a number'],
    [period({ max_rate: 0 }), 'BAD_RATE', 'got 0'],
    [period({ dt: -1 }), 'BAD_PERIOD', 'got -1'],
    ['{"max_rate":1e999,"dt":0.1,"jobs":[]}', 'NOT_FINITE', 'max_rate is not finite'],
    [period({ max_rate: 1e14 }), 'BUDGET_TOO_LARGE', 'got 10000000000000'],
    [period({ jobs: {} }), 'WRONG_TYPE', 'jobs is not a list: got an object'],
    [period({ jobs: [...ab, 'c'] }), 'WRONG_TYPE', 'jobs[2] is not an object: got the string "c"'],
    [period({ jobs: [{ demand: 1 }] }), 'MISSING_FIELD', 'jobs[0].id is missing'],
    [period({ jobs: [{ id: 4711, demand: 1 }] }), 'WRONG_TYPE', 'jobs[0].id is not a string: got the number 4711'],
    [period({ jobs: [{ id: 'a' }] }), 'MISSING_FIELD', 'jobs[0].demand is missing'],
    [period({ jobs: [{ id: 'a', demand: null }] }), 'WRONG_TYPE', 'jobs[0].demand is not a number: got null'],
    [period({ jobs: [{ id: 'a', demand: 1.5 }] }), 'BAD_DEMAND', 'demand of job "a"'],
    [period({ jobs: [{ id: 'a', nodes: '2', demand: 1 }] }), 'WRONG_TYPE', 'jobs[0].nodes is not a number'],
    [period({ jobs: [...ab, ab[0]] }), 'DUPLICATE_JOB_ID', 'Job "a" is listed twice'],
    [period({ jobs: [{ id: '', demand: 1 }] }), 'EMPTY_JOB_ID', 'empty id'],
  ])('%s: %s', (line, code, message) => {
    const tried = new AdaptbfEval()
    const untried = new AdaptbfEval()
    for (const evaluator of [tried, untried]) evaluator.answer(period({ jobs: ab }))
    const { error } = evaluate(tried, line)
    expect(error.code).toBe(code)
    expect(error.message).toContain(message)
    expect(tried.answer(period({ t: 2, jobs: ab }))).toBe(untried.answer(period({ t: 2, jobs: ab })))
  })
})
