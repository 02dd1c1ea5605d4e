import { describe, expect, it } from 'vitest'
import { type PapersResult, runPapers, select } from './claims.ts'
import { type Bound, type Comparator, holds } from './expectation.ts'
import { type Experiment, originalOf } from './experiment.ts'

const host = { now: () => 0 }

const PUBLISHED = { value: 3, tolerance: { size: 0.5, reason: 'printed digit' }, note: 'why' }

/** Measures the seed, and twice the seed. */
const experiment = (id: string, partId = id): Experiment => ({
  id: `toy.${id}`,
  system: 'toy',
  title: id,
  setup: [],
  expectations: [
    {
      id: `toy.${id}.1`,
      claim: 'the seed',
      ref: 'I',
      metric: 'seed',
      comparator: '<=',
      bound: 4,
      prototype: 3,
      published: PUBLISHED,
    },
    {
      id: `toy.${id}.2`,
      claim: 'a table',
      ref: 'I',
      metric: 'seed',
      comparator: 'info',
      bound: null,
      prototype: {},
      published: { value: null },
    },
  ],
  parts: [{ id: partId, run: (seed) => seed }],
  measure(runs) {
    const seed = runs.get(partId) as number
    return new Map<string, number | Record<string, number>>([
      [`toy.${id}.1`, seed],
      [`toy.${id}.2`, { once: seed, twice: 2 * seed }],
    ])
  },
  figures: () => [],
})

interface Ended extends PapersResult {
  readonly progress: readonly string[]
}

function run(experiments: readonly Experiment[], seeds: readonly number[]): Ended {
  const steps = runPapers(experiments, seeds, host)
  const progress: string[] = []
  for (;;) {
    const step = steps.next()
    if (step.done) return { progress, ...step.value }
    progress.push(`${step.value.done}/${step.value.of} ${step.value.part} ${step.value.seed}`)
  }
}

describe('runPapers', () => {
  it('judges the median, and names the seeds that alone do not hold', () => {
    const { claims } = run([experiment('A')], [9, 1, 3])
    expect(claims[0]).toEqual({
      id: 'toy.A.1',
      system: 'toy',
      ref: 'I',
      what: 'the seed',
      metric: 'seed',
      published: 3,
      measured: 3,
      verdict: 'reproduced',
      target: { at: 3 },
      tolerance: { size: 0.5, reason: 'printed digit' },
      deviation: 0,
      range: [1, 9],
      comparator: '<=',
      bound: 4,
      ok: true,
      failed_seeds: [9],
      prototype: 3,
      note: 'why',
    })
    expect(claims[1]).toMatchObject({
      ok: true,
      measured: { once: 3, twice: 6 },
      range: null,
      published: null,
      verdict: null,
    })
    expect(claims[1]).not.toHaveProperty('note')
    expect(run([experiment('A')], [1, 9, 9]).claims[0]).toMatchObject({ ok: false, measured: 9 })
    expect(run([experiment('A')], [1, 4]).claims[0]?.measured).toBe(2.5)
  })

  it('runs a part that experiments share once a seed', () => {
    const { progress, claims } = run([experiment('A', 'shared'), experiment('B', 'shared')], [1, 2])
    expect(progress).toEqual(['0/2 shared 1', '1/2 shared 2'])
    expect(claims.map(({ id }) => id)).toEqual(['toy.A.1', 'toy.A.2', 'toy.B.1', 'toy.B.2'])
  })

  it('runs a part without a seed once, for all seeds', () => {
    const parts = [{ id: 'A', isSeedless: true as const, run: (seed: number) => seed }]
    const { progress, claims } = run([{ ...experiment('A'), parts }, experiment('B')], [3, 1, 2])
    expect(progress).toEqual(['0/4 A 3', '1/4 B 3', '2/4 B 1', '3/4 B 2'])
    expect(claims.map(({ range }) => range)).toEqual([[3, 3], null, [1, 3], null])
  })

  it('does not hold a claim that nothing measured', () => {
    const silent = { ...experiment('A'), measure: () => new Map() }
    expect(run([silent], [1]).claims[0]).toMatchObject({ ok: false, measured: NaN })
  })
})

describe('an advance', () => {
  const advance = (on: 'median' | 'every seed', than: number): Experiment => {
    const base = experiment('A')
    return {
      ...base,
      expectations: [
        { ...base.expectations[0]!, published: { value: null }, required: { target: { is: '<=', than }, on } },
      ],
      measure: (runs) => new Map([...base.measure(runs), [originalOf('toy.A.1'), 10 * (runs.get('A') as number)]]),
    }
  }
  it('has the value of the original, and its requirement judged on the median or on every seed', () => {
    const [claim] = run([advance('median', 3)], [9, 1, 3]).claims
    expect(claim).toMatchObject({ measured: 3, original: 30, met: true, verdict: null, range: [1, 9] })
    expect(run([advance('every seed', 3)], [9, 1, 3]).claims[0]).toMatchObject({ met: false })
    expect(run([advance('every seed', 9)], [9, 1, 3]).claims[0]).toMatchObject({ met: true })
  })

  it('keeps the original of a selected claim', () => {
    const { experiments } = select([advance('median', 3)], ['toy.A.1'])
    expect(run(experiments, [2]).claims).toMatchObject([{ id: 'toy.A.1', original: 20 }])
  })
})

describe('select', () => {
  const all = [experiment('A'), experiment('B')]
  it.each([
    [['toy'], ['toy.A', 'toy.B']],
    [['B'], ['toy.B']],
    [['toy.A'], ['toy.A']],
  ])('%j', (ids, expected) => {
    expect(select(all, ids).experiments.map(({ id }) => id)).toEqual(expected)
  })

  it('reduces an experiment to the claims that are asked for', () => {
    const { experiments } = select(all, ['toy.B.1'])
    expect(run(experiments, [2]).claims.map(({ id }) => id)).toEqual(['toy.B.1'])
  })

  it('names what it does not know', () => {
    expect(select(all, ['A', 'C', 'toy.A.9']).unknown).toEqual(['C', 'toy.A.9'])
  })
})

it.each<[Comparator, Bound, number, boolean]>([
  ['>=', 1, 1, true],
  ['>', 1, 1, false],
  ['<=', 1, 1, true],
  ['<', 1, 1, false],
  ['between', [1, 2], 2, true],
  ['between', [1, 2], 2.01, false],
  ['>=', 1, NaN, false],
  ['between', [1, 2], NaN, false],
])('%s %j holds for %d: %s', (comparator, bound, measured, expected) => {
  expect(holds(comparator, bound, measured)).toBe(expected)
})
