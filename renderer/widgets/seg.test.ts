import { mount } from '@vue/test-utils'
import { expect, it } from 'vitest'
import Seg from './Seg.vue'

it('is chosen from by the arrow keys, which do not reach the time cursor', async () => {
  const options = [
    { value: 'a', label: 'A' },
    { value: 'b', label: 'B', off: 'not measured' },
    { value: 'c', label: 'C' },
  ]
  const wrapper = mount(Seg, { props: { label: 'Unit', options, modelValue: 'a' }, attachTo: document.body })
  const [first] = wrapper.findAll('button')
  const press = (key: string): boolean => {
    const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })
    document.activeElement?.dispatchEvent(event)
    return event.defaultPrevented
  }
  first?.element.focus()
  expect(press('ArrowRight')).toBe(true)
  expect(wrapper.emitted('update:modelValue')).toEqual([['c']])
  expect(document.activeElement?.textContent?.trim()).toBe('C')
  expect([press('ArrowRight'), press('j')]).toEqual([true, false])
  expect(wrapper.emitted('update:modelValue')).toHaveLength(1)
  wrapper.unmount()
})
