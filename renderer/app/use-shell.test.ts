/** Window inside the desktop shell: menu, events and saved files. */
import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { describe, expect, it, vi } from 'vitest'
import { defineComponent, h } from 'vue'
import { createMemoryHistory, createRouter, type Router } from 'vue-router'
import type { MenuModel, ShellEvent } from '#core/api/shell.ts'
import { useCommands } from '../composables/use-commands.ts'
import { useKeymapStore } from '../commands/keymap.ts'
import type { Client } from '../stores/client.ts'
import { useConnectionStore } from '../stores/connection.ts'
import { useIncidentsStore } from '../stores/incidents.ts'
import { useShellStore } from '../stores/shell.ts'
import { freshPage } from '#tests/kits/renderer/view-page.ts'
import NoticeList from './NoticeList.vue'
import { useShell } from './use-shell.ts'

let wrapper: VueWrapper
let router: Router
freshPage(1200, () => wrapper.unmount())

function hostWith(has: boolean) {
  const seen = { menus: [] as MenuModel[], parts: [] as { at: number; base64: string; isLast: boolean }[], dropped: 0 }
  const world = { id: 'save-1' as string | null, fault: null as Error | null }
  const waiting: ((event: ShellEvent) => void)[] = []
  const shell = {
    about: () =>
      Promise.resolve({
        saves: has,
        menu: has,
        notifies: has,
        links: has,
        secrets: { can: false, why: '', kept: [] },
      }),
    setMenu: (menu: MenuModel) => Promise.resolve(void seen.menus.push(menu)),
    save: () => Promise.resolve({ id: world.id }),
    put: (part: (typeof seen.parts)[number]) => {
      if (world.fault) return Promise.reject(world.fault)
      seen.parts.push(part)
      return Promise.resolve({ name: part.isLast ? 'jobs.csv' : null })
    },
    drop: () => Promise.resolve(void seen.dropped++),
    events: async () =>
      (async function* () {
        for (;;) yield await new Promise<ShellEvent>((resolve) => waiting.push(resolve))
      })(),
  }
  const emit = async (event: ShellEvent): Promise<void> => {
    waiting.shift()?.(event)
    await flushPromises()
  }
  return { api: { shell } as unknown as Client, seen, world, emit }
}

const palette = vi.fn()
async function open(has = true) {
  const host = hostWith(has)
  router = createRouter({
    history: createMemoryHistory(),
    routes: ['overview', 'jobs', 'incidents'].map((name) => ({
      path: `/${name}`,
      name,
      component: { render: () => null },
    })),
  })
  await router.push({ name: 'overview' })
  const page = defineComponent(() => {
    useShell()
    useCommands({ 'frame.palette': palette })
    return () => h(NoticeList)
  })
  wrapper = mount(page, { global: { plugins: [router] } })
  useConnectionStore().opened({ api: host.api })
  await flushPromises()
  return host
}

describe('the desktop', () => {
  it('is sent the menu, again when the view or a key changes, and to the next host', async () => {
    const { seen, api } = await open()
    const titles = (): string[] => seen.menus.at(-1)?.menus.map((m) => m.title) ?? []
    expect(titles()).toContain('Console')
    await router.push({ name: 'jobs' })
    await flushPromises()
    expect(titles().at(-1)).toBe('Jobs')
    useKeymapStore().chosen = { 'frame.palette': ['mod+p'] }
    await flushPromises()
    expect(JSON.stringify(seen.menus.at(-1))).toContain('CmdOrCtrl+P')
    const before = seen.menus.length
    useConnectionStore().lost(500)
    await flushPromises()
    useConnectionStore().opened({ api })
    await flushPromises()
    expect(seen.menus.length).toBeGreaterThan(before)
  })

  it('triggers commands, opens alerts, and reports locks after sleep', async () => {
    const { emit } = await open()
    palette.mockClear()
    await emit({ kind: 'command', id: 'frame.palette' })
    await emit({ kind: 'command', id: 'no.such' })
    expect(palette).toHaveBeenCalledOnce()

    await emit({ kind: 'alert', id: 'a', incident: null })
    expect(useShellStore().isAlertsOpen).toBe(true)
    await emit({ kind: 'alert', id: 'a', incident: 'INC-0001' })
    expect(router.currentRoute.value.name).toBe('incidents')
    expect(useIncidentsStore().chosen).toBe('INC-0001')

    await emit({ kind: 'power', what: 'resume', locked: [] })
    expect(wrapper.text()).toBe('')
    await emit({ kind: 'power', what: 'suspend', locked: ['altair'] })
    expect(wrapper.text()).toContain('Writing was locked: altair: this machine was suspended.')
  })

  it('saves a file at the chosen path, in chunks that fit a message', async () => {
    const { seen, world } = await open()
    const bytes = new Uint8Array(1_200_000).fill(7)
    expect(await useShellStore().save('jobs.csv', new Blob([bytes]))).toEqual({ kind: 'saved', name: 'jobs.csv' })
    expect(seen.parts.map((p) => [p.at, p.isLast])).toEqual([
      [0, false],
      [524_288, false],
      [1_048_576, true],
    ])
    for (const part of seen.parts) expect(part.base64.length).toBeLessThanOrEqual(700_000)
    expect(seen.parts.reduce((sum, p) => sum + atob(p.base64).length, 0)).toBe(bytes.length)

    world.id = null
    expect(await useShellStore().save('jobs.csv', new Blob(['1']))).toEqual({ kind: 'cancelled' })
    world.id = 'save-2'
    world.fault = new Error('no space left')
    expect((await useShellStore().save('jobs.csv', new Blob(['1']))).kind).toBe('failed')
    await flushPromises()
    expect([seen.dropped, wrapper.text()]).toEqual([1, expect.stringContaining('no space left')])
  })
})

it('in a browser a file is a download, and no menu is sent', async () => {
  const { seen } = await open(false)
  const click = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(() => undefined)
  expect(await useShellStore().save('jobs.csv', new Blob(['1']))).toEqual({ kind: 'downloaded' })
  expect(click).toHaveBeenCalledOnce()
  expect([seen.menus, seen.parts]).toEqual([[], []])
})
