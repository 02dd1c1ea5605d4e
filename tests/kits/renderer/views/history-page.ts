/** Page for its tests: mounted over a sample host, with a router that has the linked views. */
import { mount, type VueWrapper } from '@vue/test-utils'
import { beforeEach, expect, vi } from 'vitest'
import { createMemoryHistory, createRouter, type Router } from 'vue-router'
import type { StatusFrame } from '#core/api/frames.ts'
import type { HistoryFrame } from '#core/api/history.ts'
import { useSourceStore } from '#renderer/stores/source.ts'
import { freshPage } from '../view-page.ts'
import HistoryView from '#renderer/views/history/HistoryView.vue'
import { DAY, historyFrame, NOW_MS, openHistoryHost, TODAY, type HistoryHost } from './history-host.ts'

export interface HistoryPage {
  host: HistoryHost
  wrapper: VueWrapper
  router: Router
}

/** The plot over which spans are dragged: 600 px of 144 s. */
const PLOT = { left: 100, top: 0, width: 600, height: 174, right: 700, bottom: 174, x: 100, y: 0, toJSON: () => '' }
export const xOf = (ms: number): number => PLOT.left + ((ms - TODAY) / DAY) * PLOT.width

/** Page that is empty until `open`; unmounted after each test. */
export function historyPage() {
  const page = {} as HistoryPage
  freshPage(900, () => page.wrapper.unmount())
  beforeEach(() => {
    vi.spyOn(HTMLElement.prototype, 'getBoundingClientRect').mockReturnValue(PLOT)
  })
  /** Only the last day of the week: 672 cells are slow without a real page. */
  const open = (frame: HistoryFrame = historyFrame(), source: Partial<StatusFrame> = {}): Promise<void> =>
    openWhole({ ...frame, week: frame.week.slice(-1) }, source)
  async function openWhole(frame: HistoryFrame, source: Partial<StatusFrame> = {}): Promise<void> {
    page.host = openHistoryHost(frame)
    useSourceStore().apply({
      source: { cluster: 'altair', env: 'PROD', kind: 'LIVE' },
      atMs: NOW_MS,
      sample: 52_320,
      oldest: 1,
      staged: 0,
      mode: 'observe',
      clock: { intervalMs: 1000 },
      notices: [],
      ...source,
    } as unknown as StatusFrame)
    const component = { template: '<i />' }
    page.router = createRouter({
      history: createMemoryHistory(),
      routes: [
        { path: '/', name: 'history', component },
        { path: '/jobs', name: 'jobs', component },
        { path: '/metadata', name: 'metadata', component },
        { path: '/sandbox', name: 'sandbox', component },
      ],
    })
    page.wrapper = mount(HistoryView, { attachTo: document.body, global: { plugins: [page.router] } })
    await vi.waitFor(() => expect(page.host.acks).toBeGreaterThan(0), { timeout: 5000 })
  }
  const find = (testid: string) => page.wrapper.find(`[data-testid="${testid}"]`)
  const all = (testid: string) => page.wrapper.findAll(`[data-testid="${testid}"]`)
  /** Dialogs and popovers are outside of the view. */
  function out(testid: string): HTMLElement {
    const element = document.querySelector<HTMLElement>(`[data-testid="${testid}"]`)
    if (!element) throw new Error(`no ${testid}`)
    return element
  }
  /** Presses a key of the view. */
  const press = (key: string, more: KeyboardEventInit = {}): void => {
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more }))
  }
  const lastQuery = () => page.host.queries.at(-1)
  const called = (verb: string) => page.host.calls.filter((c) => c.verb === verb).map((c) => c.input)
  async function drag(fromMs: number, toMs: number): Promise<void> {
    const layer = find('spans')
    await layer.trigger('pointerdown', { button: 0, clientX: xOf(fromMs), pointerId: 1 })
    await layer.trigger('pointermove', { clientX: xOf((fromMs + toMs) / 2) })
    await layer.trigger('pointermove', { clientX: xOf(toMs) })
    await layer.trigger('pointerup', { clientX: xOf(toMs) })
  }
  return { page, open, openWhole, find, all, out, press, lastQuery, called, drag }
}
