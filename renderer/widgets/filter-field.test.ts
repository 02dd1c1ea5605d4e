import { mount, type VueWrapper } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import FilteredOut from './FilteredOut.vue'
import FilterField from './FilterField.vue'

let wrapper: VueWrapper
beforeEach(() => setActivePinia(createPinia()))
afterEach(() => wrapper.unmount())
const find = (id: string) => wrapper.find(`[data-testid="${id}"]`)
const input = () => wrapper.find<HTMLInputElement>('[data-testid=filter]')

function show(line: string, more: Partial<InstanceType<typeof FilterField>['$props']> = {}): void {
  wrapper = mount(FilterField, {
    props: { modelValue: line, what: 'rules', placeholder: 'job:4690', command: 'rules.filter', ...more },
    attachTo: document.body,
  })
}
const press = (key: string): void => {
  document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
}

describe('the field', () => {
  it('is focused by its key, and labeled by what it filters', () => {
    show('hog')
    expect(document.activeElement).not.toBe(input().element)
    press('/')
    expect(document.activeElement).toBe(input().element)
    expect(input().attributes('aria-label')).toBe('Filter rules')
  })

  it('is cleared and left by Esc, without other effects; Enter keeps the filter', async () => {
    show('hog')
    let outside = 0
    const count = (): number => outside++
    window.addEventListener('keydown', count)
    input().element.focus()
    await input().trigger('keydown', { key: 'Enter' })
    expect([wrapper.emitted('update:modelValue'), wrapper.emitted('leave')?.length]).toEqual([undefined, 1])
    outside = 0
    await input().trigger('keydown', { key: 'Escape' })
    window.removeEventListener('keydown', count)
    expect([outside, wrapper.emitted('update:modelValue'), wrapper.emitted('leave')?.length]).toEqual([0, [['']], 2])
    expect(document.activeElement).not.toBe(input().element)
  })

  it('shows the number of matches, or why everything is shown', async () => {
    show('hog', { filtered: { passing: 3, of: 4100 } })
    expect(find('filter-count').text()).toBe('3 of 4\u202F100')
    await wrapper.setProps({ note: 'not filtered' })
    expect(find('filter-count').text()).toBe('not filtered')
    await wrapper.setProps({ modelValue: '' })
    expect(find('filter-count').exists()).toBe(false)
  })

  it('shows the column of a fault and that nothing is hidden; hostile text stays text', () => {
    const line = 'ana <img src=x onerror=alert(1)>'
    show(line, { error: { column: 5, message: '<b>x</b> is not a field' } })
    expect(find('filter-error').text()).toContain('column 5: <b>x</b> is not a field. All rules are shown.')
    expect(find('filter-error').find('img').exists()).toBe(false)
    expect(wrapper.findAll('.at b')).toHaveLength(1)
    expect(input().attributes('aria-invalid')).toBe('true')
  })
})

it('shows the filter as text, with a clear button, if nothing matches', async () => {
  wrapper = mount(FilteredOut, { props: { what: 'rules', filtered: { filter: '<i>no</i>', of: 41 } } })
  expect(wrapper.text()).toContain('None of 41 rules matches <i>no</i>.')
  expect(wrapper.find('i').exists()).toBe(false)
  await find('filtered-out-clear').trigger('click')
  expect(wrapper.emitted('clear')).toHaveLength(1)
})
