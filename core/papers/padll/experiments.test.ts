// Every claim of the PADLL paper on seed 1, and those that depend on the trace on random seeds.
import { describe, expect, it } from 'vitest'
import { type Claim, runPapers } from '../claims.ts'
import type { Experiment, Figure } from '../experiment.ts'
import { EXPERIMENTS } from '../registry.ts'
import { experiments } from './experiments.ts'
import { otherTraces } from './open-questions.ts'
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

describe.each(experiments.map((experiment) => [experiment.id, experiment] as const))('%s', (_, experiment) => {
  it('keeps every claim on seed 1', () => {
    const { claims } = run([experiment], [1])
    expect(missed(claims)).toEqual([])
    expect(claims.map(({ id }) => id)).toEqual(experiment.expectations.map(({ id }) => id))
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
    note: expect.stringContaining('78 min cannot be') as string,
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
    ...['baseline', 'uniform', 'priority', 'psharing', 'psfa'].map((setup) => `fig7.${setup}`),
    ...['baseline', 'uniform', 'priority', 'psharing', 'psfa'].map((setup) => `fig8.${setup}`),
    ...['priority', 'psharing', 'psfa'].map((setup) => `fig9.${setup}`),
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
