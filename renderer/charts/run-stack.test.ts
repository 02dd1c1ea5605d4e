import { mount } from '@vue/test-utils'
import { expect, it } from 'vitest'
import RunStack from './RunStack.vue'

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
const back = (linked?: ReadonlySet<string>): boolean[] => {
  const wrapper = mount(RunStack, { props: { ...props, linked } })
  return wrapper
    .findAll('g')
    .filter((g) => g.find('.area').exists())
    .map((g) => g.classes('back'))
}

it('dims jobs not linked to the selection, unless none is linked', () => {
  expect(back(new Set(['b']))).toEqual([true, false, true])
  expect(back(new Set(['elsewhere']))).toEqual([false, false, false])
  expect(back()).toEqual([false, false, false])
})
