import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { AdaptbfEval } from './eval.ts'

interface Case {
  name: string
  note: string
  input: unknown[]
  expected: unknown[]
}

const cases = readFileSync(new URL('../../tests/cases/adaptbf.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Case)

/** Expects every value named in `expected` in `actual`: integers exactly, reals to 1e-9 (the cases are printed to 9 places). */
function expectWithin(actual: unknown, expected: unknown, path: string): void {
  if (typeof expected === 'number') {
    expect(actual, path).toBeTypeOf('number')
    const isInteger = Number.isInteger(expected) && !/remainder|priority|utilization|Factor|coefficient/i.test(path)
    if (isInteger) expect(actual, path).toBe(expected)
    else expect(Math.abs((actual as number) - expected), path).toBeLessThanOrEqual(1e-9)
  } else if (Array.isArray(expected)) {
    expect(actual, path).toEqual(expected)
  } else {
    const named = expected as Record<string, unknown>
    const given = actual as Record<string, unknown>
    // Dictionaries by JobID must match completely; the step of an idle period is given only in part.
    if (/\.\w+\.\w+$|^(alloc|record)$/.test(path)) {
      expect(Object.keys(given).sort(), path).toEqual(Object.keys(named).sort())
    }
    for (const key of Object.keys(named)) expectWithin(given[key], named[key], path ? `${path}.${key}` : key)
  }
}

describe('golden cases', () => {
  const evaluator = new AdaptbfEval()
  it.each(cases)('$name: $note', ({ input, expected }) => {
    expect(JSON.parse(evaluator.answer('{"reset":true}'))).toEqual({ reset: true })
    expect(input).toHaveLength(expected.length)
    input.forEach((period, at) => {
      expectWithin(JSON.parse(evaluator.answer(JSON.stringify(period))), expected[at], '')
    })
  })
})
