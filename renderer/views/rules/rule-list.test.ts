import { mount, type VueWrapper } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { RulesFrame } from '#core/api/frames.ts'
import RuleList from './RuleList.vue'
import type { RuleRow } from './rule-row-model.ts'
import { announcement } from '../../composables/announcements.ts'
import { useRulesViewStore } from '../../stores/rules-view.ts'
import { useSelectionStore } from '../../stores/selection.ts'
import { ruleRow, rulesFrame } from '#tests/kits/renderer/views/rules-frames.ts'

let wrapper: VueWrapper<InstanceType<typeof RuleList>>
const row = (name: string, patch: Partial<RuleRow> = {}): RuleRow =>
  ruleRow({ name, conditions: `uid={${name.length}}`, ...patch })
const frameOf = (...rows: RuleRow[]): RulesFrame => rulesFrame({ rows })
const names = (): string[] => wrapper.findAll('[data-testid=rule-row]').map((r) => r.attributes('data-rule') ?? '')

beforeEach(() => {
  vi.stubGlobal('matchMedia', () => Object.assign(new EventTarget(), { matches: false }))
  // The list is virtual: without a height it would show nothing.
  vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(400)
  vi.spyOn(HTMLElement.prototype, 'clientWidth', 'get').mockReturnValue(900)
  setActivePinia(createPinia())
})
afterEach(() => {
  wrapper.unmount()
  document.body.replaceChildren()
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})
async function show(frame: RulesFrame): Promise<void> {
  const props = { frame, slowFrame: frame, selected: null, staged: [], isPaused: false, editing: undefined }
  wrapper = mount(RuleList, { props, attachTo: document.body })
  await vi.waitFor(() => expect(names()).toHaveLength(frame.rows.length))
}
const next = (frame: RulesFrame): Promise<void> => wrapper.setProps({ frame, slowFrame: frame })
const press = (key: string, more: KeyboardEventInit = {}): void => {
  document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more }))
}

it('keeps its rows while hovered, marks removed and counts new ones', async () => {
  await show(frameOf(row('a'), row('bb'), row('ccc')))
  await wrapper.trigger('mouseenter')
  await next(frameOf(row('dddd'), row('ccc'), row('a')))
  expect(names()).toEqual(['a', 'bb', 'ccc'])
  expect(wrapper.find('[data-rule=bb]').classes('gone')).toBe(true)
  expect(wrapper.text()).toContain('1 new')
  await wrapper.trigger('mouseleave')
  expect(names()).toEqual(['dddd', 'ccc', 'a'])
})

it('shows staged changes immediately, also while hovered', async () => {
  await show(frameOf(row('a'), row('bb')))
  await wrapper.trigger('mouseenter')
  await next(frameOf(row('new', { staged: 'add' }), row('a'), row('bb', { staged: 'del' })))
  expect(names()).toEqual(['new', 'a', 'bb'])
  expect(wrapper.find('[data-rule=bb]').attributes('data-staged')).toBe('del')
  expect(wrapper.find('[data-rule=bb] .sr').text()).toBe('staged: stop')
})

it('moves the chosen rule by Alt and arrow keys, and edits it by e and by Enter', async () => {
  await show(frameOf(row('a'), row('bb'), row('default', { owner: 'lustre' })))
  await wrapper.find('[data-rule=bb]').trigger('click')
  press('ArrowUp', { altKey: true })
  expect(wrapper.emitted('move')?.map(([moved, rank]) => [(moved as RuleRow).name, rank])).toEqual([['bb', 'a']])
  press('ArrowDown', { altKey: true })
  expect(wrapper.emitted('move')).toHaveLength(1)
  press('e')
  press('Enter')
  expect(wrapper.emitted('edit')?.map(([edited]) => (edited as RuleRow).name)).toEqual(['bb', 'bb'])
})

