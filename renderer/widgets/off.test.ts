import { mount } from '@vue/test-utils'
import { expect, it } from 'vitest'
import { defineComponent, h, nextTick, ref, withDirectives } from 'vue'
import Btn from './Btn.vue'
import { vOff } from './off.ts'

it('a control that is off is disabled and says why, and gets back what it was', async () => {
  const why = ref<string | null>(null)
  const isBusy = ref(false)
  const page = mount(
    defineComponent({
      setup: () => () =>
        h('div', [
          withDirectives(
            h(Btn, { label: 'Stage it', disabled: isBusy.value }, () => 'Stage'),
            [[vOff, why.value]],
          ),
        ]),
    }),
    { attachTo: document.body },
  )
  const button = page.find('button')
  const state = () => [button.attributes('disabled') !== undefined, button.attributes('title')]
  expect(state()).toEqual([false, 'Stage it'])
  why.value = 'There is no connection <b>to</b> altair'
  await nextTick()
  expect(state()).toEqual([true, why.value])
  const id = button.attributes('aria-describedby') ?? ''
  expect(document.getElementById(id)?.textContent).toBe(why.value)
  expect(document.getElementById(id)?.querySelector('b')).toBeNull()
  // What disables it otherwise comes and goes beneath.
  isBusy.value = true
  await nextTick()
  why.value = null
  await nextTick()
  expect(state()).toEqual([true, 'Stage it'])
  isBusy.value = false
  await nextTick()
  expect(state()).toEqual([false, 'Stage it'])
  expect(button.attributes('aria-describedby')).toBeUndefined()
  page.unmount()
})

it('a field that goes off under the fingers keeps the focus, and takes nothing', async () => {
  const why = ref<string | null>(null)
  const page = mount(
    defineComponent({ setup: () => () => withDirectives(h('input', { value: '40' }), [[vOff, why.value]]) }),
    { attachTo: document.body },
  )
  const field = page.find('input').element
  field.focus()
  why.value = 'There is no connection to altair'
  await nextTick()
  expect([document.activeElement, field.readOnly, field.disabled]).toEqual([field, true, false])
  expect(field.getAttribute('aria-disabled')).toBe('true')
  why.value = null
  await nextTick()
  expect([field.readOnly, field.getAttribute('aria-disabled')]).toEqual([false, null])
  page.unmount()
})

it('a set of fields spares the one that is typed into, until it is left', async () => {
  const why = ref<string | null>(null)
  const turn = ref(0)
  const page = mount(
    defineComponent({
      setup: () => () =>
        withDirectives(h('fieldset', { 'data-turn': turn.value }, [h('input'), h('button', 'Set')]), [
          [vOff, why.value],
        ]),
    }),
    { attachTo: document.body },
  )
  const [set, field] = [page.find('fieldset').element, page.find('input').element]
  field.focus()
  why.value = 'There is no connection to altair'
  await nextTick()
  expect([document.activeElement, field.readOnly, set.disabled]).toEqual([field, true, false])
  field.blur()
  turn.value++
  await nextTick()
  expect([field.readOnly, set.disabled]).toEqual([false, true])
  why.value = null
  await nextTick()
  expect([field.readOnly, set.disabled, field.hasAttribute('aria-disabled')]).toEqual([false, false, false])
  page.unmount()
})
