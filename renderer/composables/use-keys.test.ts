import { mount } from '@vue/test-utils'
import { afterEach, expect, it, vi } from 'vitest'
import { defineComponent, h } from 'vue'
import { keyName, useKeys } from './use-keys.ts'

afterEach(() => {
  document.body.replaceChildren()
})

function withKeys(bindings: Record<string, () => void>) {
  return mount(
    defineComponent(() => {
      useKeys(bindings)
      return () => h('input')
    }),
    { attachTo: document.body },
  )
}
const press = (target: EventTarget, key: string, more: KeyboardEventInit = {}): void => {
  target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more }))
}

it('names keys the same whatever the lock keys say', () => {
  const name = (key: string, more: KeyboardEventInit = {}): string =>
    keyName(new KeyboardEvent('keydown', { key, ...more }))
  expect([name('L'), name(' '), name('?', { shiftKey: true }), name('ArrowLeft', { shiftKey: true })]).toEqual([
    'l',
    'Space',
    '?',
    'Shift+ArrowLeft',
  ])
  expect([name('k', { ctrlKey: true }), name('K', { metaKey: true })]).toEqual(['mod+k', 'mod+k'])
})

it('leaves single keys to text fields, but not combinations', () => {
  const [live, palette] = [vi.fn(), vi.fn()]
  const wrapper = withKeys({ l: live, 'mod+k': palette })
  const input = wrapper.find('input').element
  press(input, 'l')
  expect(live).not.toHaveBeenCalled()
  press(input, 'k', { ctrlKey: true })
  expect(palette).toHaveBeenCalledOnce()
  press(document.body, 'l')
  expect(live).toHaveBeenCalledOnce()
  wrapper.unmount()
  press(document.body, 'l')
  expect(live).toHaveBeenCalledOnce()
})

it('is silent while a dialog or a menu is open', () => {
  const live = vi.fn()
  withKeys({ l: live })
  const dialog = document.createElement('div')
  dialog.setAttribute('role', 'dialog')
  document.body.append(dialog)
  press(document.body, 'l')
  expect(live).not.toHaveBeenCalled()
  dialog.remove()
  press(document.body, 'l')
  expect(live).toHaveBeenCalledOnce()
})

it('leaves Enter and Space to the button that has the focus', () => {
  const [pause, edit, live] = [vi.fn(), vi.fn(), vi.fn()]
  withKeys({ Space: pause, Enter: edit, m: live })
  const button = document.createElement('button')
  document.body.append(button)
  for (const key of [' ', 'Enter', 'm']) press(button, key)
  expect([pause.mock.calls.length, edit.mock.calls.length, live.mock.calls.length]).toEqual([0, 0, 1])
  for (const key of [' ', 'Enter']) press(document.body, key)
  expect([pause.mock.calls.length, edit.mock.calls.length]).toEqual([1, 1])
})
