/** Explanation of a number: opened by pointer, Tab, touch and F1, and closed. */
import { mount, type VueWrapper } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import ExplainLayer from './ExplainLayer.vue'

let layer: VueWrapper
const number = (id: string): HTMLElement => document.querySelector<HTMLElement>(`[data-explain="${id}"]`)!
const words = (): string => document.querySelector('[data-testid=explained]')?.textContent ?? ''
const spoken = (): string => document.querySelector('[data-testid=explained-words]')?.textContent ?? ''
async function pointer(kind: string, el: Element, pointerType = 'mouse'): Promise<void> {
  el.dispatchEvent(new PointerEvent(kind, { bubbles: true, pointerType }))
  await vi.advanceTimersByTimeAsync(1000)
}
async function press(key: string, shiftKey = false): Promise<boolean> {
  const event = new KeyboardEvent('keydown', { key, shiftKey, bubbles: true, cancelable: true })
  window.dispatchEvent(event)
  await vi.advanceTimersByTimeAsync(0)
  return event.defaultPrevented
}

beforeEach(() => {
  vi.useFakeTimers()
  setActivePinia(createPinia())
  const add = (tag: string, text: string, data: Record<string, string> = {}): void => {
    const el = document.createElement(tag)
    el.textContent = text
    Object.assign(el.dataset, data)
    if (data['explain'] === undefined) el.id = 'other'
    document.body.append(el)
  }
  add('p', 'x')
  add('button', 'RPC/s', { explain: 'jobs.rpcs' })
  add('span', 'Token balance', { explain: 'jobs.record' })
  add('span', 'again', { explain: 'jobs.record' })
  add('span', 'cycle', { explain: 'status.cycle', explainMore: 'oss01: collect 3 ms' })
  // Without layout, elements have no boxes.
  vi.spyOn(HTMLElement.prototype, 'getBoundingClientRect').mockReturnValue(new DOMRect(10, 10, 50, 20))
  layer = mount(ExplainLayer, { attachTo: document.body })
})
afterEach(() => {
  layer.unmount()
  document.body.replaceChildren()
  vi.restoreAllMocks()
  vi.useRealTimers()
})

it('shows unit, formula and source on hover, and hides when the pointer leaves', async () => {
  expect(words()).toBe('')
  await pointer('pointerover', number('jobs.record'))
  expect(words()).toContain('tokens')
  expect(words()).toContain('equations (8), (16), (20)')
  expect(spoken()).toBe('')
  await pointer('pointerover', document.querySelector('#other')!)
  expect(words()).toBe('')
})

it('shows additional text of an instance', async () => {
  await pointer('pointerover', number('status.cycle'))
  expect(words()).toContain('oss01: collect 3 ms')
})

it('opens on touch, and closes on the next touch elsewhere', async () => {
  await pointer('pointerup', number('jobs.rpcs'), 'touch')
  expect(words()).toContain('RPC/s')
  await pointer('pointerup', document.querySelector('#other')!, 'touch')
  expect(words()).toBe('')
})

it('steps through numbers with F1, each id once, without moving the focus', async () => {
  const button = number('jobs.rpcs')
  button.focus()
  expect(await press('F1')).toBe(true)
  expect(spoken()).toMatch(/^RPC\/s\./)
  await press('F1')
  expect(spoken()).toMatch(/^Token balance\./)
  expect(number('jobs.record').hasAttribute('data-explained')).toBe(true)
  await press('F1')
  expect(spoken()).toMatch(/^Cycle\./)
  await press('F1', true)
  expect(spoken()).toMatch(/^Token balance\./)
  expect(document.activeElement).toBe(button)
})

it('closes on Esc after F1, without other effects of Esc', async () => {
  const heard = vi.fn()
  window.addEventListener('keydown', heard)
  await press('F1')
  heard.mockClear()
  await press('Escape')
  expect(words()).toBe('')
  expect(document.querySelector('[data-explained]')).toBeNull()
  expect(heard).not.toHaveBeenCalled()
  await press('Escape')
  expect(heard).toHaveBeenCalledOnce()
  window.removeEventListener('keydown', heard)
})
