import { describe, expect, it } from 'vitest'
import type { ClaimResult, PaperClaim } from '#core/api/papers.ts'
import {
  boundText,
  countText,
  differenceText,
  exceededText,
  figure,
  isOutside,
  measuredText,
  publishedText,
  rangeText,
  remarks,
  resultJson,
  shortId,
  systemName,
  tally,
  toleranceText,
  verdict,
} from './claim-text.ts'
import {
  claimResult,
  claimsOfEachVerdict,
  experiment,
  fit,
  paperClaim,
  papersResult,
} from '#tests/kits/renderer/views/papers-host.ts'

it.each([
  [0.99891, '0.9989'],
  [-0.00138, '\u22120.0014'],
  [1040, '1\u202F040'],
  [0, '0'],
  [1e-9, '0'],
  [0.0000123, '0.000012'],
  [null, '\u2013'],
])('%d is written %s', (value, text) => {
  expect(figure(value)).toBe(text)
})

it.each<[Partial<PaperClaim>, string]>([
  [{ comparator: '>=', bound: 0.98 }, '\u2265 0.98'],
  [{ comparator: 'between', bound: [-0.55, -0.3] }, '\u22120.55 to \u22120.3'],
  [{ comparator: 'info', bound: null }, '\u2013'],
])('%j is the bound %s', (bound, text) => {
  expect(boundText(paperClaim(bound))).toBe(text)
})

it('formats published values as in the paper, and a table by its entries in order', () => {
  expect(publishedText(paperClaim({ published: 'minimal loss' }))).toBe('minimal loss')
  expect(publishedText(paperClaim({ published: 0.1 }))).toBe('0.1')
  expect(publishedText(paperClaim({ published: null }))).toBe('\u2013')
  expect(measuredText({ '2': 5, '0.1': 230.81, '1': null })).toBe('0.1: 230.8, 1: \u2013, 2: 5')
})

const tenth = { size: 0.1, isRelative: true as const, reason: 'test' }
const two = { size: 2, reason: 'test' }
const none = { size: 0, reason: 'test' }

describe('tolerance', () => {
  it.each<[Partial<PaperClaim>, string]>([
    [{ published: 20, target: { at: 20 }, tolerance: tenth }, '\u00B110\u202F%'],
    [{ published: 20, target: { at: 20 }, tolerance: two }, '\u00B12'],
    [{ published: 20, target: { at: 20 }, tolerance: none }, 'exact'],
    [{ published: 'about 20', target: { at: 20 }, tolerance: two }, '20 \u00B12'],
    [{ published: '2 to 3', target: { from: 2, to: 3 }, tolerance: tenth }, '2 to 3 \u00B110\u202F%'],
    [{ target: { is: '>', than: 1 }, tolerance: none }, '> 1'],
    [{ target: { is: '>=', than: 1 }, tolerance: { ...tenth, size: 0.025 } }, '\u2265 1 \u22122.5\u202F%'],
    [{ target: { is: '<=', than: 18 }, tolerance: two }, '\u2264 18 +2'],
  ])('%j', (claim, text) => {
    expect(toleranceText(paperClaim(claim))).toBe(text)
  })

  it('is not shown where nothing is compared', () => {
    const { target: _, ...claim } = paperClaim()
    expect(toleranceText(claim)).toBe('\u2013')
  })
})

describe('difference', () => {
  it.each<[Partial<ClaimResult>, string]>([
    [{ target: { at: 20 }, deviation: 0.25 }, '+25\u202F%'],
    [{ target: { at: 20 }, deviation: -0.031 }, '\u22123.1\u202F%'],
    [{ target: { at: 20 }, deviation: 0 }, '0\u202F%'],
    [{ target: { at: 20 }, deviation: 4.3 }, '+430\u202F%'],
    [{ target: { at: 0 }, deviation: 0.3 }, '+0.3'],
    [{ target: { from: 0, to: 4 }, deviation: -2 }, '\u22122'],
    [{ target: { from: 0, to: 4 }, deviation: 0.5 }, '+50\u202F%'],
    [{ target: { is: '<', than: 0 }, deviation: 0.3 }, '+0.3'],
    [{ target: { is: '>', than: 1 }, deviation: 0 }, ''],
    [{ target: { is: '>', than: 1 }, deviation: 0, verdict: 'differs' }, '0\u202F%'],
    [{ deviation: null }, ''],
  ])('%j', (claim, text) => {
    expect(differenceText(claimResult(claim))).toBe(text)
  })

  it('is unknown before the first run', () => {
    expect(differenceText(paperClaim())).toBe('')
  })
})

