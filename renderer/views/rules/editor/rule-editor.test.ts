import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { defineComponent, h } from 'vue'
import { useRuleDraftStore, type Opening } from '../../../stores/rule-draft.ts'
import { codeField } from '#tests/kits/renderer/code-field.ts'
import { ruleForm } from '#tests/kits/renderer/views/rules-frames.ts'
import { openSampleHost, type SampleHost } from '#tests/kits/renderer/views/rules-host.ts'
import RuleEditor from './RuleEditor.vue'

const HOSTILE = '<img/src=x/onerror=alert(1)>'
let host: SampleHost
let wrapper: VueWrapper

/** Mounts the editor as the view does: removed with the draft, and a new one for each draft. */
const Holder = defineComponent(() => {
  const store = useRuleDraftStore()
  return () => (store.draft ? h(RuleEditor, { key: store.openings, draft: store.draft, ranks: ['b'] }) : h('p'))
})
async function start(opening: Partial<Opening> = {}): Promise<void> {
  useRuleDraftStore().open({ service: 'ost_io', form: ruleForm(), ...opening })
  wrapper = mount(Holder, { attachTo: document.body })
  await settle()
}
async function settle(ms = 0): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms)
  await flushPromises()
}
const text = codeField('rule-text')
const field = (id: string) => wrapper.find<HTMLInputElement>(`[data-testid=${id}]`)
const key = (name: string, more: KeyboardEventInit = {}): void => {
  const event = new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true, ...more })
  ;(document.activeElement ?? document.body).dispatchEvent(event)
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  vi.stubGlobal('matchMedia', () => Object.assign(new EventTarget(), { matches: false }))
  localStorage.clear()
  setActivePinia(createPinia())
  host = openSampleHost()
})
afterEach(() => {
  wrapper.unmount()
  document.body.replaceChildren()
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

it('stages by Ctrl and Enter from the expiry, too, and does not open its list', async () => {
  await start({ terms: { reason: 'x' } })
  const expiry = wrapper.find<HTMLElement>('button.choice')
  expect(expiry.attributes('aria-label')).toMatch(/^Expires in/)
  expiry.element.focus()
  key('Enter', { ctrlKey: true })
  await settle()
  expect(document.querySelector('[role=menu]')).toBeNull()
  expect(host.calls.map(({ verb }) => verb)).toEqual(['stage'])
})

it('offers a change another expiry, or the present one', async () => {
  await start({ form: ruleForm({ verb: 'change', rate: '', rank: '' }), terms: { expiresS: null } })
  const expiry = wrapper.find<HTMLElement>('button.choice')
  expect(expiry.attributes('aria-label')).toBe('Expires in: keep')
  useRuleDraftStore().editTerms({ renews: true, expiresS: 3600 })
  await settle()
  expect(wrapper.find('button.choice').attributes('aria-label')).toBe('Expires in: 1 h')
})

describe('form and text are one rule', () => {
  it('a text that is typed fills the form and keeps its own caret', async () => {
    await start()
    expect(text.text).toBe('reg start hog4690 jobid={4690.*} rate=400')
    text.focus()
    text.type('reg start hog4690 jobid={4690.*}&uid={500} rate=77')
    text.view.dispatch({ selection: { anchor: 19 } })
    await settle(120)
    expect(field('rule-rate').element.value).toBe('77')
    expect(wrapper.findAll('[data-testid=chip]').map((c) => c.text())).toEqual(['jobid4690.*, edit', 'uid500, edit'])
    expect(text.text).toBe('reg start hog4690 jobid={4690.*}&uid={500} rate=77')
    expect([text.view.state.selection.main.head, text.isFocused]).toEqual([19, true])
  })

  it('a field that is typed fills the text', async () => {
    await start()
    await field('rule-name').setValue('hog1')
    await field('rule-rate').setValue('9')
    await settle(120)
    expect(text.text).toBe('reg start hog1 jobid={4690.*} rate=9')
    expect(wrapper.text()).toContain('4 of 15')
  })

  it('chips are joined, added and removed as expressions of the condition', async () => {
    await start({ form: ruleForm({ conditions: 'jobid={a}&uid={500}' }) })
    await wrapper.find('[data-testid=join]').trigger('click')
    await settle(120)
    expect(text.text).toContain('jobid={a},uid={500}')
    await wrapper.find('[data-testid=add-expression]').trigger('click')
    await settle()
    const items = document.querySelector<HTMLInputElement>('[data-testid=condition-items]')
    if (!items) throw new Error('the expression did not open')
    items.value = 'ost_write ost_read'
    items.dispatchEvent(new Event('input', { bubbles: true }))
    await settle(120)
    expect(text.text).toContain('jobid={a},uid={500}&nid={ost_write ost_read}')
    await wrapper.find('[aria-label="Remove uid"]').trigger('click')
    await settle(120)
    expect(text.text).toContain('jobid={a}&nid={ost_write ost_read}')
  })
})

describe('a fault', () => {
  const faulty = ruleForm({ conditions: 'jobid={4690.*}&opcode={ost_wirte}' })

  it('has its caret under its column, its chip outlined, and its message for screen readers', async () => {
    await start({ form: faulty })
    const value = text.text
    expect(text.carets).toEqual([value.slice(0, value.indexOf('ost_wirte'))])
    expect(wrapper.find('[data-testid=faults]').text()).toContain(
      `column ${value.indexOf('ost_wirte') + 1}: unknown opcode`,
    )
    expect(wrapper.findAll('[data-testid=chip]').map((c) => c.classes('bad'))).toEqual([false, true])
    expect(text.content.getAttribute('aria-invalid')).toBe('true')
    expect(text.description).toContain('nearest is ost_write')
  })

  it('keeps the rule from being staged, and is where the focus goes', async () => {
    await start({ form: faulty })
    key('Enter', { ctrlKey: true })
    await settle()
    expect(host.calls).toEqual([])
    expect([text.isFocused, text.selected]).toEqual([true, 'ost_wirte'])
  })
})

it('converts a pasted line in the syntax of 2013 to the current one, with a note', async () => {
  await start({ form: ruleForm({ name: '', conditions: '', rate: '' }) })
  text.paste('lctl set_param ost.OSS.ost_io.nrs_tbf_rule="start loginnode {192.168.1.1@tcp} 100"')
  await settle(10)
  expect(text.text).toBe('start loginnode nid={192.168.1.1@tcp} rate=100')
  expect(field('rule-name').element.value).toBe('loginnode')
  expect(wrapper.text()).toContain('Syntax of 2013')
})

it('stages by Ctrl and Enter what it replaces, with its terms', async () => {
  await start({ replaces: 's1', terms: { expiresS: 300 } })
  await field('rule-reason').setValue('HPC-2291')
  field('rule-reason').element.focus()
  key('Enter', { ctrlKey: true })
  await settle()
  const terms = { expiresS: 300, reason: 'HPC-2291' }
  expect(host.calls).toEqual([{ verb: 'stage', input: { service: 'ost_io', form: ruleForm(), terms, replaces: 's1' } }])
  expect(wrapper.find('[data-testid=editor]').exists()).toBe(false)
})

it('closes an unchanged draft by Esc, and asks before an edit is lost', async () => {
  await start()
  field('rule-name').element.focus()
  key('Escape')
  await settle()
  expect(useRuleDraftStore().draft).toBeNull()
  useRuleDraftStore().open({ service: 'ost_io', form: ruleForm() })
  await settle()
  await field('rule-rate').setValue('7')
  field('rule-rate').element.focus()
  key('Escape')
  await settle()
  expect(useRuleDraftStore().draft).not.toBeNull()
  expect(document.activeElement?.textContent).toContain('Keep')
  key('Escape')
  await settle()
  expect(document.activeElement).toBe(field('rule-rate').element)
  key('Escape')
  await settle()
  await wrapper.find('[data-testid=drop]').trigger('click')
  expect(useRuleDraftStore().draft).toBeNull()
})

it('a change shows what can be changed, and a stop nothing', async () => {
  await start({ form: { verb: 'change', name: 'hog' }, rateNow: { min: 200, max: 200 } })
  expect(field('rule-name').exists()).toBe(false)
  expect(wrapper.text()).toContain('now 200')
  expect(wrapper.text()).not.toContain('error')
  await wrapper
    .findAll('button')
    .find((b) => b.text() === 'Stop')
    ?.trigger('click')
  await settle(120)
  expect(text.text).toBe('reg stop hog')
  expect(field('rule-rate').exists()).toBe(false)
})

it('shows hostile names as text', async () => {
  await start({ form: ruleForm({ name: HOSTILE, conditions: `jobid={${HOSTILE}}` }) })
  expect(wrapper.find('[data-testid=chip]').text()).toContain(HOSTILE)
  expect(text.content.textContent).toContain(HOSTILE)
  expect(document.querySelector('img, script')).toBeNull()
})
