import { expect, it } from 'vitest'
import { inkToken, palette } from '../theme/palette.ts'
import { runStackPicture } from './run-stack.ts'
import { secondsAxis } from './time-unit.ts'

const props = {
  t: [0, 1],
  top: 10,
  divisor: 1,
  toS: 1,
  onS: null,
  label: 'by job',
  at: null,
  selected: null,
  series: ['a', 'b', ''].map((id, i) => ({ id, colour: i, values: [1, 2] })),
}
const back = (linked?: ReadonlySet<string>): boolean[] =>
  (runStackPicture({ ...props, linked }, palette.value).layers ?? []).map(({ fill }) => fill?.opacity === 0.28)

it('dims jobs not linked to the selection, unless none is linked', () => {
  expect(back(new Set(['b']))).toEqual([true, false, true])
  expect(back(new Set(['elsewhere']))).toEqual([false, false, false])
  expect(back()).toEqual([false, false, false])
})

it('leaves out the jobs that the legend hides; the others keep their colors', () => {
  const inks = Object.fromEntries([0, 1, 2].map((i) => [inkToken(i), `#${i}`]))
  const { layers } = runStackPicture({ ...props, hidden: new Set(['a']) }, { ...palette.value, ...inks })
  expect(layers?.map(({ name, color }) => [name, color])).toEqual([
    ['b', '#1'],
    ['other', '#2'],
  ])
})

it('marks the start of the policy, with its text on the side that has space', () => {
  const sides = [null, 0, 10, 50, 60].map((onS) => {
    const { marks = [], texts = [] } = runStackPicture({ ...props, toS: 60, onS }, palette.value)
    return [marks.map(({ at }) => at), texts.map(({ side }) => side)]
  })
  expect(sides).toEqual([
    [[], []],
    [[], []],
    [[10], ['right']],
    [[50], ['left']],
    [[], []],
  ])
})

it('labels seconds, and minutes where seconds would be long, with the unit at both ends', () => {
  const words = (max: number): string[] => secondsAxis({ min: 0, max }).map(({ text }) => text)
  expect(words(60)).toEqual(['0 s', '20', '40', '60 s'])
  expect(words(2700)).toEqual(['0 min', '10', '20', '30', '40'])
})
