import { describe, expect, it } from 'vitest'
import { palette } from '../theme/palette.ts'
import {
  curveEnds,
  curveFacts,
  curvePicture,
  curveTicks,
  curveWords,
  nearestX,
  xsOf,
  type CurveChartProps,
} from './curve-chart.ts'
import { jobLook } from './patterns.ts'

const props: CurveChartProps = {
  label: 'One file',
  unit: 'GB/s',
  across: 'write size, KB',
  isLog: true,
  lines: [
    {
      name: 'SeqDLM',
      look: jobLook(0),
      points: [
        [16, 1],
        [64, 3],
        [256, 9],
      ],
    },
    { name: 'basic', look: jobLook(1), points: [[64, 2]] },
  ],
  published: [
    {
      name: 'SeqDLM',
      look: jobLook(0),
      points: [
        [16, 1.2],
        [256, 10],
      ],
    },
  ],
}
const pictureOf = (more: Partial<CurveChartProps> = {}) => curvePicture({ ...props, ...more }, palette.value)

describe('a curve', () => {
  it('has symbols and solid lines for measured values, dashes for published ones', () => {
    const layers = pictureOf().layers ?? []
    expect(layers.map(({ name, symbol, stroke }) => [name, symbol, stroke?.dash !== undefined])).toEqual([
      ['SeqDLM', undefined, true],
      ['SeqDLM', 'circle', false],
      ['basic', 'rect', false],
    ])
  })

  it('is drawn over the logarithm of x, with space for the symbols at both ends', () => {
    const { from, to, layers = [] } = pictureOf()
    expect(layers[1]?.t).toEqual([16, 64, 256].map(Math.log10))
    expect(from).toBeLessThan(Math.log10(16))
    expect(to).toBeGreaterThan(Math.log10(256))
    expect(pictureOf({ isLog: false }).layers?.[1]?.t).toEqual([16, 64, 256])
  })

  it('hides the lines that the legend hides', () => {
    expect(pictureOf({ hidden: new Set(['published']) }).layers).toHaveLength(2)
    expect(pictureOf({ hidden: new Set(['basic']) }).layers).toHaveLength(2)
  })

  it('begins its value axis at zero, or below a negative value', () => {
    expect(curveEnds(props.lines)).toEqual({ min: 0, max: 10, step: 2 })
    const loss = {
      name: 'loss',
      look: jobLook(0),
      points: [
        [1, -4],
        [2, 8],
      ] as [number, number][],
    }
    expect(curveEnds([loss])).toEqual({ min: -4, max: 8, step: 2 })
  })
})

describe('ticks', () => {
  it('are at the values of x, without those that would overlap', () => {
    const xs = [16, 64, 256]
    const axis = { min: 1, max: 2.6 }
    expect(curveTicks(xs, true, axis, 300).map(({ text }) => text)).toEqual(['16', '64', '256'])
    expect(curveTicks(xs, true, axis, 60).map(({ text }) => text)).toEqual(['16', '64'])
    expect(curveTicks(xs, true, { min: 1.5, max: 2.6 }, 300).map(({ text }) => text)).toEqual(['64', '256'])
  })

  it('are round for many values', () => {
    const xs = Array.from({ length: 40 }, (_, i) => 1 + 25.3 * i)
    expect(curveTicks(xs, false, { min: 0, max: 1000 }, 600).map(({ text }) => text)).toEqual([
      '0',
      '200',
      '400',
      '600',
      '800',
      '1\u202F000',
    ])
    expect(curveTicks(xs, true, { min: 0, max: 3 }, 600).map(({ text }) => text)).toEqual([
      '1',
      '10',
      '100',
      '1\u202F000',
    ])
  })
})

it('snaps the crosshair to the nearest x as it is drawn', () => {
  const xs = xsOf([...props.lines, ...props.published])
  expect(xs).toEqual([16, 64, 256])
  expect(nearestX(xs, 1.55, true)).toBe(64)
  expect(nearestX(xs, 35, false)).toBe(16)
  expect(nearestX([], 1, false)).toBeNull()
})

it('has its values as text, published ones beside the measured ones', () => {
  expect(curveWords(props)).toBe(
    'One file, GB/s over write size, KB (logarithmic). ' +
      'SeqDLM 1 at 16, 9 at 256 (published 1.2 at 16, 10 at 256); basic 2 at 64.',
  )
  const other = [{ name: 'peak', look: jobLook(3), points: [[16, 12]] as [number, number][] }]
  expect(curveWords({ ...props, published: other })).toContain('; published peak 12 at 16.')
  expect(curveFacts(props).map(({ name, values, texts }) => [name, texts ?? values])).toEqual([
    ['SeqDLM', [1, 3, 9]],
    ['basic', [null, 2, null]],
    ['SeqDLM, published', ['1.2', '5.6', '10']],
  ])
})
