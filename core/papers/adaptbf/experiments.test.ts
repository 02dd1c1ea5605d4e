// Quick part of the evaluation: IV-D, E and F, in the model and as shipped, on seed 1 and on random seeds. `sluice papers` runs the rest.
import { describe, expect, it } from 'vitest'
import { type Claim, runPapers } from '../claims.ts'
import { type Experiment, type Figure, runExperiment } from '../experiment.ts'
import { EXPERIMENTS } from '../registry.ts'
import { clusterInput } from '../../api/clusters.ts'
import { experiments } from './experiments.ts'
import { ivD, ivDShipped, ivDShipped100ms } from './iv-d.ts'
import { ivE, ivEShipped, ivEShipped100ms } from './iv-e.ts'
import { ivF, ivFShipped, ivFShipped100ms } from './iv-f.ts'
import { ivG } from './iv-g.ts'
import { LIVE_PERIOD_S, shippedAdaptbf } from './platforms.ts'
import { MODEL_FENCES } from '../../control/fences.ts'
import { type RunSetup, simulate } from './run.ts'
import { adaptbf, IV_E } from './setups.ts'
import { constantLag } from './control.ts'
import { MEASURED_LAG } from './measured-lag.ts'

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

describe('the paper’s three experiments', () => {
  const main = [ivD, ivE, ivF]

  it('keep every claim on seed 1', () => {
    const { claims } = run(main, [1])
    expect(missed(claims)).toEqual([])
    expect(claims).toHaveLength(24 + 22 + 21)
  })

  it('keep every claim on three seeds that nobody chose', () => {
    const seeds = Array.from({ length: 3 }, () => Math.floor(Math.random() * 1e9))
    expect({ seeds, missed: missed(run([ivE, ivF], seeds).claims) }).toEqual({ seeds, missed: [] })
  })

  it('have the figures of the paper as data', () => {
    const { figures } = run([ivE, ivF], [1])
    const levels = figures
      .get(ivE.id)
      ?.map((figure) => (figure.kind === 'timeline' ? figure.published?.length : undefined))
    expect(levels).toEqual([undefined, 1, undefined, undefined, undefined])
    const all = [...figures.values()].flat()
    expect(all.map(({ id }) => id)).toEqual([
      'fig5.none',
      'fig5.static',
      'fig5.adaptbf',
      'fig6a',
      'fig6b',
      'fig7.Job1',
      'fig7.Job2',
      'fig7.Job3',
      'fig7.Job4',
      'fig7.none',
      'fig7.static',
      'fig7.adaptbf',
      'fig8a',
      'fig8b',
    ])
    const bandwidth = all.find(({ id }) => id === 'fig5.static')
    expect(bandwidth?.kind === 'timeline' && bandwidth.series.map(({ name }) => name)).toEqual([
      'Job1',
      'Job2',
      'Job3',
      'Job4',
    ])
    // Every RPC is in the timeline: Job4 writes 16 files of 1024.
    const job4 = bandwidth?.kind === 'timeline' ? bandwidth.series[3]!.values : []
    expect(job4.reduce((sum, rate) => sum + rate, 0) * 0.1).toBeCloseTo(16 * 1024, 6)
  })
})

describe('verdicts', () => {
  const shipped = [ivDShipped, ivDShipped100ms, ivEShipped, ivEShipped100ms, ivFShipped, ivFShipped100ms]
  const { claims } = run([ivD, ivE, ivF, ...shipped], [1])

  it('give a reason for every difference, and a proof for every contradiction', () => {
    const bare = claims.filter(
      ({ verdict, note, proof }) =>
        (verdict === 'differs' && note === undefined) || (verdict === 'contradicts' && proof === undefined),
    )
    expect(bare.map(({ id }) => id)).toEqual([])
  })

  it('are worst at the default period of live clusters', () => {
    const reproduced = (id: string): number =>
      claims.filter((c) => c.id.startsWith(`${id}.`) && c.verdict === 'reproduced').length
    for (const { id } of [ivD, ivE]) expect(reproduced(`${id}-shipped`)).toBeLessThan(reproduced(id))
    expect(reproduced(ivEShipped.id)).toBeLessThan(reproduced(ivEShipped100ms.id))
  })

  it('at the paper’s period as shipped, the streaming job loses less than 30 % to the bursts, and more than that at 1 s', () => {
    const gainOf = (id: string): number => claims.find((c) => c.id === `${id}.17`)?.measured as number
    expect(gainOf(ivEShipped100ms.id)).toBeGreaterThan(-0.3)
    expect(gainOf(ivEShipped.id)).toBeLessThan(-0.3)
  })

  it('rest on the same published values as shipped as in the model', () => {
    const publishedOf = (id: string, of: Experiment): unknown =>
      of.expectations.map(({ published: { value, target, tolerance }, metric, id: claim }) => ({
        number: claim.slice(id.length),
        metric,
        value,
        target,
        tolerance,
      }))
    expect(publishedOf(ivDShipped.id, ivDShipped)).toEqual(publishedOf(ivD.id, ivD))
    expect(publishedOf(ivEShipped100ms.id, ivEShipped100ms)).toEqual(publishedOf(ivE.id, ivE))
  })
})

