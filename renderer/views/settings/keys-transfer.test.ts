import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { describe, expect, it, vi } from 'vitest'
import { useKeymapStore } from '../../commands/keymap.ts'
import { useShellStore } from '../../stores/shell.ts'
import { recordEdits } from '../../stores/undo-watch.ts'
import { useUndoStore } from '../../stores/undo.ts'
import { freshPage } from '#tests/kits/renderer/view-page.ts'
import KeysSection from './KeysSection.vue'

vi.setConfig({ testTimeout: 20_000 })
let wrapper: VueWrapper
freshPage(1200, () => {
  wrapper.unmount()
  localStorage.clear()
})
function open(): ReturnType<typeof useKeymapStore> {
  localStorage.clear()
  wrapper = mount(KeysSection, { attachTo: document.body })
  return useKeymapStore()
}
const find = (testid: string) => wrapper.find(`[data-testid="${testid}"]`)
const status = () => find('keys-said').text()
const textOf = (keys: object): string => JSON.stringify({ kind: 'sluice-keymap', version: 1, keys })
async function choose(text: string, name = 'keys.json'): Promise<void> {
  const input = find('keys-file')
  Object.defineProperty(input.element, 'files', { value: [new File([text], name)], configurable: true })
  await input.trigger('change')
  await vi.waitFor(() => expect(find('keys-opened').exists()).toBe(true))
  await flushPromises()
}

describe('a keymap file', () => {
  it('is exported, and imported after a preview as one edit', async () => {
    const keymap = open()
    keymap.choose('time.live', 'mod+Shift+l', 'l')
    const save = vi.spyOn(useShellStore(), 'save').mockResolvedValue({ kind: 'downloaded' })
    await find('keys-export').trigger('click')
    const [name, blob] = save.mock.calls[0] ?? []
    expect([name, status()]).toEqual(['sluice-keys.json', 'Keys exported to a file'])
    save.mockResolvedValue({ kind: 'cancelled' })
    await find('keys-export').trigger('click')
    await flushPromises()
    expect(status()).toBe('')
    const text = (await blob?.text()) ?? ''
    keymap.resetAll()
    recordEdits()

    await choose(text)
    expect(find('keys-opened').text()).toContain('changes the keys of 1 command')
    expect(keymap.keysOf('time.live')).toEqual(['l'])
    await find('keys-take').trigger('click')
    expect(keymap.keysOf('time.live')).toEqual(['mod+Shift+l'])
    expect([find('keys-opened').exists(), status()]).toEqual([false, 'Keys imported from the file'])
    await useUndoStore().undo()
    expect(keymap.keysOf('time.live')).toEqual(['l'])
  })

  it('with conflicts lists them all, changes nothing, and can be applied without them', async () => {
    const keymap = open()
    keymap.choose('time.event-next', 'q')
    await choose(textOf({ 'time.live': ['c'], 'frame.stop-all': ['w'], 'time.back': ['F2'], 'gone.verb': ['u'] }))
    const conflicts = wrapper.findAll('[data-testid="keys-conflicts"] li').map((li) => li.text())
    expect(conflicts.some((line) => line.includes('Compare: pin A'))).toBe(true)
    expect(conflicts.some((line) => line.includes('need a combination'))).toBe(true)
    expect(status()).toContain('was not imported')
    expect([keymap.keysOf('time.live'), keymap.keysOf('time.event-next')]).toEqual([['l'], [']', 'q']])
    expect(find('keys-take').text()).toContain('1 command without conflicts')
    await find('keys-take').trigger('click')
    expect([keymap.keysOf('time.back'), keymap.keysOf('time.live'), keymap.keysOf('time.pin-a')]).toEqual([
      ['F2'],
      ['l'],
      ['c'],
    ])
  })

  it('that is not a keymap changes nothing, and the import can be cancelled', async () => {
    const keymap = open()
    keymap.choose('time.live', 'q', 'l')
    const before = keymap.exportText()
    for (const bad of ['', '{', '[]', '\u0000\u0001', textOf({ 'time.live': 'q' }), 'x'.repeat(500_000)]) {
      await choose(bad, 'a\u202Eb.json')
      expect(find('keys-opened').text()).toContain('was not imported')
      expect(find('keys-opened').text()).toContain('No keys were changed')
      expect(find('keys-opened').text()).not.toContain('\u202E')
      expect(find('keys-take').exists()).toBe(false)
      await find('keys-leave').trigger('click')
      expect([find('keys-opened').exists(), keymap.exportText()]).toEqual([false, before])
    }
  })
})
