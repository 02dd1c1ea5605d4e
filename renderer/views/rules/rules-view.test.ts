import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { StatusFrame } from '#core/api/frames.ts'
import { announcement } from '../../composables/announcements.ts'
import { useRuleDraftStore } from '../../stores/rule-draft.ts'
import { useRulesViewStore } from '../../stores/rules-view.ts'
import { useSelectionStore } from '../../stores/selection.ts'
import { useSourceStore } from '../../stores/source.ts'
import RulesView from './RulesView.vue'
import { codeField } from '#tests/kits/renderer/code-field.ts'
import { NOW_MS, ruleForm, ruleRow, rulesFrame, stagedFrame } from '#tests/kits/renderer/views/rules-frames.ts'
import { openSampleHost, type SampleHost } from '#tests/kits/renderer/views/rules-host.ts'

let host: SampleHost
let wrapper: VueWrapper
const LINE = 'lctl set_param ost.OSS.ost_io.nrs_tbf_rule="start loginnode {192.168.1.1@tcp} 100"'

beforeEach(async () => {
  vi.stubGlobal('matchMedia', () => Object.assign(new EventTarget(), { matches: false }))
  // Wide enough for the drawer beside the list.
  vi.stubGlobal('innerWidth', 1440)
  setActivePinia(createPinia())
  const change = {
    id: 'c1',
    atMs: NOW_MS,
    title: 'start hog4471',
    reason: '',
    inverse: ['reg stop hog4471'],
    expiresMs: null,
    pending: [],
    undone: false,
    revertible: true,
    nodes: [{ host: 'oss01', state: 'done' as const, detail: '' }],
  }
  useSourceStore().apply({
    source: { cluster: 'altair', env: 'PROD', kind: 'LIVE' },
    atMs: NOW_MS,
    sample: 40,
    staged: 1,
    clock: { intervalMs: 1000 },
  } as unknown as StatusFrame)
  host = openSampleHost({
    frame: rulesFrame({
      drifting: 1,
      differs: 'a is not on oss02',
      rows: [
        ruleRow({ name: 'hog4690', staged: 'add', would: 4, servers: 0 }),
        ruleRow({ name: 'a', conditions: 'uid={1}', missing: ['oss02'], servers: 1 }),
        ruleRow({ name: 'b', conditions: 'uid={2}' }),
        ruleRow({ name: 'default', owner: 'lustre', conditions: '*', expressions: [] }),
      ],
    }),
    staged: stagedFrame({ changes: [change] }),
  })
  wrapper = mount(RulesView, { attachTo: document.body })
  await vi.waitFor(() => expect(wrapper.find('[data-testid=staged-item]').exists()).toBe(true))
})
afterEach(() => {
  wrapper.unmount()
  document.body.replaceChildren()
  vi.unstubAllGlobals()
})
const press = (key: string, more: KeyboardEventInit = {}): void => {
  document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more }))
}
function paste(target: EventTarget, text: string): void {
  const event = new Event('paste', { bubbles: true, cancelable: true })
  Object.defineProperty(event, 'clipboardData', { value: { getData: () => text } })
  target.dispatchEvent(event)
}

it('shows staged changes beside the list, and selects their tab', () => {
  expect(wrapper.find('[data-testid=staged-count]').text()).toBe('1')
  expect(wrapper.find('[data-testid=staged-item]').text()).toContain('2 OSS \u00B7 start \u00B7 30 min')
  expect(wrapper.find('[data-testid=review]').text()).toBe('Review 1 change on altair PRODR')
  expect(wrapper.find('[data-testid=staged]').text()).toContain('stop hog4690')
  expect(wrapper.find('[data-testid=drift]').text()).toBe('a is not on oss02')
})

it('opens the review by its key, and says if nothing is staged', async () => {
  press('r')
  await flushPromises()
  expect(useRulesViewStore().isReviewOpen).toBe(true)
  useRulesViewStore().isReviewOpen = false
  wrapper.unmount()
  useSourceStore().apply({ ...useSourceStore().frame, staged: 0 } as StatusFrame)
  host = openSampleHost({ frame: rulesFrame({}), staged: stagedFrame({ items: [], review: null }) })
  wrapper = mount(RulesView, { attachTo: document.body })
  await vi.waitFor(() => expect(wrapper.find('[data-testid=staged]').text()).toContain('Nothing staged'), 10_000)
  press('r')
  expect([useRulesViewStore().isReviewOpen, announcement.value]).toEqual([false, 'Nothing is staged'])
})

