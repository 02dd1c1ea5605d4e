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
