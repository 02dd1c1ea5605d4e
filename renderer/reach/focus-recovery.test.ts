import { mount } from '@vue/test-utils'
import { afterEach, expect, it, vi } from 'vitest'
import { defineComponent, h, nextTick, ref } from 'vue'
import { leaveFull, toggleFullSize } from './full-size.ts'
import { recoverFocus, useFocusRecovery } from './focus-recovery.ts'

const view = ref('overview')
const hasRow = ref(true)
const page = defineComponent(() => {
  useFocusRecovery(() => view.value)
  return () =>
    h('div', { class: 'view' }, [
      view.value === 'overview'
        ? h('section', { class: 'panel', 'aria-label': 'Top movers' }, [
            h(
              'div',
              { role: 'table', tabindex: 0, id: 'movers' },
              hasRow.value ? [h('button', { id: 'row' }, 'a')] : [],
            ),
          ])
        : h('main', [h('h1', 'Incidents')]),
    ])
})
let wrapper: ReturnType<typeof mount> | undefined
function open() {
  view.value = 'overview'
  hasRow.value = true
  wrapper = mount(page, { attachTo: document.body })
}
afterEach(() => {
  wrapper?.unmount()
  document.body.replaceChildren()
})
const focused = (): string => document.activeElement?.id || (document.activeElement?.tagName ?? '')

it('moves to the table of a removed row', async () => {
  open()
  document.getElementById('row')?.focus()
  hasRow.value = false
  await nextTick()
  recoverFocus()
  expect(focused()).toBe('movers')
})

it('moves to the heading of a new view, unless it is already somewhere', async () => {
  open()
  view.value = 'incidents'
  await vi.waitFor(() => expect(focused()).toBe('H1'))
  const elsewhere = document.body.appendChild(document.createElement('button'))
  elsewhere.id = 'sidebar'
  elsewhere.focus()
  view.value = 'overview'
  // Longer than the view takes to mount.
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(focused()).toBe('sidebar')
})

it('moves on to the main table mounted after the heading, unless the user moved it', async () => {
  open()
  view.value = 'incidents'
  await vi.waitFor(() => expect(focused()).toBe('H1'))
  const late = document.createElement('div')
  late.id = 'late'
  late.tabIndex = 0
  late.dataset['mainTable'] = ''
  document.querySelector('main')?.append(late)
  await vi.waitFor(() => expect(focused()).toBe('late'))
  late.remove()
  view.value = 'overview'
  await vi.waitFor(() => expect(focused()).toBe('movers'))
})

it('returns from a full-size panel', () => {
  open()
  document.getElementById('row')?.focus()
  expect(toggleFullSize()).toBe(true)
  expect(document.querySelector('.panel')?.hasAttribute('data-full')).toBe(true)
  document.getElementById('movers')?.focus()
  expect(leaveFull()).toBe(true)
  expect([focused(), document.querySelector('[data-full]')]).toEqual(['row', null])
})
