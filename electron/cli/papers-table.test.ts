import { describe, expect, it } from 'vitest'
import type { Claim } from '#core/papers/claims.ts'
import type { Experiment } from '#core/papers/experiment.ts'
import { agreementText, deviationText, experimentLines, summaryLines, wrapped } from './papers-table.ts'

const claim = (more: Partial<Claim> = {}): Claim => ({
  id: 'a.1',
  system: 'a',
  ref: 'IV',
  what: 'gain of Job1',
  metric: 'gain, %',
  published: 20,
  target: { at: 20 },
  tolerance: { size: 0.1, isRelative: true, reason: 'a tenth' },
  measured: 21,
  deviation: 0.05,
  verdict: 'reproduced',
  range: [20, 22],
  comparator: '>=',
  bound: 19,
  ok: true,
  failed_seeds: [],
  ...more,
})
const experiment: Experiment = {
  id: 'a',
  system: 'a',
  title: 'Gains',
  setup: [],
  expectations: [],
  parts: [],
  measure: () => new Map(),
  figures: () => [],
}

describe('a claim', () => {
  it.each<[Partial<Claim>, string]>([
    [{}, '20 ±10 %'],
    [{ tolerance: { size: 2, reason: '' } }, '20 ±2'],
    [{ target: { from: 2, to: 3 } }, '2 to 3 ±10 %'],
    [{ target: { is: '>', than: 1 }, tolerance: { size: 0, reason: '' } }, '> 1'],
    [{ target: { is: '>=', than: 1 } }, '>= 1 -10 %'],
    [{ target: { is: '<=', than: 18 } }, '<= 18 +10 %'],
  ])('agrees within its tolerance: %j is %s', (more, text) => {
    expect(agreementText(claim(more))).toBe(text)
  })

  it.each<[Partial<Claim>, string]>([
    [{}, '+5.0 %'],
    [{ deviation: -0.25 }, '-25 %'],
    [{ deviation: 0 }, '0 %'],
    [{ deviation: 0.3, target: { at: 0 } }, '+0.3'],
    [{ deviation: -2, target: { from: 0, to: 3 } }, '-2'],
    [{ deviation: 0, target: { is: '>', than: 1 } }, ''],
    [{ deviation: 0, target: { is: '>', than: 1 }, verdict: 'differs' }, '0 %'],
    [{ deviation: null }, ''],
  ])('deviates from its target: %j is %s', (more, text) => {
    expect(deviationText(claim(more))).toBe(text)
  })
})

describe('the table of an experiment', () => {
  it('has a row for each claim, with the reasons below', () => {
    const claims = [
      claim(),
      claim({
        id: 'a.2',
        measured: 30,
        deviation: 0.5,
        verdict: 'differs',
        note: 'No cache.',
        ok: false,
        comparator: '<=',
        failed_seeds: [1, 2],
      }),
      claim({ id: 'a.3', measured: 30, deviation: 0.5, verdict: 'contradicts', proof: 'Sum of Table I.' }),
      claim({ id: 'a.4', measured: 20, deviation: 0, verdict: 'calibrated', calibrates: 'rpcUs' }),
    ]
    expect(experimentLines(experiment, claims, 120)).toEqual([
      'a  Gains',
      '     published  measured  deviation  agreement  verdict      bound           claim',
      'a.1  20         21        +5.0 %     20 ±10 %   reproduced   >= 19           gain of Job1',
      'a.2  20         30        +50 %      20 ±10 %   differs      <= 19 EXCEEDED  gain of Job1',
      '    No cache.',
      '    Tolerance: a tenth',
      '    Outside the bound on seed 1, 2 alone.',
      'a.3  20         30        +50 %      20 ±10 %   contradicts  >= 19           gain of Job1',
      '    Proof: Sum of Table I.',
      'a.4  20         20        0 %        20 ±10 %   calibrated   >= 19           gain of Job1',
      '    Calibrated on: rpcUs',
    ])
  })

  it('continues long texts on the next line', () => {
    const published = 'falls with the share; at 50 % close to uniform'
    const [, , first, second, ...rest] = experimentLines(
      experiment,
      [claim({ published, note: 'a note '.repeat(20).trim() })],
      100,
    )
    expect(first).toMatch(/^a\.1 {2}falls with the share; at +21 /)
    expect(second?.trim()).toBe('50 % close to uniform')
    expect(rest.length).toBeGreaterThan(1)
    for (const text of rest) expect(text).toMatch(/^ {4}\S.{0,95}$/)
    expect(wrapped('unbreakable words here', 5)).toEqual(['unbreakable', 'words', 'here'])
  })

  it('begins with the fitted constants', () => {
    const fits = [{ constant: 'rpcUs', value: '5.6', fittedTo: 'Table III', outOfSample: 'Figure 24 within 12 %' }]
    expect(experimentLines({ ...experiment, fits }, [claim()], 120)[1]).toBe(
      '    Fitted: rpcUs = 5.6, to Table III. Out of sample: Figure 24 within 12 %',
    )
  })

  it('prints a table of information below its row, and a claim on which the paper is silent as that', () => {
    const table = claim({
      published: null,
      measured: { '10': 5, '2': 3 },
      verdict: null,
      deviation: null,
      comparator: 'info',
      bound: null,
    })
    const lines = experimentLines(experiment, [table], 120)
    expect(lines[2]).toMatch(/^a\.1 {2}- +table +20 ±10 % +not published +gain of Job1$/)
    expect(lines[3]).toBe('    Measured: 2: 3, 10: 5')
  })
})

it('ends with the counts by system and in total, and the regression bounds', () => {
  const claims = [
    claim(),
    claim({ system: 'b', verdict: 'differs', ok: false }),
    claim({ system: 'b', verdict: 'contradicts' }),
    claim({ system: 'b', verdict: null, comparator: 'info', bound: null }),
  ]
  expect(summaryLines(claims, [1, 2], 3.14)).toEqual([
    'a: 1 reproduced, 0 calibrated on, 0 differ, 0 contradict the paper, 0 not published',
    'b: 0 reproduced, 0 calibrated on, 1 differs, 1 contradicts the paper, 1 not published',
    'total: 1 reproduced, 0 calibrated on, 1 differs, 1 contradicts the paper, 1 not published',
    '2 of 3 regression bounds hold; medians over seeds 1, 2; 3.1 s.',
  ])
})
