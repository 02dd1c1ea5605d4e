// The quick claims of the SeqDLM paper on seed 1 and on random seeds, and sums that the runs must match.
import { describe, expect, it } from 'vitest'
import { DLM_BASIC, SEQDLM } from '../../seqdlm/policy.ts'
import { type Claim, runPapers, select } from '../claims.ts'
import type { Experiment, Figure } from '../experiment.ts'
import { EXPERIMENTS } from '../registry.ts'
import { Cluster } from '../../seqdlm/model/cluster.ts'
import { experiments, analytic, terms } from './experiments.ts'
import { independent, strided } from './writers.ts'

function run(
  chosen: readonly Experiment[],
  seeds: readonly number[],
): { claims: readonly Claim[]; figures: ReadonlyMap<string, readonly Figure[]> } {
  const steps = runPapers(chosen, seeds, { now: () => 0 })
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
const missed = (claims: readonly Claim[]): string[] =>
  claims
    .filter(({ ok }) => !ok)
    .map((c) => `${c.id}: ${JSON.stringify(c.measured)} is not ${c.comparator} ${JSON.stringify(c.bound)}`)
const chosen = (...ids: string[]): Experiment[] => select(experiments, ids).experiments

/** Experiments without the runs at the size of the paper. */
const QUICK = ['fig4', 'eq1', 'fig17', 'fig18a', 'fig18b', 'fig19a', 'fig19b', 'table3', 'loo']

it('keeps every claim of the quick experiments on seed 1, and has their figures as data', () => {
  const { claims, figures } = run(chosen(...QUICK), [1])
  expect(missed(claims)).toEqual([])
  expect(claims.map(({ id }) => id)).toEqual(chosen(...QUICK).flatMap((e) => e.expectations.map(({ id }) => id)))
  const all = [...figures.values()].flat()
  expect(all.map(({ id }) => id)).toEqual([
    'fig4',
    'fig5',
    'eq1',
    'fig17',
    'fig18a',
    'fig18b',
    'fig19a',
    'fig19b',
    'table3',
    'loo',
  ])
  const values = all.flatMap((f) => (f.kind === 'bars' ? f.groups.flatMap((group) => group.values) : []))
  expect(values.every((value) => Number.isFinite(value) && value >= 0)).toBe(true)
  const outside = claims.filter(({ verdict }) => verdict === 'differs' || verdict === 'contradicts')
  expect(outside.filter(({ verdict, note }) => verdict === 'differs' && note === undefined)).toEqual([])
  expect(outside.filter(({ verdict, proof }) => verdict === 'contradicts' && proof === undefined)).toEqual([])
})

it('counts the calibration set as calibrated, and the values left out as predictions', () => {
  const { claims } = run(chosen('fig17', 'fig18a', 'fig19b', 'table3', 'loo'), [1])
  const of = (verdict: Claim['verdict']): number => claims.filter((claim) => claim.verdict === verdict).length
  expect(of('calibrated')).toBe(7 + 4 + 2 + 6)
  expect(claims.filter(({ id, verdict }) => id.startsWith('seqdlm.loo') && verdict === 'calibrated')).toEqual([])
})

// A stand-in for the runs at the size of the paper: every value is the same, so only names and shapes are checked.
it('measures every claim of the large experiments, and draws figures whose points are named', () => {
  const same = { writes: 1, bytes: 1e9, pioS: 0.5, totalS: 1, lockingShare: 0.5 }
  for (const experiment of chosen('fig20', 'fig21', 'fig22', 'fig23', 'fig24', 'fig25')) {
    const runs = new Map(experiment.parts.map(({ id }) => [id, same]))
    expect([...experiment.measure(runs).keys()], experiment.id).toEqual(
      expect.arrayContaining(experiment.expectations.map(({ id }) => id)),
    )
    const figures = experiment.figures(runs)
    expect(figures.length, experiment.id).toBeGreaterThan(0)
    for (const figure of figures) {
      if (figure.kind === 'curve')
        expect(
          figure.series.every(({ points }) => points.length > 1),
          figure.id,
        ).toBe(true)
    }
  }
})

it('keeps the micro-benchmarks on seeds that nobody chose', () => {
  const seeds = Array.from({ length: 2 }, () => Math.floor(Math.random() * 1e9))
  const { claims } = run(chosen('fig17', 'fig18a', 'fig18b', 'fig19a', 'fig19b'), seeds)
  expect({ seeds, missed: missed(claims) }).toEqual({ seeds, missed: [] })
})

it('says why and by how much where the published value is not reached', () => {
  const claims = new Map(experiments.flatMap((e) => e.expectations.map((x) => [x.id, x.published] as const)))
  for (const id of ['fig21.4.752128', 'fig21.8.752128', 'fig21.lustre_vs_basic', 'fig24.256K.1', 'fig24.1M.1']) {
    expect(claims.get(`seqdlm.${id}`)?.note, id).toMatch(/^Above by|^Parity/)
  }
})

it('declares the fitted constants of every experiment that simulates with them', () => {
  const undeclared = experiments.filter(({ fits }) => fits === undefined).map(({ id }) => id)
  expect(undeclared).toEqual(['seqdlm.eq1'])
})

it('has a unique id for every claim, under its experiment', () => {
  const ids = experiments.flatMap(({ id, expectations }) => expectations.map((claim) => [id, claim.id] as const))
  expect(new Set(ids.map(([, claim]) => claim)).size).toBe(ids.length)
  for (const [experiment, claim] of ids) expect(claim.startsWith(`${experiment}.`), claim).toBe(true)
  expect(EXPERIMENTS.filter(({ system }) => system === 'seqdlm')).toEqual(experiments)
})

it('computes equation (1) as the paper does', () => {
  expect(terms(1e6).map((s) => s.toPrecision(2))).toEqual(['1.0e-13', '1.0e-12', '4.1e-10'])
  expect(analytic(4096) / 1e9).toBeCloseTo(1.467, 3)
  expect(analytic(65_536) / 1e9).toBeCloseTo(2.325, 3)
})

describe('the cluster', () => {
  const bytes = 65_536
  const writers = { file: { base: 0, stripes: 2, stripeSize: 1 << 20 }, writes: 40, bytes, offsetOf: strided(8, bytes) }
  const cluster = (policy = SEQDLM, seed = 1): Cluster =>
    new Cluster({ policy, clients: 8, servers: 2, seed, pages: 'cold' })

  it('runs the same from the same seed, and otherwise from another', () => {
    const times = [1, 1, 2].map((seed) => independent(cluster(SEQDLM, seed), writers).totalS)
    expect(times[0]).toBe(times[1])
    expect(times[0]).not.toBe(times[2])
  })

  it('ends with nothing dirty, nobody waiting, and every byte on the servers', () => {
    for (const policy of [SEQDLM, DLM_BASIC]) {
      const here = cluster(policy)
      const { pioS, totalS } = independent(here, writers)
      expect(here.clients.map((c) => c.dirtyBytes + c.blockedWriters)).toEqual(here.clients.map(() => 0))
      const extents = here.servers.flatMap((s) => [0, 1].flatMap((k) => [...s.data.cache.stripe(k)]))
      expect(extents.reduce((sum, e) => sum + e.end - e.start, 0)).toBe(8 * 40 * bytes)
      expect([...here.servers].flatMap((s) => [...s.locks.resources()].map((r) => r.waiting))).toEqual([0, 0])
      expect(totalS).toBeGreaterThan(pioS)
    }
  })

  it('never beats its device', () => {
    const here = cluster()
    const { totalS, bytes: all } = independent(here, writers)
    expect(all / totalS / 1e6).toBeLessThan(2 * here.costs.deviceMBps * 1.1)
  })
})
