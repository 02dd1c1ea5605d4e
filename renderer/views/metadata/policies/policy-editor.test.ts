import { ORPCError } from '@orpc/client'
import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { defineComponent, h, nextTick } from 'vue'
import type { StatusFrame } from '#core/api/frames.ts'
import { useMetadataStore } from '../../../stores/metadata.ts'
import { usePolicyDraftStore } from '../../../stores/policy-draft.ts'
import { useSourceStore } from '../../../stores/source.ts'
import { codeField } from '#tests/kits/renderer/code-field.ts'
import {
  metadataFrame,
  NOW_MS,
  openMetadataHost,
  TEXT,
  type MetadataHost,
} from '#tests/kits/renderer/views/metadata-host.ts'
import PolicyEditor from './PolicyEditor.vue'

let host: MetadataHost
let wrapper: VueWrapper
const frame = metadataFrame()

beforeEach(() => {
  vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(600)
  vi.spyOn(HTMLElement.prototype, 'offsetHeight', 'get').mockReturnValue(600)
  vi.spyOn(HTMLElement.prototype, 'offsetWidth', 'get').mockReturnValue(900)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  vi.stubGlobal('matchMedia', () => Object.assign(new EventTarget(), { matches: false }))
  setActivePinia(createPinia())
  host = openMetadataHost(frame)
})
afterEach(() => {
  wrapper.unmount()
  document.body.replaceChildren()
  vi.useRealTimers()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})
async function settle(ms = 200): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms)
  await flushPromises()
}
async function open(env = 'DEMO'): Promise<void> {
  useSourceStore().apply({
    source: { cluster: 'altair', env, kind: 'LIVE' },
    atMs: NOW_MS,
    sample: 40,
    mode: 'enforce',
    clock: { intervalMs: 1000 },
  } as unknown as StatusFrame)
  usePolicyDraftStore().open('stages', frame.policies.text)
  const Holder = defineComponent(() => () => h(PolicyEditor, { frame, isReadOnly: false }))
  wrapper = mount(Holder, { attachTo: document.body })
  await settle()
}
const find = (id: string) => wrapper.find(`[data-testid="${id}"]`)
const field = codeField('policy-text')
async function type(text: string): Promise<void> {
  field.type(text)
  await settle()
}
const key = (name: string, more: KeyboardEventInit = {}): void => {
  const event = new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true, ...more })
  ;(document.activeElement ?? document.body).dispatchEvent(event)
}
const apply = () => find('policy-apply').element as HTMLButtonElement

describe('a fault', () => {
  it('has its caret under its column, its place in the list, and a click goes there', async () => {
    await open()
    await type('# a\n1 0 job train.py meta_opp 5\n')
    expect(field.carets).toEqual(['1 0 job train.py '])
    expect(find('policy-faults').text()).toContain('line 2, column 18')
    expect(find('policy-faults').text()).toContain('nearest is meta_op')
    expect(apply().disabled).toBe(true)
    expect(find('policy-outcome').text()).toBe('Fix 1 error first')
    field.view.dispatch({ selection: { anchor: 0 } })
    await find('policy-faults').find('button').trigger('click')
    await settle()
    expect(field.selected).toBe('meta_opp')
    expect(field.description).toContain('line 2, column 18')
  })

  it('moves with its line while the host has not answered yet', async () => {
    await open()
    await type('1 0 job a meta_opp 5\n')
    field.type('# new\n1 0 job a meta_opp 5\n')
    await nextTick()
    expect(field.carets).toEqual(['1 0 job a '])
  })

  it('takes the focus on Ctrl+Enter', async () => {
    await open()
    await type('1 0 job a meta_opp 5\n')
    field.focus()
    key('Enter', { ctrlKey: true })
    await settle()
    expect(host.calls).toEqual([])
    expect([field.isFocused, field.selected]).toEqual([true, 'meta_opp'])
  })
})