it('moves a rule by its handle, holds the order meanwhile, and Esc ends the drag', async () => {
  await show(frameOf(row('a'), row('bb'), row('ccc'), row('default', { owner: 'lustre' })))
  const grip = wrapper.find('[data-rule=ccc] .grip')
  const pointer = (type: string, clientY = 0): boolean =>
    window.dispatchEvent(new MouseEvent(type, { clientY, bubbles: true }))
  expect(wrapper.find('[data-rule=default] .grip').exists()).toBe(false)
  await grip.trigger('pointerdown', { button: 0 })
  expect(wrapper.find('[data-rule=ccc]').classes()).toEqual(expect.arrayContaining(['carried', 'sel']))
  await next(frameOf(row('bb'), row('a'), row('ccc'), row('default', { owner: 'lustre' })))
  expect(names()).toEqual(['a', 'bb', 'ccc', 'default'])
  pointer('pointermove', 28 + 45)
  await vi.waitFor(() => expect((wrapper.find('.gap').element as HTMLElement).style.top).toBe('44px'))
  pointer('pointerup')
  expect(wrapper.emitted('move')?.map(([moved, rank]) => [(moved as RuleRow).name, rank])).toEqual([['ccc', 'bb']])
  await grip.trigger('pointerdown', { button: 0 })
  press('Escape')
  pointer('pointerup')
  expect(wrapper.emitted('move')).toHaveLength(1)
})

it('has the current row of a table: arrow keys move it, Enter edits it, and the row in the editor is marked', async () => {
  await show(frameOf(row('a', { jobId: '7.a.u1' }), row('bb')))
  await wrapper.trigger('keydown', { key: 'ArrowDown' })
  await wrapper.trigger('keydown', { key: 'ArrowDown' })
  expect(wrapper.emitted('select')).toEqual([['7.a.u1']])
  expect(wrapper.find('.current').attributes('data-rule')).toBe('bb')
  await wrapper.trigger('keydown', { key: 'Enter' })
  expect(wrapper.emitted('edit')?.map(([edited]) => (edited as RuleRow).name)).toEqual(['bb'])
  await wrapper.setProps({ editing: 'a' })
  expect(wrapper.findAll('.sel').map((r) => r.attributes('data-rule'))).toEqual(['a'])
})

it('moves no rule while another server than the first is shown: it may have other neighbors', async () => {
  const frame = rulesFrame({ node: 'oss02', rows: [row('a'), row('bb'), row('default', { owner: 'lustre' })] })
  await show(frame)
  await wrapper.find('[data-rule=bb]').trigger('click')
  press('ArrowUp', { altKey: true })
  expect(wrapper.emitted('move')).toBeUndefined()
  expect(wrapper.find('.grip').exists()).toBe(false)
})

it('scrolls to a rule that was selected elsewhere and marks it, wherever in the list it is', async () => {
  const all = Array.from({ length: 300 }, (_, i) => row(`r${i}`, { conditions: `uid={${i}}` }))
  const part = (offset: number, more: Partial<RulesFrame> = {}): RulesFrame =>
    rulesFrame({ rows: all.slice(offset, offset + 60), offset, known: 300, ...more })
  vi.spyOn(HTMLElement.prototype, 'scrollHeight', 'get').mockReturnValue(300 * 45 + 28)
  const frame = part(0)
  const props = { frame, slowFrame: frame, selected: null, staged: [], isPaused: false, editing: undefined }
  wrapper = mount(RuleList, { props, attachTo: document.body })
  await vi.waitFor(() => expect(names()).toContain('r0'))
  const view = useRulesViewStore()
  useSelectionStore().choose('rule', 'r250')
  view.sought = 'r250'
  await next(part(0, { sought: { name: 'r250', at: 250 } }))
  await vi.waitFor(() => expect((wrapper.element as HTMLElement).scrollTop).toBeGreaterThan(200 * 45))
  expect(view.sought).toBe('r250')
  await wrapper.trigger('scroll')
  await next(part(220, { sought: { name: 'r250', at: 250 } }))
  expect(view.sought).toBe('')
  await vi.waitFor(() => expect(wrapper.find('[data-rule=r250]').attributes('aria-selected')).toBe('true'))
  expect(wrapper.findAll('[aria-selected=true]')).toHaveLength(1)

  view.sought = 'nowhere'
  await next(part(220, { sought: { name: 'nowhere', at: null } }))
  expect([view.sought, announcement.value]).toEqual(['', 'Rule nowhere is not in this list'])
})
