// Every claim of the PADLL paper on seed 1, and those that depend on the trace on random seeds.
import { beforeAll, describe, expect, it } from 'vitest'
import { type Claim, runPapers } from '../claims.ts'
import type { Curve, Experiment, Figure } from '../experiment.ts'
import type { Measured } from '../expectation.ts'
import { EXPERIMENTS } from '../registry.ts'
import { experiments } from './experiments.ts'
import { month } from './ii.ts'
import { otherTraces } from './open-questions.ts'
import { permutedTraces } from './unfitted-traces.ts'
import { scenarios } from './v-c.ts'

function run(
  chosen: readonly Experiment[],
  seeds: readonly number[],
): { claims: readonly Claim[]; figures: ReadonlyMap<string, readonly Figure[]> } {
  const steps = runPapers(chosen, seeds, { now: () => performance.now() })
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
const missed = (claims: readonly Claim[]): string[] =>
  claims
    .filter(({ ok }) => !ok)
    .map((c) => `${c.id}: ${JSON.stringify(c.measured)} is not ${c.comparator} ${JSON.stringify(c.bound)}`)

describe('on seed 1', () => {
  let all: ReturnType<typeof run>
  const claimsOf = ({ expectations }: Experiment): Claim[] =>
    all.claims.filter(({ id }) => expectations.some((expectation) => expectation.id === id))
  beforeAll(() => {
    all = run(experiments, [1])
  }, 120_000)

  it.each(experiments.map((experiment) => [experiment.id, experiment] as const))('%s', (_, experiment) => {
    expect(missed(claimsOf(experiment))).toEqual([])
    expect(claimsOf(experiment).map(({ id }) => id)).toEqual(experiment.expectations.map(({ id }) => id))
  })

  it('explains every difference, and proves every contradiction', () => {
    const unexplained = all.claims.filter(
      ({ verdict, note, proof }) =>
        (verdict === 'differs' && note === undefined) || (verdict === 'contradicts' && proof === undefined),
    )
    expect(unexplained.map(({ id }) => id)).toEqual([])
  })

  it('reproduces nothing that was fitted: the minutes of trace A and the month are calibrated on or contradict', () => {
    const minutes = claimsOf(month).concat(
      scenarios.flatMap(claimsOf).filter(({ metric }) => metric.startsWith('min from')),
    )
    expect(new Set(minutes.map(({ verdict }) => verdict))).toEqual(new Set(['calibrated', 'contradicts']))
  })

  // The fits name how often traces that were not fitted meet the published minutes.
  it.each([
    ['padll.V-C-permuted', 'permuted means: #1 PSFA 14, #1 PSharing 13, #2 Priority 13, other setups 20', [14, 13, 13]],
    ['padll.V-C-random', 'With random means: 17, 15, 16 and 20', [17, 15, 16]],
  ])('declares what the fit predicts: %s', (id, text, expected) => {
    const traces = (cell: string): Measured | undefined =>
      all.claims.find((claim) => claim.id === `${id}.${cell}-traces`)?.measured
    expect(['s1-psfa-job1', 's1-psharing-job1', 's2-priority-job4'].map(traces)).toEqual(expected)
    expect(
      [
        's1-priority-job1',
        's2-uniform-job4',
        's2-psharing-job4',
        's2-psfa-job4',
        's3-psharing-job4',
        's3-psfa-job4',
      ].map(traces),
    ).toEqual([20, 20, 20, 20, 20, 20])
    expect(permutedTraces.fits?.some(({ outOfSample }) => outOfSample.includes(text))).toBe(true)
  })

  it('shows the bands of every setup, and the cycle as a curve', () => {
    const bands = all.figures.get('padll.V-C-permuted') ?? []
    expect(bands).toHaveLength(10)
    expect(bands[0]).toMatchObject({
      kind: 'bars',
      groups: [{ name: 'job1', published: [null, 54, null] }, {}, {}, {}],
    })
    const [curve] = all.figures.get('padll.V-D') ?? []
    expect(curve).toMatchObject({
      kind: 'curve',
      published: [
        {
          points: [
            [1, 162],
            [40, 664],
            [1000, 11_110],
          ],
        },
      ],
    })
    expect((curve as Curve).series[0]?.points.map(([locals]) => locals)).toEqual([1, 10, 40, 100, 250, 500, 1000])
  })
})

it('holds on traces that nobody chose', () => {
  const seeds = Array.from({ length: 5 }, () => Math.floor(Math.random() * 1e9))
  expect({ seeds, missed: missed(run([otherTraces], seeds).claims) }).toEqual({ seeds, missed: [] })
})

it('gives the scenarios the same minutes whatever the seed: the published ones belong to one trace', () => {
  const { claims } = run(scenarios, [3, 4])
  for (const { id, range } of claims) expect(range?.[0], id).toBe(range?.[1])
})

it('ends where a prototype ended, to its last printed digit', () => {
  const cells = run(scenarios, [1]).claims.filter(({ metric }) => metric.startsWith('min from'))
  expect(cells).toHaveLength(3 * 5 * 5)
  for (const { id, measured, prototype } of cells) {
    expect(Math.abs((measured as number) - (prototype as number)), id).toBeLessThan(6e-4)
  }
})

it('shows 97.2 min where 78 was published, with the proof', () => {
  const claims = new Map(run(scenarios, [1]).claims.map((claim) => [claim.id, claim]))
  const [job4, makespan] = ['job4', 'makespan'].map((of) => claims.get(`padll.V-C-3.priority-${of}`))
  expect(job4).toMatchObject({
    published: 69,
    bound: [96.2, 98.2],
    verdict: 'contradicts',
    proof: expect.stringContaining('78 min cannot be') as string,
  })
  expect(makespan).toMatchObject({ published: 78, bound: [105.2, 107.2] })
  expect([job4?.measured, makespan?.measured].map((minutes) => (minutes as number).toFixed(1))).toEqual([
    '97.2',
    '106.2',
  ])
})

it('has the figures of the paper as data, with the limit', () => {
  const all = [
    ...run(
      experiments.filter(({ id }) => /II|V-C-\d/.test(id)),
      [1],
    ).figures.values(),
  ].flat()
  expect(all.map(({ id }) => id)).toEqual([
    'fig1.rate',
    'fig2.bandwidth',
    'fig2.ratio',
    'fig3.cumulative',
    ...['baseline', 'uniform', 'priority', 'psharing', 'psfa', 'minutes'].map((name) => `fig7.${name}`),
    ...['baseline', 'uniform', 'priority', 'psharing', 'psfa', 'minutes'].map((name) => `fig8.${name}`),
    ...['priority', 'psharing', 'psfa', 'minutes'].map((name) => `fig9.${name}`),
  ])
  const psfa = all.find(({ id }) => id === 'fig9.psfa')
  expect(psfa).toMatchObject({ limit: { name: 'Max_R', value: 110_000 } })
})

it('has a unique id for every claim, under its experiment', () => {
  const ids = experiments.flatMap(({ id, expectations }) => expectations.map((claim) => [id, claim.id] as const))
  expect(new Set(ids.map(([, claim]) => claim)).size).toBe(ids.length)
  for (const [experiment, claim] of ids) expect(claim.startsWith(`${experiment}.`), claim).toBe(true)
  expect(EXPERIMENTS.filter(({ system }) => system === 'padll')).toEqual(experiments)
})