it('runs as shipped at the default period of live clusters', () => {
  expect(clusterInput.shape.intervalMs.parse(undefined)).toBe(1000 * LIVE_PERIOD_S)
  expect(shippedAdaptbf(IV_E, LIVE_PERIOD_S)).toMatchObject({
    demand: 'saturation',
    lag: MEASURED_LAG.lag,
    dtSeconds: 1,
  })
})

it('takes the cost of an allocation from the clock, in microseconds a job', () => {
  // A clock that advances 1 ms between two readings: 50 periods of 1000 jobs took 1 ms.
  let ms = 0
  const { measured } = runExperiment(ivG, 1, { now: () => ms++ })
  expect(measured.get('adaptbf.IV-G.1')).toBeCloseTo(1000 / 50_000, 12)
  expect(measured.get('adaptbf.IV-G.2')).toBe(1)
  expect(measured.get('adaptbf.IV-G.3')).toBe(1)
  // JobID, record, tokens of the last period, remainder; seven columns of 8 bytes and an id of 16 characters.
  expect(measured.get('adaptbf.IV-G.4')).toBe(4)
  expect(measured.get('adaptbf.IV-G.5')).toBe(7 * 8 + 16)
})

it('has a measured value for every claim of the file, and a unique id for each', () => {
  const ids = experiments.flatMap(({ expectations }) => expectations.map(({ id }) => id))
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids).toHaveLength(323)
  expect(EXPERIMENTS.filter(({ system }) => system === 'adaptbf')).toEqual(experiments)
})

it('gives the same run for the same setup and seed, and another for another seed', () => {
  const setup = { ...IV_E, horizonS: 5, control: adaptbf(IV_E) }
  expect(simulate(setup, 3)).toEqual(simulate(setup, 3))
  expect(simulate(setup, 4)).not.toEqual(simulate(setup, 3))
})

describe('what a setup can be changed by', () => {
  const aggregate = (changes: Parameters<typeof adaptbf>[1], scheduler = {}): number => {
    const { served } = simulate({ ...IV_E, horizonS: 20, control: adaptbf(IV_E, changes), scheduler }, 1)
    return served.flat().reduce((sum, rpcs) => sum + rpcs, 0)
  }
  const base = aggregate({})

  it('the shipped server takes rule commands of the live control step', () => {
    const rates = (shipped: RunSetup['shipped']): number[][] =>
      simulate({ ...IV_E, horizonS: 5, control: shippedAdaptbf(IV_E, 0.1), shipped }, 1).trace.tokens.map((t) => [...t])
    expect(rates({})).not.toEqual(rates({ fences: MODEL_FENCES }))
    expect(
      rates({})
        .flat()
        .some((tokens) => tokens > 0),
    ).toBe(true)
  })

  it('rules that come late cost throughput', () => {
    expect(aggregate({ lag: constantLag(50) })).toBeLessThan(base)
  })

  it('buckets that lose fractions cost little', () => {
    const lossy = aggregate({}, { bucket: 'lossy' })
    expect(lossy / base).toBeGreaterThan(0.97)
    expect(lossy).toBeLessThan(base)
  })

  it('the two fallbacks serve alike while the rates do not exceed the capacity', () => {
    expect(aggregate({}, { fallback: 'default-rule' }) / base).toBeCloseTo(1, 2)
  })
})
