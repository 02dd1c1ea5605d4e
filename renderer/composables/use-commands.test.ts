import { mount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { defineComponent, h } from 'vue'
import { keyName } from '../commands/key-press.ts'
import { useKeymapStore } from '../commands/keymap.ts'
import { handledCommands, pending, runCommand, useCommands, type Handlers } from './use-commands.ts'

beforeEach(() => {
  localStorage.clear()
  setActivePinia(createPinia())
})
const mounted: { unmount: () => void }[] = []
afterEach(() => {
  for (const wrapper of mounted.splice(0)) wrapper.unmount()
  document.body.replaceChildren()
  vi.useRealTimers()
})

function part(handlers: Handlers) {
  const wrapper = mount(
    defineComponent(() => {
      useCommands(handlers)
      return () => h('input')
    }),
    { attachTo: document.body },
  )
  mounted.push(wrapper)
  return wrapper
}
function press(key: string, more: KeyboardEventInit = {}, target: EventTarget = document.body): boolean {
  const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more })
  target.dispatchEvent(event)
  return event.defaultPrevented
}

it('names keys independently of lock keys, and letters with Shift separately', () => {
  const name = (key: string, more: KeyboardEventInit = {}): string =>
    keyName(new KeyboardEvent('keydown', { key, ...more }))
  expect([name('L'), name(' '), name('?', { shiftKey: true }), name('ArrowLeft', { shiftKey: true })]).toEqual([
    'l',
    'Space',
    '?',
    'Shift+ArrowLeft',
  ])
  expect([name('k', { ctrlKey: true }), name('K', { metaKey: true })]).toEqual(['mod+k', 'mod+k'])
  const shifted = { shiftKey: true }
  expect([
    name('N', shifted),
    name('n', shifted),
    name('E', { ...shifted, ctrlKey: true }),
    name(' ', shifted),
  ]).toEqual(['Shift+n', 'Shift+n', 'mod+Shift+e', 'Shift+Space'])
})

describe('a key', () => {
  it('is left to text fields where it is single, but not where it is a combination', () => {
    const live = vi.fn()
    const palette = vi.fn()
    const wrapper = part({ 'time.live': live, 'frame.palette': palette })
    const input = wrapper.find('input').element
    press('l', {}, input)
    expect(live).not.toHaveBeenCalled()
    press('k', { ctrlKey: true }, input)
    expect(palette).toHaveBeenCalledOnce()
    press('l')
    expect(live).toHaveBeenCalledOnce()
    wrapper.unmount()
    press('l')
    expect(live).toHaveBeenCalledOnce()
  })

  it('does nothing while a dialog or a menu is open', () => {
    const live = vi.fn()
    part({ 'time.live': live })
    const dialog = document.createElement('div')
    dialog.setAttribute('role', 'dialog')
    document.body.append(dialog)
    press('l')
    expect(live).not.toHaveBeenCalled()
    dialog.remove()
    press('l')
    expect(live).toHaveBeenCalledOnce()
  })

  it('with Ctrl does nothing beneath a modal dialog, but the palette still opens on top of it', () => {
    const exported = vi.fn()
    const palette = vi.fn()
    part({ 'frame.export': exported, 'frame.palette': palette })
    const scrim = document.createElement('div')
    scrim.setAttribute('data-modal', '')
    document.body.append(scrim)
    press('e', { ctrlKey: true })
    press('k', { ctrlKey: true })
    expect(exported).not.toHaveBeenCalled()
    expect(palette).toHaveBeenCalledOnce()
    scrim.remove()
    press('e', { ctrlKey: true })
    expect(exported).toHaveBeenCalledOnce()
  })

  it('is left to the button that has the focus where it would press it', () => {
    const pause = vi.fn()
    const edit = vi.fn()
    const messages = vi.fn()
    part({ 'time.pause': pause, 'rules.open': edit, 'locks.messages': messages })
    const button = document.createElement('button')
    document.body.append(button)
    for (const key of [' ', 'Enter', 'm']) press(key, {}, button)
    expect([pause.mock.calls.length, edit.mock.calls.length, messages.mock.calls.length]).toEqual([0, 0, 1])
    for (const key of [' ', 'Enter']) press(key)
    expect([pause.mock.calls.length, edit.mock.calls.length]).toEqual([1, 1])
  })

  it('Esc leaves a text field that does not handle it, but not beneath a menu', () => {
    const cleared = vi.fn()
    part({ 'frame.clear': cleared })
    const field = document.body.appendChild(document.createElement('input'))
    field.focus()
    press('Escape', {}, field)
    expect([document.activeElement === field, cleared.mock.calls.length]).toEqual([false, 0])
    press('Escape')
    expect(cleared).toHaveBeenCalledOnce()
    field.focus()
    const menu = document.body.appendChild(document.createElement('div'))
    menu.setAttribute('role', 'menu')
    press('Escape', {}, field)
    expect(document.activeElement).toBe(field)
    menu.remove()
    field.remove()
  })

  it('is left to a choice that has the focus if it is an arrow', () => {
    const stepped = vi.fn()
    part({ 'time.back': stepped, 'time.on-10': stepped, 'time.on-minute': stepped })
    for (const [name, value] of [
      ['role', 'radiogroup'],
      ['role', 'slider'],
      ['aria-haspopup', 'menu'],
    ] as const) {
      const choice = document.createElement('div')
      choice.setAttribute(name, value)
      const inner = choice.appendChild(document.createElement('span'))
      document.body.append(choice)
      press('ArrowLeft', {}, inner)
      press('ArrowRight', { shiftKey: true }, inner)
      expect([value, stepped.mock.calls.length]).toEqual([value, 0])
      choice.remove()
    }
    press('ArrowLeft')
    expect(stepped).toHaveBeenCalledOnce()
  })

  it('runs the view\u2019s command before a global one, and is passed on if a handler returns false', () => {
    const done: string[] = []
    let isMine = true
    part({
      'rules.new': () => {
        done.push('view')
        return isMine
      },
    })
    part({ 'frame.incident': () => void done.push('frame'), 'frame.note': () => void done.push('note') })
    press('n')
    expect(done).toEqual(['view'])
    isMine = false
    expect(press('n')).toBe(true)
    expect(done).toEqual(['view', 'view', 'frame'])
    press('N', { shiftKey: true })
    expect(done.at(-1)).toBe('note')
  })

  it('is the chosen one, not the default', () => {
    const live = vi.fn()
    part({ 'time.live': live })
    useKeymapStore().chosen = { 'time.live': ['mod+Shift+l', 'q l'] }
    expect(press('l')).toBe(false)
    press('L', { ctrlKey: true, shiftKey: true })
    press('q')
    press('l')
    expect(live).toHaveBeenCalledTimes(2)
  })
})

