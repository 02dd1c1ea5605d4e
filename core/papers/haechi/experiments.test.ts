// Claims of the Haechi paper on one seed. The largest experiments (2B, 2C, 4S) are left to `sluice papers --only haechi`; of 2C
// the middle of its curve.
import { describe, expect, it } from 'vitest'
import { type Claim, runPapers } from '../claims.ts'
import { holds } from '../expectation.ts'
import type { Experiment, Figure } from '../experiment.ts'
import { EXPERIMENTS } from '../registry.ts'
import { targetOf } from '../verdict.ts'
import { experiments } from './experiments.ts'
import { leastMetPeriod, meanClients, meanTotal } from './metrics.ts'
import { FIXED, runNode, type NodeRun, type Scene } from './node-run.ts'
import { measuredSigma } from './profile.ts'
import { READINGS } from './readings.ts'
import { demanding, reserved, SETTLED } from './setups.ts'

function run(
  chosen: readonly Experiment[],
  seeds: readonly number[],
): { claims: readonly Claim[]; figures: readonly Figure[] } {
  const steps = runPapers(chosen, seeds, { now: () => 0 })
  for (;;) {
    const step = steps.next()
    if (step.done) return { claims: step.value.claims, figures: [...step.value.figures.values()].flat() }
  }
}
const missed = (claims: readonly Claim[]): string[] =>
  claims
    .filter(({ ok }) => !ok)
    .map((c) => `${c.id}: ${JSON.stringify(c.measured)} is not ${c.comparator} ${JSON.stringify(c.bound)}`)
/** Claims that differ without a reason, or contradict without a proof. */
const unexplained = (claims: readonly Claim[]): string[] =>
  claims
    .filter((c) => (c.verdict === 'differs' && !c.note) || (c.verdict === 'contradicts' && !c.proof))
    .map(({ id, measured }) => `${id}: ${JSON.stringify(measured)}`)
const named = (...names: string[]): Experiment[] => experiments.filter(({ id }) => names.includes(id.slice(7)))
const numbersOf = (figure: Figure): readonly number[] => {
  if (figure.kind === 'bars') return figure.groups.flatMap(({ values }) => values)
  if (figure.kind === 'timeline') return figure.series.flatMap(({ values }) => values)
  return figure.series.flatMap(({ points }) => points.flat())
}
const isDrawn = (figure: Figure): boolean => {
  const numbers = numbersOf(figure)
  return numbers.length > 0 && numbers.every((value) => Number.isFinite(value) && value >= 0)
}

it('keeps every claim of the quick experiments, explains each difference, and has their figures', () => {
  const chosen = named('1A', '1B', '1C', 'profile', '2A', '3', 'cap', 'own')
  const { claims, figures } = run(chosen, [1])
  expect(missed(claims)).toEqual([])
  expect(unexplained(claims)).toEqual([])
  expect(claims.map(({ id }) => id)).toEqual(chosen.flatMap((e) => e.expectations.map(({ id }) => id)))
  expect(figures.map(({ id }) => id)).toEqual([
    'fig6',
    'fig7',
    'fig8a',
    'fig8b',
    'fig8c',
    'profile',
    'fig9a',
    'fig9b',
    'fig13',
    'fig14',
    'fig15',
    'fig18-literal',
    'fig9-literal',
    'limit',
  ])
  expect(figures.filter((figure) => !isDrawn(figure))).toEqual([])
})

it('keeps set 4 on a seed that nobody chose, and draws both changes after 15 of 30 periods', () => {
  const seeds = [Math.floor(Math.random() * 1e9)]
  const { claims, figures } = run(named('4'), seeds)
  expect({ seeds, missed: missed(claims), unexplained: unexplained(claims) }).toEqual({
    seeds,
    missed: [],
    unexplained: [],
  })
  expect(figures.map(({ id }) => id)).toEqual([
    'fig16.uniform',
    'fig16.uniform.omega',
    'fig16.zipf',
    'fig16.zipf.omega',
    'fig17.uniform',
    'fig17.zipf',
    'fig18.uniform',
    'fig18.uniform.omega',
    'fig18.zipf',
    'fig18.zipf.omega',
    'fig19.uniform',
    'fig19.zipf',
  ])
  const [falls] = figures
  if (falls?.kind !== 'timeline') throw new Error('no line')
  for (const { values } of falls.series) {
    expect(values).toHaveLength(30)
    expect(Math.min(...values.slice(0, 15))).toBeGreaterThan(1.1 * Math.max(...values.slice(15)))
  }
})