describe('applying', () => {
  it('sends exactly the checked text with its plan, and shows before what changes, the remarks and the command', async () => {
    await open()
    const text = `${TEXT}6 700 job bwa meta_op 900\n`
    await type(text)
    expect(find('policy-diff').text()).toContain('6 700 job bwa meta_op 900')
    expect(find('policy-diff').text()).toContain('unchanged line')
    expect(find('policy-remarks').text()).toContain('the system limit is 110 000')
    expect(find('policy-commands').text()).toContain('sluice padll policies set --epoch 3')
    apply().click()
    await settle()
    expect(host.calls).toEqual([
      { verb: 'apply', input: { plane: 'stages', text, planId: `plan ${text.length}`, typed: '' } },
    ])
    expect(find('policy-outcome').text()).toContain('Applied')
    expect(usePolicyDraftStore().draft?.isTouched).toBe(false)
  })

  it('is disabled without changes', async () => {
    await open()
    expect(find('policy-same').text()).toContain('No changes')
    expect(apply().disabled).toBe(true)
  })

  it('outside a demo waits for the name of the controller, and for it again after another edit', async () => {
    await open('PROD')
    await type(`${TEXT}6 700 job bwa meta_op 900\n`)
    expect(apply().textContent.trim()).toBe('Apply to PROD')
    for (const wrong of ['', 'ctl', 'CTL-0', 'ctl-0 ']) {
      await find('policy-typed').setValue(wrong)
      expect(apply().disabled).toBe(true)
    }
    await find('policy-typed').setValue('ctl-0')
    expect(apply().disabled).toBe(false)
    await type(`${TEXT}6 700 job bwa meta_op 901\n`)
    expect(apply().disabled).toBe(true)
    await wrapper.find('form').trigger('submit')
    await settle()
    expect(host.calls).toEqual([])
    await find('policy-typed').setValue('ctl-0')
    apply().click()
    await settle()
    expect(host.calls).toMatchObject([{ verb: 'apply', input: { typed: 'ctl-0' } }])
  })

  it('that is refused keeps the text and says why in the words of the host', async () => {
    await open()
    const text = `${TEXT}6 700 job bwa meta_op 900\n`
    await type(text)
    const data = { code: 'OBSERVE', what: 'Nothing is written in Observe', next: 'Choose Enforce' }
    host.refuses = new ORPCError('REFUSED', { defined: true, data })
    apply().click()
    await settle()
    expect(wrapper.text()).toContain('Nothing is written in Observe')
    expect(field.text).toBe(text)
    expect(usePolicyDraftStore().draft?.isTouched).toBe(true)
    expect(apply().disabled).toBe(false)
  })

  it('is not tried for a text longer than the host accepts', async () => {
    await open()
    await type(`# ${'x'.repeat(262_200)}\n`)
    expect(wrapper.text()).toContain('the limit is 262\u202F144')
    expect(apply().disabled).toBe(true)
    await type(TEXT)
    expect(wrapper.text()).not.toContain('the limit is')
  })
})

