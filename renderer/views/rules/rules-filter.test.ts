import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { RulesFrame } from '#core/api/frames.ts'
import { announcement } from '../../composables/announcements.ts'
import { useRulesViewStore } from '../../stores/rules-view.ts'
import { freshPage, showSource } from '#tests/kits/renderer/view-page.ts'
import RulesView from './RulesView.vue'
import { NOW_MS, ruleRow, rulesFrame, stagedFrame } from '#tests/kits/renderer/views/rules-frames.ts'
import { openSampleHost, type SampleHost } from '#tests/kits/renderer/views/rules-host.ts'

let host: SampleHost
let wrapper: VueWrapper

freshPage(900, () => wrapper.unmount())
beforeEach(() => vi.stubGlobal('innerWidth', 1440))
afterEach(() => (announcement.value = ''))

const found = (passing: number, staged = 0): RulesFrame['filtered'] => ({
  filter: 'hog',
  passing,
  of: 41,
  staged,
  ranks: ['a', 'b', 'default'],
})
async function show(frame: RulesFrame): Promise<void> {
  showSource(NOW_MS, 'LIVE')
  host = openSampleHost({ frame, staged: stagedFrame() })
  wrapper = mount(RulesView, { attachTo: document.body })
  await vi.waitFor(() => expect(find('rule-list').exists()).toBe(true))
  await flushPromises()
}
const find = (id: string) => wrapper.find(`[data-testid="${id}"]`)
const press = (key: string, more: KeyboardEventInit = {}): void => {
  document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more }))
}
const twoOf = (staged = 0): RulesFrame =>
  rulesFrame({
    rows: [ruleRow({ name: 'hog1', rank: 7 }), ruleRow({ name: 'hog2', rank: 19, conditions: 'uid={2}' })],
    known: 41,
    filtered: found(2, staged),
  })

it('is opened by / and applied by the host, and Esc returns to the list with its focus', async () => {
  await show(rulesFrame())
  press('/')
  expect(document.activeElement?.getAttribute('data-testid')).toBe('filter')
  await find('filter').setValue('hog')
  await vi.waitFor(() => expect(host.queries.at(-1)?.filter).toBe('hog'))
  await find('filter').trigger('keydown', { key: 'Escape' })
  expect(document.activeElement?.getAttribute('data-testid')).toBe('rule-list')
  await vi.waitFor(() => expect(host.queries.at(-1)?.filter).toBe(''))
})

it('keeps the rank that a rule has in the whole list, and moves none past what is hidden', async () => {
  useRulesViewStore().filter = 'hog'
  await show(twoOf())
  await vi.waitFor(() => expect(wrapper.findAll('[data-testid=rule-row]')).toHaveLength(2))
  expect(wrapper.findAll('.rk .num').map((n) => n.text())).toEqual(['7', '19'])
  expect(find('filter-count').text()).toBe('2 of 41')
  expect(wrapper.find('.grip').exists()).toBe(false)
  await wrapper.find('[data-rule=hog2]').trigger('click')
  press('ArrowUp', { altKey: true })
  expect(announcement.value).toBe('Clear the filter to move a rule: its neighbors are hidden')
  expect(host.calls).toEqual([])
})

it('counts hidden rules with staged changes; the drawer and the review have all', async () => {
  useRulesViewStore().filter = 'hog'
  await show(twoOf(2))
  await vi.waitFor(() => expect(find('staged-item').exists()).toBe(true))
  expect(find('staged-hidden').text()).toContain('2 staged hidden')
  expect(find('staged-item').text()).toContain('hog4690')
  expect(find('review').text()).toContain('Review 1')
  await find('staged-hidden').trigger('click')
  expect(useRulesViewStore().filter).toBe('')
})

it('reports that nothing passes, with a button to clear it, and survives leaving the view', async () => {
  useRulesViewStore().filter = 'hog'
  await show(rulesFrame({ rows: [], known: 41, filtered: found(0) }))
  expect(find('filtered-out').text()).toContain('None of 41 rules matches hog.')
  expect(wrapper.text()).not.toContain('This queue has no rules')
  wrapper.unmount()
  await show(rulesFrame({ rows: [], known: 41, filtered: found(0) }))
  expect(find('filter').element).toHaveProperty('value', 'hog')
  await find('filtered-out-clear').trigger('click')
  expect([useRulesViewStore().filter, document.activeElement?.getAttribute('data-testid')]).toEqual(['', 'rule-list'])
})

it('shows every row if it has a fault, and is cleared by a rule selected elsewhere', async () => {
  useRulesViewStore().filter = 'is:wet'
  await show(rulesFrame({ filterError: { column: 1, message: 'is: knows staged' } }))
  expect(find('filter-error').text()).toContain('All rules are shown.')
  expect(find('filtered-out').exists()).toBe(false)
  useRulesViewStore().sought = 'hog'
  expect(useRulesViewStore().filter).toBe('')
})