it('shows the range over the seeds unless they agree', () => {
  expect(rangeText(claimResult())).toBe('0.9986 \u2026 0.999')
  expect(rangeText(claimResult({ range: [5, 5] }))).toBe('')
  expect(rangeText(claimResult({ range: null }))).toBe('')
})

it('judges the published value, whatever the regression bound', () => {
  expect(verdict(paperClaim())).toEqual({ outcome: null, word: 'not run' })
  expect(claimsOfEachVerdict().map((claim) => verdict(claim).word)).toEqual([
    'reproduced',
    'calibrated on',
    'differs',
    'contradicts the paper',
    'not published',
  ])
  expect(verdict(claimResult({ ok: false })).word).toBe('reproduced')
  expect(verdict(claimResult({ verdict: null, measured: { '1': 5 } })).word).toBe('not compared')
  expect(claimsOfEachVerdict().map(isOutside)).toEqual([false, false, true, true, false])
})

it('gives the reasons under a claim, and the tolerance where it is exceeded', () => {
  expect(claimsOfEachVerdict().map(remarks)).toEqual([
    [],
    ['Calibrated on: rpcUs, the time of one RPC.'],
    ['The model has no cache.', 'Tolerance: A tenth, for a model without the spread of a testbed.'],
    ['Proof: The work of Table I takes 97 minutes at the published limit.', 'Tolerance: Printed as whole minutes.'],
    [],
  ])
  expect(remarks(claimResult({ verdict: 'differs' }))).toContain('No reason for the difference is recorded.')
  expect(remarks(claimResult({ ok: false, measured: 0.5, failed_seeds: [1, 3] }))).toEqual([
    'Regression bound exceeded: 0.5, required \u2265 0.98.',
    'Outside the regression bound on seed 1, 3 alone.',
  ])
})

it('counts claims by verdict, exceeded bounds apart', () => {
  expect(tally([...claimsOfEachVerdict(), claimResult({ ok: false })])).toEqual({
    counts: { reproduced: 2, calibrated: 1, differs: 1, contradicts: 1, met: 0, missed: 0, silent: 1 },
    exceeded: 1,
  })
  expect([countText('differs', 1), countText('differs', 4), countText('contradicts', 2)]).toEqual([
    '1 differs',
    '4 differ',
    '2 contradict the paper',
  ])
  expect([exceededText(1), exceededText(2)]).toEqual(['1 regression bound exceeded', '2 regression bounds exceeded'])
})

it('writes the document of the command line: claims, counts by system, fits', () => {
  const result = papersResult({ claims: claimsOfEachVerdict() })
  const document = JSON.parse(resultJson(result, experiment('IV-D', { fits: [fit] }))) as Record<string, unknown>
  expect(Object.keys(document)).toEqual(['claims', 'counts', 'fits', 'seeds', 'seconds'])
  expect(document).toMatchObject({
    counts: { adaptbf: { reproduced: 1, calibrated: 1, differs: 1, contradicts: 1, silent: 1 } },
    fits: [{ experiment: 'adaptbf.IV-D', ...fit }],
    seeds: [1, 2, 3],
  })
})

it('names systems and experiments', () => {
  expect([systemName('adaptbf'), systemName('other')]).toEqual(['AdapTBF', 'other'])
  expect(shortId({ id: 'adaptbf.IV-F-endless', system: 'adaptbf' })).toBe('IV-F-endless')
})

describe('a claim of an advance', () => {
  const required = { target: { is: '<=', than: 36.5 }, on: 'every seed' } as const
  const advance = (more: Partial<ClaimResult>): ClaimResult =>
    claimResult({ published: null, verdict: null, measured: 36, original: 39, ...more })

  it('shows the value of the original, the requirement, and if it is met', () => {
    const met = advance({ required, met: true })
    expect(publishedText(met)).toBe('39 by the original')
    expect(toleranceText(met)).toBe('\u2264 36.5, every seed')
    expect(verdict(met)).toEqual({ outcome: 'met', word: 'met' })
    expect(verdict(advance({ required, met: false }))).toEqual({ outcome: 'missed', word: 'missed' })
    expect(verdict(advance({})).word).toBe('measured')
  })

  it('is counted by its requirement', () => {
    const { counts } = tally([advance({ required, met: true }), advance({ required, met: false }), advance({})])
    expect(counts).toMatchObject({ met: 1, missed: 1, silent: 1 })
  })
})
