/** Page for its tests: mounted over a sample host, with a router that has the linked views. */
import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { expect, vi } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import type { StatusFrame } from '#core/api/frames.ts'
import type { IncidentsFrame } from '#core/api/incidents.ts'
import { useSourceStore } from '#renderer/stores/source.ts'
import { freshPage } from '../view-page.ts'
import IncidentsView from '#renderer/views/incidents/IncidentsView.vue'
import { incidentsFrame, NOW_MS, openIncidentsHost, type IncidentsHost } from './incidents-host.ts'

export const status = (more: Record<string, unknown> = {}): StatusFrame =>
  ({
    source: { cluster: 'altair', env: 'PROD', kind: 'LIVE' },
    atMs: NOW_MS,
    sample: 52_320,
    oldest: 1,
    staged: 0,
    mode: 'observe',
    clock: { intervalMs: 1000 },
    notices: [],
    ...more,
  }) as unknown as StatusFrame

export function incidentsPage(width = 1400) {
  const page = {} as { host: IncidentsHost; wrapper: VueWrapper }
  freshPage(width, () => page.wrapper.unmount())
  async function open(frame: IncidentsFrame = incidentsFrame()): Promise<void> {
    page.host = openIncidentsHost(frame)
    useSourceStore().apply(status())
    const component = { template: '<i />' }
    const router = createRouter({
      history: createMemoryHistory(),
      routes: [{ path: '/', name: 'incidents', component }],
    })
    page.wrapper = mount(IncidentsView, { attachTo: document.body, global: { plugins: [router] } })
    await settle(1)
    // The first frame lists the notebooks; the next one has the first of them.
    if (frame.selected !== null) await vi.waitFor(() => expect(find('notebook').exists()).toBe(true))
  }
  async function settle(least: number): Promise<void> {
    await vi.waitFor(() => expect(page.host.acks).toBeGreaterThanOrEqual(least), { timeout: 5000 })
    await flushPromises()
  }
  async function send(frame: IncidentsFrame): Promise<void> {
    const before = page.host.acks
    page.host.send(frame)
    await settle(before + 1)
  }
  const find = (testid: string) => page.wrapper.find(`[data-testid="${testid}"]`)
  const all = (testid: string) => page.wrapper.findAll(`[data-testid="${testid}"]`)
  const cell = (id: string) => page.wrapper.find(`[data-cell="${id}"]`)
  /** Menus are outside of the view. */
  const out = (testid: string): HTMLElement | null => document.querySelector(`[data-testid="${testid}"]`)
  const press = async (key: string, more: KeyboardEventInit = {}): Promise<void> => {
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more }))
    await flushPromises()
  }
  const called = (verb: string) => page.host.calls.filter((c) => c.verb === verb).map((c) => c.input)
  return { page, open, send, find, all, cell, out, press, called }
}