describe('a draft', () => {
  it('is kept when the editor is closed, and discarded only after a confirmation', async () => {
    await open()
    await type('1 0 job kept meta_op 5\n')
    field.focus()
    key('Escape')
    expect(wrapper.findComponent(PolicyEditor).emitted('close')).toHaveLength(1)
    wrapper.unmount()
    await open()
    expect(field.text).toBe('1 0 job kept meta_op 5\n')
    await find('policy-discard').trigger('click')
    expect(field.text).toContain('kept')
    await find('policy-discard-sure').trigger('click')
    await settle()
    expect(field.text).toBe(TEXT)
  })

  it('is kept for its plane while another plane is edited', async () => {
    await open()
    await type('1 0 job kept meta_op 5\n')
    const store = usePolicyDraftStore()
    store.open('mds', 'x')
    expect(store.draft?.text).toBe('x')
    store.open('stages', TEXT)
    expect(store.draft?.text).toBe('1 0 job kept meta_op 5\n')
  })

  it('follows the text in force until it is edited, then reports that the text has changed', async () => {
    await open()
    const store = usePolicyDraftStore()
    store.follow('stages', '1 0 job other meta_op 7\n')
    await settle()
    expect(field.text).toBe('1 0 job other meta_op 7\n')
    await type('1 0 job mine meta_op 7\n')
    store.follow('stages', '1 0 job third meta_op 7\n')
    await settle()
    expect(field.text).toBe('1 0 job mine meta_op 7\n')
    expect(wrapper.text()).toContain('Other policies were applied since')
  })

  it('that is edited while it is applied is still a draft', async () => {
    await open()
    await type(`${TEXT}6 700 job bwa meta_op 900\n`)
    apply().click()
    field.type(`${TEXT}6 700 job bwa meta_op 901\n`)
    await settle()
    expect(host.calls).toHaveLength(1)
    expect(usePolicyDraftStore().draft).toMatchObject({ isTouched: true, base: `${TEXT}6 700 job bwa meta_op 900\n` })
  })
})

describe('the form', () => {
  const rows = () => wrapper.findAll('[data-testid=policy-row]')
  async function form(): Promise<void> {
    useMetadataStore().side = 'form'
    await settle()
  }

  it('is the text in fields, and rewrites only the line that is edited', async () => {
    await open()
    await form()
    expect(rows()).toHaveLength(5)
    await rows()[1]!.find('[data-testid=policy-value]').setValue('1234')
    await settle()
    expect(usePolicyDraftStore().draft?.text).toBe(TEXT.replace('34000', '1234'))
    await rows()[0]!.find('[data-testid=policy-remove]').trigger('click')
    expect(usePolicyDraftStore().draft?.text.startsWith('# the day shift\n2 60 job bwa')).toBe(true)
  })

  it('adds a policy whose empty fields are not marked but keep it from being applied', async () => {
    await open()
    await form()
    await find('policy-add').trigger('click')
    await settle()
    expect(usePolicyDraftStore().draft?.text.endsWith('\n6 622 job ? meta_op ?\n')).toBe(true)
    const added = rows().at(-1)
    expect(added?.find('.input.err').exists()).toBe(false)
    expect(document.activeElement?.closest('[data-field="job"]')).not.toBeNull()
    expect(apply().disabled).toBe(true)
    await added?.find('[data-testid=policy-value]').setValue('77')
    await added?.find('[data-field=job] input').setValue('new job')
    await settle()
    expect(usePolicyDraftStore().draft?.text.endsWith('\n6 622 job newjob meta_op 77\n')).toBe(true)
    expect(apply().disabled).toBe(false)
  })

  it('marks the field that a fault points at', async () => {
    await open()
    await type('1 0 job train.py meta_opp 5\n')
    await form()
    const bad = wrapper.findAll('.input.err')
    expect(bad).toHaveLength(1)
    expect((bad[0]?.find('input').element as HTMLInputElement).value).toBe('meta_opp')
  })

  it('shows YAML as equivalent lines, and converts it with the first edit', async () => {
    await open()
    await type('policies:\n  - { job: train.py, at: 0, scope: meta_op, limit: 5000 }\n')
    await form()
    expect(rows()).toHaveLength(1)
    expect(usePolicyDraftStore().draft?.text).toContain('policies:')
    await rows()[0]!.find('[data-testid=policy-value]').setValue('6000')
    expect(usePolicyDraftStore().draft?.text).toBe('1 0 job train.py meta_op 6000\n')
  })
})

it('keeps every column of a hostile name, and shows it as text', async () => {
  await open()
  const name = '<img/src=x/onerror=alert(1)>\u202E'
  await type(`1 0 job ${name} meta_opp 5\n`)
  expect(field.content.textContent).toContain('<img/src=x/onerror=alert(1)>\uFFFD')
  expect(find('policy-faults').text()).toContain(`column ${9 + name.length + 1}`)
  expect(document.querySelector('img, script')).toBeNull()
})
