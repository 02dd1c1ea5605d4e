import { expect, it } from 'vitest'
import type { Picture } from './picture.ts'
import { readingAt } from './use-chart.ts'

const picture: Picture = {
  from: 0,
  to: 100,
  ends: { min: 0, max: 10, step: 5 },
  formatAt: (at) => `at ${at}`,
  layers: [
    { name: 'whole', t: [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100], values: [1, 2, 3, null, 5, 6, 7, 8, 9, 10, 11] },
    { name: 'short', t: [0, 10, 20], values: [4, 4, 4] },
    { name: 'held', t: [0, 10], values: [7, 8], stepped: true },
    { t: [0], values: [99] },
  ],
  notes: [
    { at: 50, text: 'rule started', color: 'red' },
    { at: 60, text: 'rule stopped', color: 'red' },
  ],
}
const valuesAt = (at: number) => readingAt(picture, at).lines.map(({ text }) => text)

it('lists the values of named series at the nearest instant', () => {
  expect(readingAt(picture, 11)).toMatchObject({ head: 'at 11' })
  expect(readingAt(picture, 11).lines.map(({ name }) => name)).toEqual(['whole', 'short', 'held'])
  expect(valuesAt(11)).toEqual(['2', '4', '8'])
})

it('has no value in a gap or beyond the end of a series, unless the value holds', () => {
  expect(valuesAt(30)).toEqual(['not measured', '4', '8'])
  expect(valuesAt(80)).toEqual(['9', 'not measured', '8'])
})

it('names the events within reach', () => {
  expect(readingAt(picture, 52, 5).lines.at(-1)).toEqual({ name: 'rule started', color: 'red', text: '' })
  expect(readingAt(picture, 52, 1).lines).toHaveLength(3)
})
