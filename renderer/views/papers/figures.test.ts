import { expect, it } from 'vitest'
import type { PaperBars, PaperCurve, PaperTimeline } from '#core/api/papers.ts'
import { jobLook } from '../../charts/patterns.ts'
import {
  bandNames,
  commonEnds,
  figureName,
  figureRows,
  isAdditive,
  linesOf,
  publishedLines,
  readingText,
  spanS,
} from './figures.ts'

const timeline = (id: string, unit: string, ...series: number[][]): PaperTimeline => ({
  kind: 'timeline',
  id,
  title: id,
  unit,
  endS: 10,
  binS: 1,
  series: series.map((values, i) => ({ name: `Job${i + 1}`, values })),
})
const bars = (id: string): PaperBars => ({ kind: 'bars', id, title: id, unit: '%', series: [], groups: [] })
const curve = (id: string): PaperCurve => ({ kind: 'curve', id, title: id, unit: 'GB/s', across: 'KB', series: [] })

it('groups parts of one figure with one unit into a row, in the order of the paper', () => {
  const figures = [
    timeline('fig7.Job1', 'tokens'),
    timeline('fig7.Job2', 'tokens'),
    timeline('fig7.none', 'RPC/s'),
    timeline('fig7.static', 'RPC/s'),
    bars('fig8a'),
    bars('fig8b'),
    curve('fig8.one'),
    curve('fig8.two'),
  ]
  const ids = figureRows(figures).map((row) => {
    if (row.kind === 'timeline') return row.timelines.map(({ id }) => id)
    return (row.kind === 'bars' ? row.bars : row.curves).map(({ id }) => id)
  })
  expect(ids).toEqual([
    ['fig7.Job1', 'fig7.Job2'],
    ['fig7.none', 'fig7.static'],
    ['fig8a', 'fig8b'],
    ['fig8.one', 'fig8.two'],
  ])
})

it.each([
  ['fig3.none', 'Figure 3'],
  ['fig4b', 'Figure 4b'],
  ['fig7-endless.static', 'as Figure 7'],
  ['something', 'something'],
])('%s is %s', (id, name) => {
  expect(figureName(id)).toBe(name)
})

it('gives charts of a row one value axis: of the highest stack, or of the widest lines', () => {
  const all = [timeline('a', 'RPC/s', [100, 200], [100, 230]), timeline('b', 'RPC/s', [10], [20])]
  expect(commonEnds(all, true)).toEqual({ min: 0, max: 500, step: 100 })
  expect(commonEnds([timeline('c', 'tokens', [-78, 3]), timeline('d', 'tokens', [63])], false)).toEqual({
    min: -80,
    max: 80,
    step: 20,
  })
  const published = [
    {
      name: 'Job1',
      points: [
        [0, 700],
        [5, -20],
      ] as [number, number][],
    },
  ]
  expect(commonEnds(all, true, [{ published }])).toEqual({ min: 0, max: 800, step: 200 })
  expect(commonEnds([timeline('c', 'tokens', [3])], false, [{ published }])).toMatchObject({ min: -200, max: 800 })
  expect(isAdditive(all[0]!)).toBe(true)
  expect(isAdditive(timeline('c', 'tokens'))).toBe(false)
  expect(isAdditive({ ...all[0]!, isStacked: false })).toBe(false)
})

it('shows the part that can be compared, or the whole run where there is one', () => {
  const short = timeline('a', 'RPC/s', [1, 1, 1, 1])
  const cut = { ...short, endS: 20, whole: { binS: 5, series: [{ name: 'Job1', values: [1, 1, 1, 1] }] } }
  expect(spanS([linesOf(short, false), linesOf(cut, false)])).toBe(4)
  expect(spanS([linesOf(cut, true)])).toBe(20)
  expect(linesOf(short, true)).toBe(short)
})

it('places a name in its band only where the band is thick enough over the width of the name', () => {
  const flat = (value: number): number[] => Array.from({ length: 100 }, () => value)
  const late = Array.from({ length: 100 }, (_, i) => (i < 60 ? 0 : 200))
  const bursts = Array.from({ length: 100 }, (_, i) => (i % 4 === 0 ? 300 : 0))
  const lines = timeline('a', 'RPC/s', flat(100), flat(10), late, bursts)
  const places = bandNames(lines, 100, 500)
  expect(places.map(({ name }) => name)).toEqual(['Job1', 'Job3'])
  expect(places[0]?.y).toBeCloseTo(0.1, 9)
  expect(places[1]?.x).toBeGreaterThan(0.6)
  expect(places[1]?.y).toBeCloseTo((110 + 100) / 500, 9)
})

it('draws published lines in the color of their series, and others in a color of their own', () => {
  const line = (name: string) => ({ name, points: [] })
  const lines = publishedLines(
    [line('b'), line('c')],
    [
      { name: 'a', look: jobLook(0) },
      { name: 'b', look: jobLook(1) },
    ],
  )
  expect(lines.map(({ look }) => look)).toEqual([jobLook(1), jobLook(3)])
})

it('reads the published value in parentheses beside the measured one', () => {
  expect(readingText(118, 120)).toBe('118 (120)')
  expect(readingText(118, null)).toBe('118')
  expect(readingText(null, 120)).toBe('\u2013 (120)')
})
