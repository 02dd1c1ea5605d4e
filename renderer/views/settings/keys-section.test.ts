import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { describe, expect, it, vi } from 'vitest'
import { useKeymapStore } from '../../commands/keymap.ts'
import { freshPage } from '#tests/kits/renderer/view-page.ts'
import KeysSection from './KeysSection.vue'

vi.setConfig({ testTimeout: 20_000 })
let wrapper: VueWrapper
freshPage(1200, () => {
  wrapper.unmount()
  localStorage.clear()
})
function open(): void {
  localStorage.clear()
  wrapper = mount(KeysSection, { attachTo: document.body })
}
const row = (id: string) => wrapper.find(`[data-key-row="${id}"]`)
const status = () => wrapper.find('[data-testid="keys-said"]').text()
async function record(...keys: KeyboardEventInit[]): Promise<void> {
  await flushPromises()
  const field = wrapper.find('[data-testid="key-recorder"]')
  expect(document.activeElement).toBe(field.element)
  for (const key of [...keys, { key: 'Enter' }])
    field.element.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, cancelable: true, ...key }))
  await flushPromises()
}

describe('keyboard shortcuts', () => {
  it('are changed by pressing them, announced, and reset', async () => {
    open()
    await row('time.live').find('[data-testid="key-change"]').trigger('click')
    await record({ key: 'Q', shiftKey: true })
    expect(useKeymapStore().keysOf('time.live')).toEqual(['Shift+q'])
    expect([row('time.live').text().includes('Shift Q'), status()]).toEqual([true, expect.stringContaining('Shift Q')])
    expect(row('time.live').element.contains(document.activeElement)).toBe(true)
    await row('time.live').find('[data-testid="key-reset"]').trigger('click')
    expect([useKeymapStore().keysOf('time.live'), row('time.live').find('[data-testid="key-reset"]').exists()]).toEqual(
      [['l'], false],
    )
  })

  it('show the owner of a key, which can be swapped or reassigned', async () => {
    open()
    await row('time.live').find('[data-testid="key-change"]').trigger('click')
    await record({ key: 'c' })
    const refused = wrapper.find('[data-testid="key-refused"]')
    expect(refused.text()).toContain('Compare: pin A')
    expect(useKeymapStore().keysOf('time.live')).toEqual(['l'])
    await refused.find('[data-testid="key-swap"]').trigger('click')
    expect([useKeymapStore().keysOf('time.live'), useKeymapStore().keysOf('time.pin-a')]).toEqual([['c'], ['l']])
    expect(wrapper.find('[data-testid="key-refused"]').exists()).toBe(false)
  })

  it('refuse a single key for dangerous commands, and Esc cancels an edit', async () => {
    open()
    await row('frame.stop-all').find('[data-testid="key-add"]').trigger('click')
    await record({ key: 'q' })
    expect(wrapper.find('[data-testid="key-refused"]').text()).toContain('need a combination')
    await row('frame.stop-all').find('[data-testid="key-add"]').trigger('click')
    await record({ key: 'Escape' })
    expect(useKeymapStore().keysOf('frame.stop-all')).toEqual([])
  })

  it('cannot be changed if they are fixed, and are found by command or key', async () => {
    open()
    expect(row('frame.clear').find('button').exists()).toBe(false)
    await wrapper.find('[data-testid="keymap-filter"]').setValue('pin a')
    expect(wrapper.findAll('[data-key-row]').map((r) => r.attributes('data-key-row'))).toEqual(['time.pin-a'])
    await wrapper.find('[data-testid="keymap-filter"]').setValue('ctrl k')
    expect(wrapper.findAll('[data-key-row]').map((r) => r.attributes('data-key-row'))).toContain('frame.palette')
  })
})
