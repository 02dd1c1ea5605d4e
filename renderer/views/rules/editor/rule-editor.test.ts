import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { defineComponent, h } from 'vue'
import { useRuleDraftStore, type Opening } from '../../../stores/rule-draft.ts'
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
const text = () => wrapper.find<HTMLTextAreaElement>('[data-testid=rule-text]')
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

describe('form and text are one rule', () => {
  it('a text that is typed fills the form and keeps its own caret', async () => {
    await start()
    expect(text().element.value).toBe('reg start hog4690 jobid={4690.*} rate=400')
    const { element } = text()
    element.focus()
    element.value = 'reg start hog4690 jobid={4690.*}&uid={500} rate=77'
    element.setSelectionRange(19, 19)
    await text().trigger('input')
    await settle(120)
    expect(field('rule-rate').element.value).toBe('77')
    expect(wrapper.findAll('[data-testid=chip]').map((c) => c.text())).toEqual(['jobid4690.*, edit', 'uid500, edit'])
    expect([element.value, element.selectionStart]).toEqual(['reg start hog4690 jobid={4690.*}&uid={500} rate=77', 19])
    expect(document.activeElement).toBe(element)
  })

  it('a field that is typed fills the text', async () => {
    await start()
    await field('rule-name').setValue('hog1')
    await field('rule-rate').setValue('9')
    await settle(120)
    expect(text().element.value).toBe('reg start hog1 jobid={4690.*} rate=9')
    expect(wrapper.text()).toContain('4 of 15')
  })

  it('chips are joined, added and removed as expressions of the condition', async () => {
    await start({ form: ruleForm({ conditions: 'jobid={a}&uid={500}' }) })
    await wrapper.find('[data-testid=join]').trigger('click')
    await settle(120)
    expect(text().element.value).toContain('jobid={a},uid={500}')
    await wrapper.find('[data-testid=add-expression]').trigger('click')
    await settle()
    const items = document.querySelector<HTMLInputElement>('[data-testid=condition-items]')
    if (!items) throw new Error('the expression did not open')
    items.value = 'ost_write ost_read'
    items.dispatchEvent(new Event('input', { bubbles: true }))
    await settle(120)
    expect(text().element.value).toContain('jobid={a},uid={500}&nid={ost_write ost_read}')
    await wrapper.find('[aria-label="Remove uid"]').trigger('click')
    await settle(120)
    expect(text().element.value).toContain('jobid={a}&nid={ost_write ost_read}')
  })
})

describe('a fault', () => {
  const faulty = ruleForm({ conditions: 'jobid={4690.*}&opcode={ost_wirte}' })

  it('has its caret under its column, its chip outlined, and its message for screen readers', async () => {
    await start({ form: faulty })
    const value = text().element.value
    const drawn = wrapper.find('[data-testid=rule-text-drawn]')
    const sign = drawn.find('.sign')
    expect(sign.text()).toContain(`column ${value.indexOf('ost_wirte') + 1}: unknown opcode`)
    expect(sign.text().startsWith('^')).toBe(true)
    // The mark is on the first character of the fault, so its caret is under that column however the line wraps.
    const range = document.createRange()
    range.setStart(drawn.element, 0)
    range.setEndBefore(sign.element.parentElement!)
    expect(range.toString()).toBe(value.slice(0, value.indexOf('ost_wirte')))
    expect(sign.element.parentElement?.firstChild?.textContent).toBe('o')
    expect(wrapper.findAll('[data-testid=chip]').map((c) => c.classes('bad'))).toEqual([false, true])
    expect(text().attributes('aria-invalid')).toBe('true')
    const told = document.getElementById(text().attributes('aria-describedby') ?? '')
    expect(told?.textContent).toContain('nearest is ost_write')
  })

  it('keeps the rule from being staged, and is where the focus goes', async () => {
    await start({ form: faulty })
    key('Enter', { ctrlKey: true })
    await settle()
    expect(host.calls).toEqual([])
    const { element } = text()
    expect(document.activeElement).toBe(element)
    expect(element.value.slice(element.selectionStart, element.selectionEnd)).toBe('ost_wirte')
  })
})

it('converts a pasted line in the syntax of 2013 to the current one, with a note', async () => {
  await start({ form: ruleForm({ name: '', conditions: '', rate: '' }) })
  text().element.value = 'lctl set_param ost.OSS.ost_io.nrs_tbf_rule="start loginnode {192.168.1.1@tcp} 100"'
  text().element.dispatchEvent(new InputEvent('input', { inputType: 'insertFromPaste', bubbles: true }))
  await settle(10)
  expect(text().element.value).toBe('start loginnode nid={192.168.1.1@tcp} rate=100')
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
  expect(text().element.value).toBe('reg stop hog')
  expect(field('rule-rate').exists()).toBe(false)
})

it('shows hostile names as text', async () => {
  await start({ form: ruleForm({ name: HOSTILE, conditions: `jobid={${HOSTILE}}` }) })
  expect(wrapper.find('[data-testid=chip]').text()).toContain(HOSTILE)
  expect(wrapper.find('[data-testid=rule-text-drawn]').text()).toContain(HOSTILE)
  expect(document.querySelector('img, script')).toBeNull()
})
