import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { expect, it, vi } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import type { Host } from '../../stores/client.ts'
import { useConnectionStore } from '../../stores/connection.ts'
import { useSettingsStore } from '../../stores/settings.ts'
import { settingNames } from '../../stores/settings-schema.ts'
import { freshPage } from '#tests/kits/renderer/view-page.ts'
import { found, marked, settingEntries, valueEntries } from './entries.ts'
import SettingsView from './SettingsView.vue'

let wrapper: VueWrapper
freshPage(1200, () => wrapper?.unmount())

async function open(path = '/settings'): Promise<void> {
  const page = { render: () => null }
  const router = createRouter({
    history: createMemoryHistory(),
    routes: ['settings', 'history'].map((name) => ({ path: `/${name}`, name, component: page })),
  })
  await router.push(path)
  wrapper = mount(SettingsView, {
    attachTo: document.body,
    global: { plugins: [router], stubs: { KeysSection: true } },
  })
  await flushPromises()
  // Sections are drawn one per task, except in a search.
  if (!path.includes('?'))
    await vi.waitFor(() => expect(ids().length).toBeGreaterThanOrEqual(settingEntries.length - 1))
}
const ids = (): string[] =>
  [...document.querySelectorAll('.setting')].map(({ id }) => id.replace('setting-', '')).filter((id) => id !== '')
const at = (testid: string) => wrapper.find<HTMLInputElement>(`[data-testid="${testid}"]`)

it('lists every setting once, and all of them are found by their values', () => {
  expect(valueEntries.map((e) => e.id).toSorted()).toEqual(settingNames.toSorted())
  expect(new Set(settingEntries.map((e) => e.id)).size).toBe(settingEntries.length)
  expect(found('mib').map((e) => e.id)).toEqual(['bytes'])
  expect(found('dark THEME').map((e) => e.id)).toEqual(['theme'])
  expect(marked('MB or MiB', 'mib')).toEqual([
    { text: 'MB or ', isFound: false },
    { text: 'MiB', isFound: true },
  ])
})

it('filters by words, marks them, and offers to clear a search without matches', async () => {
  await open()
  await at('settings-search').setValue('cividis')
  expect(ids()).toEqual(['heat'])
  await at('settings-search').setValue('lightness')
  expect(document.querySelector('mark')?.textContent).toBe('lightness')
  await at('settings-search').setValue('nonsense')
  expect(at('settings-none').text()).toContain('Nothing matches')
  await at('settings-none').find('button').trigger('click')
  // Only the desktop stores passphrases.
  expect(ids()).toEqual(settingEntries.map((e) => e.id).filter((id) => id !== 'secrets'))
})

it('leaves the keyboard to commands until the search is used, and after Esc or Enter in it', async () => {
  await open()
  const search = at('settings-search')
  const list = wrapper.find<HTMLElement>('.list').element
  expect(document.activeElement).not.toBe(search.element)
  for (const [key, kept] of [
    ['Enter', 'cividis'],
    ['Escape', ''],
  ] as const) {
    search.element.focus()
    await search.setValue('cividis')
    await search.trigger('keydown', { key })
    expect([key, document.activeElement === list, search.element.value]).toEqual([key, true, kept])
  }
})

it('goes to the entry in the URL, or searches for other words', async () => {
  vi.spyOn(HTMLElement.prototype, 'scrollIntoView').mockImplementation(() => undefined)
  await open('/settings?find=clock')
  expect(document.activeElement?.id).toBe('setting-clock')
  wrapper.unmount()
  await open('/settings?find=known+hosts')
  expect(ids()).toEqual(['ssh'])
})

it('changes a setting, and resets it to its default', async () => {
  await open()
  const settings = useSettingsStore()
  await at('set-density-comfy').trigger('click')
  expect([settings.density, document.documentElement.dataset['density']]).toEqual(['comfy', 'comfy'])
  await at('reset-density').trigger('click')
  expect(settings.density).toBe('compact')
  expect(at('reset-density').exists()).toBe(false)
})

it('applies a text of settings as a whole, and refuses a faulty one with its place', async () => {
  await open()
  const settings = useSettingsStore()
  const text = (theme: string): string =>
    JSON.stringify({ sluice: 'settings', version: 1, settings: { theme, hz: 10 } })
  await at('settings-text').setValue(text('pink'))
  await at('settings-apply').trigger('click')
  expect(at('settings-fault').text()).toContain('settings.theme')
  expect(settings.hz).toBe(2)
  await at('settings-text').setValue(text('light'))
  await at('settings-apply').trigger('click')
  expect([settings.theme, settings.hz]).toEqual(['light', 10])
  settings.resetAll()
})

it('lists the passphrases that a keychain keeps, and forgets one of them or all', async () => {
  let kept = ['/home/ops/.ssh/a', '/home/ops/.ssh/b\u202E', '/home/ops/.ssh/c']
  const requests: (string | null)[] = []
  const api = {
    machine: { facts: () => Promise.reject(new Error('none')) },
    shell: {
      about: () => Promise.resolve({ secrets: { can: true, why: '', kept } }),
      forgetSecrets: ({ file }: { file: string | null }) => {
        requests.push(file)
        const left = file === null ? [] : kept.filter((k) => k !== file)
        const forgotten = kept.length - left.length
        kept = left
        return Promise.resolve({ forgotten })
      },
    },
  }
  useConnectionStore().opened({ api } as unknown as Host)
  await open('/settings?find=passphrases')
  expect(ids()).toEqual(['secrets'])
  const rows = (): string[] =>
    at('kept-secrets')
      .findAll('li .path')
      .map((row) => row.text())
  expect(rows()).toHaveLength(3)
  expect(at('kept-secrets').text()).not.toContain('\u202E')
  await at('kept-secrets').find('li:nth-child(2) button').trigger('click')
  await flushPromises()
  expect(requests).toEqual(['/home/ops/.ssh/b\u202E'])
  expect(rows()).toEqual(['/home/ops/.ssh/a', '/home/ops/.ssh/c'])
  expect(at('kept-secrets').text()).toContain('1 passphrase forgotten')
  expect(document.activeElement).toBe(at('kept-secrets').element)
  await at('forget-all').trigger('click')
  await flushPromises()
  expect([requests.at(-1), rows()]).toEqual([null, []])
})
