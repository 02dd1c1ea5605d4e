import { mount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { expect, it } from 'vitest'
import FilterBox from './FilterBox.vue'

it('Enter leaves the filter as it is, Esc clears it; both go to the table and end nothing else', async () => {
  setActivePinia(createPinia())
  const view = document.body.appendChild(document.createElement('div'))
  view.className = 'view'
  const table = view.appendChild(document.createElement('div'))
  table.tabIndex = 0
  table.dataset['mainTable'] = ''
  const wrapper = mount(FilterBox, { props: { modelValue: 'user:ana', count: '3' }, attachTo: view })
  const input = wrapper.find<HTMLInputElement>('[data-testid="filter"]')
  let outside = 0
  const count = (event: KeyboardEvent): unknown => event.key === 'Escape' && outside++
  window.addEventListener('keydown', count)
  input.element.focus()
  await input.trigger('keydown', { key: 'Enter' })
  expect([wrapper.emitted('update:modelValue'), document.activeElement === table]).toEqual([undefined, true])
  input.element.focus()
  await input.trigger('keydown', { key: 'Escape' })
  window.removeEventListener('keydown', count)
  expect([wrapper.emitted('update:modelValue'), document.activeElement === table, outside]).toEqual([[['']], true, 0])
  wrapper.unmount()
  view.remove()
})
