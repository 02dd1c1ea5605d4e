import { describe, expect, it } from 'vitest'
import { palette } from '../theme/palette.ts'
import { barFacts, barWords, groupBarsPicture, hasPublished, type GroupBarsProps } from './group-bars.ts'
import { isLabelBelow } from './option.ts'
import { variantLook } from './patterns.ts'

const props: GroupBarsProps = {
  label: 'Gain',
  unit: '%',
  series: ['over No BW', 'over Static BW'].map((name, i) => ({ name, look: variantLook(i) })),
  groups: [
    { name: 'Job1', values: [-16.4, 557.9] },
    { name: 'Job2', values: [-0.2, 3] },
  ],
  isSigned: true,
}
const pictureOf = (more: Partial<GroupBarsProps> = {}) => groupBarsPicture({ ...props, ...more }, palette.value)

it('labels every bar with its value, below it if negative, unless it is shown as 0', () => {
  const { bars = [], groups } = { ...pictureOf(), groups: props.groups }
  const labels = groups.map(({ values }, g) =>
    bars.map(({ label, values: shown }, i) => {
      expect(shown[g]).toBe(values[i])
      const text = label?.format(values[i] ?? NaN, g) ?? ''
      return [text, isLabelBelow(values[i] ?? NaN, text)]
    }),
  )
  expect(labels).toEqual([
    [
      ['\u221216', true],
      ['+558', false],
    ],
    [
      ['0', false],
      ['+3', false],
    ],
  ])
})

it('leaves space for the labels above and below, more for vertical ones of many bars', () => {
  const { ends } = pictureOf()
  expect(ends.max).toBeGreaterThan(557.9)
  expect(ends.min).toBeLessThan(-16.4)
  const many = Array.from({ length: 10 }, (_, i) => ({ name: `${i}`, values: [1, 10] }))
  const dense = pictureOf({ groups: many })
  expect(dense.bars?.every(({ label }) => label?.isVertical)).toBe(true)
  expect(dense.ends).toMatchObject({ min: 0, max: 13 })
})

it('distinguishes series without hue, and leaves out those that the legend hides', () => {
  const { bars = [] } = pictureOf({ hidden: new Set(['over No BW']) })
  expect(bars.map(({ name, decal }) => [name, decal?.symbol])).toEqual([['over Static BW', 'rect']])
})

describe('published values', () => {
  const groups = [
    { name: 'Job1', values: [-16.4, 557.9], published: [-20, null] },
    { name: 'Job2', values: [-0.2, 3], published: [null, 700] },
  ]

  it('are outlines at the places of the measured bars, within the axis', () => {
    const { over = [], bars = [], ends } = pictureOf({ groups })
    expect(over.map(({ values }) => values)).toEqual([
      [-20, null],
      [null, 700],
    ])
    expect(over).toHaveLength(bars.length)
    expect(over.every(({ t, outline }) => t.length === 2 && outline !== undefined)).toBe(true)
    expect(ends.max).toBeGreaterThan(700)
  })

  it('have the label of the measured bar at their end if they are longer', () => {
    const { over = [], bars = [] } = pictureOf({ groups })
    const labels = (each: typeof bars) =>
      each.map(({ label, values }) => values.map((value, g) => label?.format(value ?? NaN, g) ?? null))
    expect(labels(bars)).toEqual([
      [null, '0'],
      ['+558', null],
    ])
    expect(labels(over)).toEqual([
      ['\u221216', null],
      [null, '+3'],
    ])
  })

  it('are hidden by the legend, or with their series', () => {
    expect(pictureOf({ groups, hidden: new Set(['published']) }).over).toEqual([])
    expect(pictureOf({ groups, hidden: new Set(['over No BW']) }).over).toHaveLength(1)
    expect([hasPublished({ groups }), hasPublished(props)]).toEqual([true, false])
    expect(pictureOf().over).toEqual([])
  })

  it('are in the text and in the table of values', () => {
    expect(barWords({ ...props, groups })).toContain(
      'Job1: over No BW \u221216 (published \u221220), over Static BW +558;',
    )
    expect(barFacts({ ...props, groups }).map(({ name, texts }) => [name, texts])).toEqual([
      ['over No BW', undefined],
      ['over No BW, published', ['\u221220', 'not published']],
      ['over Static BW', undefined],
      ['over Static BW, published', ['not published', '+700']],
    ])
  })
})
