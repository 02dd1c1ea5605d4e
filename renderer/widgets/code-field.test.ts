import { mount, type VueWrapper } from '@vue/test-utils'
import { completionStatus, currentCompletions, startCompletion } from '@codemirror/autocomplete'
import { redo, undo } from '@codemirror/commands'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { isTyping } from '../commands/key-press.ts'
import { codeField } from '#tests/kits/renderer/code-field.ts'
import CodeField from './CodeField.vue'
import type { CodeFault, CodeFieldMethods } from './code-editor.ts'

let wrapper: VueWrapper
const field = codeField('it')
afterEach(() => {
  wrapper.unmount()
  document.body.replaceChildren()
})

type Props = Partial<InstanceType<typeof CodeField>['$props']>
function open(text: string, props: Props = {}): void {
  wrapper = mount(CodeField, {
    props: { text, label: 'Rule', language: [], testid: 'it', ...props },
    attachTo: document.body,
  })
}
const edits = () => wrapper.emitted('edit')?.map(([text, isPasted]) => [text, isPasted])
const fault = (from: number, length: number, message = 'unknown'): CodeFault => ({
  from,
  length,
  severity: 'error',
  message,
})
function press(key: string, more: KeyboardEventInit = {}): KeyboardEvent {
  const event = new KeyboardEvent('keydown', { key, bubbles: true, composed: true, cancelable: true, ...more })
  field.content.dispatchEvent(event)
  return event
}

describe('a code field', () => {
  it('is a labelled text box whose text is typed and set', async () => {
    open('start a')
    expect([field.content.getAttribute('role'), field.content.getAttribute('aria-label')]).toEqual(['textbox', 'Rule'])
    field.type('start ab')
    expect(edits()).toEqual([['start ab', false]])
    await wrapper.setProps({ text: 'stop ab' })
    expect(field.text).toBe('stop ab')
    expect(edits()).toHaveLength(1)
  })

  it('keeps the caret at its characters when the text is set around it, and undoes only what was typed', async () => {
    open('start a rate=1')
    field.view.dispatch({ selection: { anchor: 7 } })
    await wrapper.setProps({ text: 'reg start a rate=1' })
    expect(field.view.state.selection.main.head).toBe(11)
    expect(undo(field.view)).toBe(false)
    field.view.dispatch({ changes: { from: 11, insert: 'b' }, userEvent: 'input.type' })
    undo(field.view)
    expect(field.text).toBe('reg start a rate=1')
    redo(field.view)
    expect(field.text).toBe('reg start ab rate=1')
  })

  it('starts a new edit history for another document', async () => {
    open('a', { document: 1 })
    field.type('ab')
    await wrapper.setProps({ text: 'c', document: 2 })
    expect([field.text, undo(field.view)]).toEqual(['c', false])
  })

  it('reports a paste, and refuses input beyond its length', () => {
    open('', { maxLength: 5 })
    field.paste('abc')
    field.type('abcdef')
    expect(edits()).toEqual([['abc', true]])
    expect(field.text).toBe('abc')
  })

  it('leaves keys of commands to the elements around it', () => {
    open('a')
    field.focus()
    expect(press('Enter', { ctrlKey: true }).defaultPrevented).toBe(false)
    expect(press('Escape').defaultPrevented).toBe(false)
    expect(press('Tab').defaultPrevented).toBe(false)
    expect(isTyping((field.view.root as ShadowRoot).host)).toBe(true)
  })

  it('reports that it is left', () => {
    open('a')
    field.focus()
    expect(wrapper.emitted('leave')).toBeUndefined()
    field.content.blur()
    expect(wrapper.emitted('leave')).toHaveLength(1)
  })

  it('shows characters that reorder others as one replacement character each', () => {
    open('a\u202Eb\u2066c')
    expect(field.content.textContent).toBe('a\uFFFDb\uFFFDc')
  })

  it('has one line if it must: line breaks become a space, Enter does nothing', () => {
    open('', { isSingleLine: true })
    field.paste('start a\r\n  jobid={b}\n')
    expect(field.text).toBe('start a jobid={b} ')
    expect(edits()).toEqual([['start a jobid={b} ', true]])
    field.focus()
    expect(press('Enter').defaultPrevented).toBe(true)
    expect(field.text).toBe('start a jobid={b} ')
  })
})

describe('faults', () => {
  it('are marked with a caret, read by screen readers, and move with the text', async () => {
    open('one\ntwo three', { hasCarets: true, faults: [fault(8, 5, 'not \u202Ethree')] })
    expect(field.carets).toEqual(['two '])
    expect(field.content.getAttribute('aria-invalid')).toBe('true')
    expect(field.description).toBe('line 2, column 5: not \uFFFDthree')
    expect(field.content.querySelector('.cm-lintRange-error')?.textContent).toBe('three')
    expect(field.content.querySelector('.cm-fault-words')?.textContent).toBe('not \uFFFDthree')
    field.view.dispatch({ changes: { from: 4, insert: '__' }, userEvent: 'input.type' })
    expect(field.carets).toEqual(['__two '])
    await wrapper.setProps({ text: field.text, faults: [] })
    expect(field.carets).toEqual([])
    expect(field.content.getAttribute('aria-invalid')).toBe('false')
    expect(field.content.hasAttribute('aria-describedby')).toBe(false)
  })

  it('beyond the end are at the end', () => {
    open('abc', { hasCarets: true, faults: [fault(3, 1), fault(99, 4)] })
    expect(field.carets).toEqual(['abc', 'abc'])
  })

  it('are selected and focused', () => {
    open('one two')
    ;(wrapper.vm as unknown as CodeFieldMethods).select(4, 99)
    expect([field.selected, field.isFocused]).toEqual(['two', true])
  })
})

describe('completion', () => {
  it('offers what the language knows, as text, and Escape closes the list first', async () => {
    const label = '<img src=x>'
    const complete = vi.fn(() => ({ from: 0, options: [{ label, detail: 'a job', apply: 'x' }, { label: 'y' }] }))
    open('', { complete })
    field.focus()
    startCompletion(field.view)
    await vi.waitFor(() => expect(completionStatus(field.view.state)).toBe('active'))
    expect(complete).toHaveBeenCalledWith('', 0, true)
    expect(currentCompletions(field.view.state).map((option) => option.label)).toEqual([label, 'y'])
    const list = () => field.view.dom.querySelector('.cm-tooltip-autocomplete')
    expect(list()?.querySelector('li')?.textContent).toContain(label)
    expect(list()?.querySelector('img')).toBeNull()
    expect(press('Escape').defaultPrevented).toBe(true)
    expect(completionStatus(field.view.state)).toBeNull()
    expect(press('Escape').defaultPrevented).toBe(false)
  })
})