it('shows another policy than TBF without rules as a state, not as a fault', async () => {
  wrapper.unmount()
  const answer = { node: 'oss01', command: 'lctl get_param ost.OSS.ost_io.nrs_tbf_rule', text: '', exit: 19, more: 0 }
  host = openSampleHost({
    frame: rulesFrame({ rows: [], policy: 'fifo', cpts: 0, server: answer }),
    staged: stagedFrame(),
  })
  wrapper = mount(RulesView, { attachTo: document.body })
  // The server output is throttled separately.
  await vi.waitFor(() => expect(wrapper.find('[data-testid=server-other-policy]').exists()).toBe(true), 10_000)
  expect(wrapper.find('[data-testid=other-policy]').text()).toContain('fifo: no rules.')
  expect(wrapper.find('[data-testid=server-other-policy]').text()).toContain('fifo: no rules.')
  expect(wrapper.text()).not.toContain('0 CPT')
})

it('opens the drawer beside the list, not over its rule names, while there is space for both', async () => {
  useSelectionStore().inspectorOpen = true
  await flushPromises()
  await wrapper.find('[data-testid=drawer-toggle]').trigger('click')
  const drawer = wrapper.find('[data-testid=drawer]')
  expect([drawer.classes('over'), wrapper.find('.split').classes('one')]).toEqual([false, false])
  vi.stubGlobal('innerWidth', 960)
  window.dispatchEvent(new Event('resize'))
  await flushPromises()
  expect([drawer.classes('over'), wrapper.find('.split').classes('one')]).toEqual([true, true])
})

it('closes the drawer of a narrow window for the fields of a draft', async () => {
  useSelectionStore().inspectorOpen = true
  await flushPromises()
  await wrapper.find('[data-testid=drawer-toggle]').trigger('click')
  expect(wrapper.find('[data-testid=staged-item]').exists()).toBe(true)
  await wrapper.find('[data-testid=new-rule]').trigger('click')
  await flushPromises()
  expect(useRuleDraftStore().draft).not.toBeNull()
  expect(wrapper.find('[data-testid=staged-item]').exists()).toBe(false)
})

it('opens a staged change for editing, and removes it', async () => {
  await wrapper.find('[data-testid=staged-edit]').trigger('click')
  expect(useRuleDraftStore().draft).toMatchObject({ replaces: 's1', form: ruleForm(), terms: { expiresS: 1800 } })
  await wrapper.find('[data-testid=staged-remove]').trigger('click')
  await flushPromises()
  expect(host.calls).toEqual([{ verb: 'unstage', input: { service: 'ost_io', id: 's1' } }])
  await wrapper.find('[data-testid=discard]').trigger('click')
  expect(host.calls).toHaveLength(1)
  await wrapper.find('[data-testid=discard-sure]').trigger('click')
  await flushPromises()
  expect(host.calls.at(-1)).toEqual({ verb: 'unstage', input: { service: 'ost_io', id: null } })
})

it('makes a draft of a pasted line, and leaves a paste into a field alone', async () => {
  const field = document.createElement('input')
  document.body.append(field)
  paste(field, LINE)
  expect(useRuleDraftStore().draft).toBeNull()
  paste(document.body, 'a word')
  expect(useRuleDraftStore().draft).toBeNull()
  paste(document.body, LINE)
  await vi.waitFor(() => expect(codeField('rule-text').text).toBe('start loginnode nid={192.168.1.1@tcp} rate=100'))
})

it('opens a new rule by n, and closes back to the list', async () => {
  press('n')
  await flushPromises()
  expect(useRuleDraftStore().draft?.form).toMatchObject({ verb: 'start', name: '', queue: 'reg' })
  useRuleDraftStore().cancel()
  await flushPromises()
  expect(document.activeElement?.getAttribute('data-testid')).toBe('rule-list')
})

it('lists committed changes by Z and stages a rollback', async () => {
  press('z')
  await vi.waitFor(() => expect(document.querySelector('[data-testid=past-change]')).not.toBeNull())
  expect(document.querySelector('[data-testid=past-change]')?.textContent).toContain('start hog4471')
  document.querySelector<HTMLElement>('[data-testid=stage-inverse]')?.click()
  await flushPromises()
  expect(host.calls).toEqual([{ verb: 'undo', input: { changeId: 'c1' } }])
})

it('loads the rules, and reports an empty queue', async () => {
  wrapper.unmount()
  setActivePinia(createPinia())
  openSampleHost({ frame: rulesFrame({ rows: [], known: 0 }), staged: stagedFrame({ items: [], review: null }) })
  wrapper = mount(RulesView, { attachTo: document.body })
  await vi.waitFor(() => expect(wrapper.text()).toContain('This queue has no rules.'))
  expect(wrapper.find('[data-testid=review]').exists()).toBe(false)
})
