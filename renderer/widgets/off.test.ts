import { mount } from '@vue/test-utils'
import { expect, it } from 'vitest'
import { defineComponent, h, nextTick, ref, withDirectives } from 'vue'
import Btn from './Btn.vue'
import { vOff } from './off.ts'

it('disables a control with a reason, and restores its state', async () => {
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
  // The template's own `disabled` changes meanwhile.
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

it('keeps the focus of a field disabled while typing, and makes it read-only', async () => {
  const why = ref<string | null>(null)
  const page = mount(
    defineComponent({ setup: () => () => withDirectives(h('input', { value: '40' }), [[vOff, why.value]]) }),
    { attachTo: document.body },
  )
  const field = page.find('input').element
  field.focus()
  why.value = 'No connection to altair'
  await nextTick()
  expect([document.activeElement, field.readOnly, field.disabled]).toEqual([field, true, false])
  expect(field.getAttribute('aria-disabled')).toBe('true')
  why.value = null
  await nextTick()
  expect([field.readOnly, field.getAttribute('aria-disabled')]).toEqual([false, null])
  page.unmount()
})

it('keeps the focused field of a disabled fieldset until it is left', async () => {
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
  const set = page.find('fieldset').element
  const field = page.find('input').element
  field.focus()
  why.value = 'No connection to altair'
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
