// Quick part of the evaluation: IV-D, E and F on seed 1 and on random seeds. `sluice papers` runs the rest.
import { describe, expect, it } from 'vitest'
import { type Claim, runPapers } from '../claims.ts'
import { type Experiment, type Figure, runExperiment } from '../experiment.ts'
import { EXPERIMENTS } from '../registry.ts'
import { experiments } from './experiments.ts'
import { ivD } from './iv-d.ts'
import { ivE } from './iv-e.ts'
import { ivF } from './iv-f.ts'
import { ivG } from './iv-g.ts'
import { simulate } from './run.ts'
import { adaptbf, IV_E } from './setups.ts'

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
    expect(claims).toHaveLength(19 + 16 + 17)
  })

  it('keep every claim on three seeds that nobody chose', () => {
    const seeds = Array.from({ length: 3 }, () => Math.floor(Math.random() * 1e9))
    expect({ seeds, missed: missed(run([ivE, ivF], seeds).claims) }).toEqual({ seeds, missed: [] })
  })

  it('have the figures of the paper as data', () => {
    const { figures } = run([ivE, ivF], [1])
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

it('takes the cost of an allocation from the clock, in microseconds a job', () => {
  // A clock that advances 1 ms between two readings: 50 periods of 1000 jobs took 1 ms.
  let ms = 0
  const { measured } = runExperiment(ivG, 1, { now: () => ms++ })
  expect(measured.get('adaptbf.IV-G.1')).toBeCloseTo(1000 / 50_000, 12)
})

it('has a measured value for every claim of the file, and a unique id for each', () => {
  const ids = experiments.flatMap(({ expectations }) => expectations.map(({ id }) => id))
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids).toHaveLength(120)
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

  it('rules that come late cost throughput', () => {
    expect(aggregate({ lagSeconds: 0.05 })).toBeLessThan(base)
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
