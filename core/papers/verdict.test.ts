import { describe, expect, it } from 'vitest'
import type { Published } from './expectation.ts'
import { EXPERIMENTS } from './registry.ts'
import { agreementOf, countVerdicts, deviationOf, targetOf, type Verdict, verdictOf } from './verdict.ts'

const close = { size: 0.1, reason: 'test' }
const relative = { size: 0.1, isRelative: true as const, reason: 'test' }

describe('verdict', () => {
  it.each<[string, Published, number, Verdict | null]>([
    ['the number itself', { value: 2 }, 2, 'reproduced'],
    ['within the tolerance', { value: 2, tolerance: close }, 2.1, 'reproduced'],
    ['outside the tolerance', { value: 2, tolerance: close }, 2.11, 'differs'],
    ['within a relative tolerance', { value: 20, tolerance: relative }, 18, 'reproduced'],
    ['outside a relative tolerance', { value: -20, tolerance: relative }, -22.1, 'differs'],
    ['a range', { value: '2 to 3', target: { from: 2, to: 3 } }, 3, 'reproduced'],
    ['below a range', { value: '2 to 3', target: { from: 2, to: 3 } }, 1.99, 'differs'],
    ['an ordering', { value: 'highest', target: { is: '>=', than: 1 } }, 1, 'reproduced'],
    ['a strict ordering at its edge', { value: 'higher', target: { is: '>', than: 1 } }, 1, 'differs'],
    [
      'an ordering with parity',
      { value: 'on par', target: { is: '>=', than: 1 }, tolerance: close },
      0.9,
      'reproduced',
    ],
    ['an ordering missed', { value: 'lower', target: { is: '<', than: 1 } }, 1.2, 'differs'],
    ['a proof', { value: 78, tolerance: close, proof: 'sum of Table I' }, 97, 'contradicts'],
    ['a proof that is not needed', { value: 78, tolerance: close, proof: 'sum of Table I' }, 78, 'reproduced'],
    ['an input of the fit', { value: 78, calibrates: 'rpcUs' }, 78, 'calibrated'],
    ['a silent paper', { value: null }, 78, null],
    ['nothing measured', { value: 2, tolerance: close }, NaN, 'differs'],
  ])('%s', (_, published, measured, expected) => {
    expect(verdictOf(published, measured)).toBe(expected)
  })

  it('counts by system, silent claims apart', () => {
    const claims = [
      { system: 'a', verdict: 'reproduced' },
      { system: 'a', verdict: null },
      { system: 'b', verdict: 'differs' },
    ] as const
    expect(countVerdicts(claims)).toEqual({
      a: { reproduced: 1, calibrated: 0, differs: 0, contradicts: 0, silent: 1 },
      b: { reproduced: 0, calibrated: 0, differs: 1, contradicts: 0, silent: 0 },
    })
  })
})

it.each<[Published, number, number | null]>([
  [{ value: 20, tolerance: relative }, 25, 0.25],
  [{ value: 20 }, 15, -0.25],
  [{ value: 0 }, 0.3, 0.3],
  [{ value: '2 to 4', target: { from: 2, to: 4 } }, 3, 0],
  [{ value: '2 to 4', target: { from: 2, to: 4 } }, 5, 0.25],
  [{ value: 'above', target: { is: '>', than: 2 } }, 1, -0.5],
  [{ value: 'some words' }, 1, null],
  [{ value: 20 }, NaN, null],
])('distance of %j from %d: %d', (published, measured, expected) => {
  expect(deviationOf(published, measured)).toBe(expected)
})

describe('published claims', () => {
  const all = EXPERIMENTS.flatMap(({ expectations }) => expectations)
  const published = all.filter((e) => e.published.value !== null && e.published.calibrates === undefined)

  it('have a comparable target, and a tolerance with its reason', () => {
    const bare = published.filter(
      (e) => targetOf(e.published) === undefined || (e.published.tolerance?.reason ?? '').length < 10,
    )
    expect(bare.map(({ id }) => id)).toEqual([])
  })

  // A published number is inside its own tolerance, so a target cannot be moved towards what is measured.
  it('have a target that contains the published number', () => {
    const moved = published.filter(({ published: { value, target, tolerance } }) => {
      if (typeof value !== 'number' || target === undefined) return false
      const { from, to } = agreementOf(target, tolerance)
      return value < from || value > to
    })
    expect(moved.map(({ id }) => id)).toEqual([])
  })

  it('have no tolerance wider than a quarter of the published number', () => {
    const wide = published.filter(({ published: { value, tolerance } }) => {
      if (typeof value !== 'number' || value === 0 || tolerance === undefined) return false
      return (tolerance.isRelative === true ? tolerance.size : tolerance.size / Math.abs(value)) > 0.25
    })
    expect(wide.map(({ id }) => id)).toEqual([])
  })
})