it('keeps the middle of 2C: 70 % reserved, in every reading', () => {
  const [share] = named('2C')
  const bounds = new Map(share!.expectations.map((claim) => [claim.id, claim]))
  const of = (part: string): NodeRun => share!.parts.find(({ id }) => id === part)!.run(1, { now: () => 0 }) as NodeRun
  for (const { key, prefix } of READINGS) {
    const zipf = of(`haechi/2/zipf 70 ${key}`)
    const measured = { 'zipf.70.met': leastMetPeriod(zipf), 'uni.70': meanTotal(of(`haechi/2/uniform 70 ${key}`)) }
    for (const [name, value] of Object.entries(measured)) {
      const { comparator, bound } = bounds.get(`haechi.2C.${prefix}${name}`)!
      expect(holds(comparator, bound, value), `${prefix}${name}: ${value}`).toBe(true)
    }
  }
})

it('has a unique id for every claim, and is known to the command and the page', () => {
  const ids = experiments.flatMap(({ expectations }) => expectations.map(({ id }) => id))
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.every((id) => id.startsWith('haechi.'))).toBe(true)
  expect(EXPERIMENTS.filter(({ system }) => system === 'haechi')).toEqual(experiments)
})

describe('readings of the paper', () => {
  it('make every published claim about tokens three times, with the same target', () => {
    for (const { id, expectations } of named('2A', '2B', '2C', '4')) {
      const published = new Map(
        expectations.filter((e) => e.published.value !== null).map((e) => [e.id, targetOf(e.published)]),
      )
      const bare = ['2A.zipf.R1', '2A.zipf.bare.c1'].map((claim) => `haechi.${claim}`)
      const base = [...published.keys()].filter((claim) => !/\.(literal|sigma7)\./.test(claim) && !bare.includes(claim))
      for (const claim of base.filter((c) => !c.includes('bg0.12'))) {
        for (const prefix of ['literal', 'sigma7']) {
          const twin = claim.replace(id, `${id}.${prefix}`)
          expect(published.get(twin), twin).toEqual(published.get(claim))
        }
      }
    }
  })

  it('have the settings of one reading in all figures', () => {
    for (const { haechi } of READINGS) expect(haechi().estimator).toMatchObject({ enabled: true, history: 5 })
    const [measured, printed, wide] = READINGS.map(({ haechi }) => haechi())
    expect(measured?.estimator.sigma).toBe(measuredSigma())
    expect(printed).toMatchObject({ decay: 'literal', conversion: 'literal', estimator: { rule: 'literal' } })
    expect(printed?.estimator.sigma).toBe(measuredSigma())
    expect(wide?.estimator.sigma).toBe(0.07)
  })

  it('declare the sigma that is measured', () => {
    const fits = experiments.flatMap(({ fits: declared }) => declared ?? [])
    const percent = (100 * measuredSigma()).toFixed(3)
    expect(fits.find(({ constant }) => constant === 'sigma')?.value).toContain(`${percent} % of C_G`)
    expect(experiments.every(({ fits: declared }) => (declared ?? []).length > 0)).toBe(true)
  })
})

describe('a run that is made smaller', () => {
  const scene: Omit<Scene, 'size'> = { clients: demanding(reserved('zipf', 0.8), 0.8), settings: FIXED, ...SETTLED }

  it('gives every client what it has at full size', () => {
    const full = meanClients(runNode({ ...scene, size: 1 }, 1))
    for (const size of [8, 16, 32]) {
      meanClients(runNode({ ...scene, size }, 1)).forEach((n, i) => {
        expect(Math.abs(n / full[i]! - 1), `size ${size}, C${i + 1}: ${n}, ${full[i]}`).toBeLessThan(0.0003 * size)
      })
    }
  })

  it('is the same from the same seed, and with noise another from another', () => {
    const noisy = { ...scene, size: 16, noise: 0.01 }
    expect(runNode(noisy, 7)).toEqual(runNode(noisy, 7))
    expect(runNode(noisy, 8).totals).not.toEqual(runNode(noisy, 7).totals)
    expect(runNode({ ...scene, size: 16 }, 8)).toEqual(runNode({ ...scene, size: 16 }, 7))
  })
})