describe('presses one after the other', () => {
  const sort = vi.fn()
  const live = vi.fn()
  function begin(): void {
    sort.mockClear()
    live.mockClear()
    part({ 'time.live': live, 'time.event-next': sort })
    useKeymapStore().chosen = { 'time.event-next': ['q r', 'q Shift+r'] }
  }

  it('are awaited, shown, and dropped after a while', () => {
    vi.useFakeTimers()
    begin()
    expect(press('q')).toBe(true)
    expect(pending.value).toBe('q')
    press('Shift', { shiftKey: true })
    press('R', { shiftKey: true })
    expect([sort.mock.calls.length, pending.value]).toEqual([1, ''])
    press('q')
    vi.advanceTimersByTime(5000)
    expect(pending.value).toBe('')
    expect(press('r')).toBe(false)
    expect(sort).toHaveBeenCalledOnce()
  })

  it('are canceled by Escape, and by a key that does not continue them, which is then handled itself', () => {
    begin()
    const clear = vi.fn()
    part({ 'frame.clear': clear })
    press('q')
    expect(press('Escape')).toBe(true)
    expect([pending.value, clear.mock.calls.length]).toEqual(['', 0])
    press('q')
    press('l')
    expect([pending.value, live.mock.calls.length, sort.mock.calls.length]).toEqual(['', 1, 0])
  })

  it('are consumed even if nothing handles their command', () => {
    const incident = vi.fn()
    part({ 'time.event-next': () => false, 'frame.incident': incident })
    useKeymapStore().chosen = { 'time.event-next': ['q n'] }
    press('q')
    expect(press('n')).toBe(true)
    expect([pending.value, incident.mock.calls.length]).toEqual(['', 0])
    press('n')
    expect(incident).toHaveBeenCalledOnce()
  })

  it('are not awaited if nothing handles them', () => {
    begin()
    for (const wrapper of mounted.splice(0)) wrapper.unmount()
    part({ 'frame.clear': () => undefined })
    expect(press('q')).toBe(false)
    expect(pending.value).toBe('')
  })
})

it('runs a command by name, with the handler mounted last', () => {
  const done: string[] = []
  part({ 'rules.new': () => void done.push('first') })
  const last = part({ 'rules.new': () => void done.push('last') })
  expect([runCommand('rules.new'), runCommand('rules.stage')]).toEqual([true, false])
  last.unmount()
  runCommand('rules.new')
  expect(done).toEqual(['last', 'first'])
  expect([...handledCommands()]).toEqual(['rules.new'])
})
