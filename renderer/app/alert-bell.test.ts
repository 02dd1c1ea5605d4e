import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { describe, expect, it, vi } from 'vitest'
import { createMemoryHistory, createRouter, type Router } from 'vue-router'
import type { Alert } from '#core/api/incidents.ts'
import { useConnectionStore } from '../stores/connection.ts'
import { useIncidentsStore } from '../stores/incidents.ts'
import { freshPage } from '#tests/kits/renderer/view-page.ts'
import {
  alertOf,
  FROM,
  MARKUP,
  notice,
  NOW,
  openBundleHost,
  ruleFace,
  showStatus,
  TURNED,
  type BundleHost,
} from '#tests/kits/renderer/views/bundle-host.ts'
import AlertBell from './AlertBell.vue'

vi.setConfig({ testTimeout: 20_000 })
let wrapper: VueWrapper = null!
let host: BundleHost = null!
let router: Router = null!
freshPage(1200, () => wrapper.unmount())

async function open(alerts: Alert[] | undefined = []): Promise<void> {
  host = openBundleHost()
  showStatus({ alerts })
  const component = { template: '<i />' }
  router = createRouter({
    history: createMemoryHistory(),
    routes: [
      { path: '/', name: 'overview', component },
      { path: '/incidents', name: 'incidents', component },
    ],
  })
  wrapper = mount(AlertBell, { attachTo: document.body, global: { plugins: [router] } })
  await flushPromises()
}
const find = (testid: string) => wrapper.find(`[data-testid="${testid}"]`)
const out = (testid: string) => document.querySelector<HTMLElement>(`[data-testid="${testid}"]`)
const outs = (testid: string) => [...document.querySelectorAll<HTMLElement>(`[data-testid="${testid}"]`)]
const called = (verb: string) => host.calls.filter((c) => c.verb === verb).map((c) => c.input)
const announced = () => find('alert-said').text()
async function openList(): Promise<void> {
  await find('alerts').trigger('click')
  await vi.waitFor(() => expect(out('alert-list')).not.toBeNull())
}
async function enter(input: HTMLInputElement, text: string): Promise<void> {
  input.value = text
  input.dispatchEvent(new Event('input', { bubbles: true }))
  input.dispatchEvent(new Event('change', { bubbles: true }))
  await flushPromises()
}

describe('the bell', () => {
  it('shows no active alerts, also for a source without alerts', async () => {
    await open(undefined)
    expect(find('alerts').attributes('aria-label')).toBe('Alerts: none active')
    await openList()
    expect(out('alert-list')!.textContent).toContain('none active')
    expect(outs('alert')).toHaveLength(0)
  })

  it('counts active alerts, has their highest level, and repeats both in its label', async () => {
    await open([
      alertOf('a', { level: 'watch' }),
      alertOf('b', { level: 'bad' }),
      alertOf('c', { level: 'bad', endMs: NOW }),
    ])
    const bell = find('alerts')
    expect(bell.attributes('aria-label')).toBe('Alerts: 2 active, critical')
    expect(bell.text()).toBe('2')
    expect(bell.find('.st.bad').exists()).toBe(true)
    showStatus({ alerts: [alertOf('a', { endMs: NOW })] })
    await flushPromises()
    expect(bell.attributes('aria-label')).toBe('Alerts: none active')
    expect(bell.text()).toBe('')
  })

  it('announces a new alert once, and not existing ones', async () => {
    await open([alertOf('old')])
    expect(announced()).toBe('')
    showStatus({ alerts: [alertOf('new', { text: `Convoy ${TURNED}` }), alertOf('old')] })
    await flushPromises()
    expect(announced()).toBe('Alert, warning: Convoy 4690.\u2039202E\u203Agnp.exe, OST0003')
    const region = find('alert-said').element
    const changes = vi.fn()
    new MutationObserver(changes).observe(region, { childList: true, characterData: true, subtree: true })
    for (let i = 0; i < 3; i++) showStatus({ alerts: [alertOf('new'), alertOf('old')] })
    await flushPromises()
    expect(changes).not.toHaveBeenCalled()
    showStatus({ alerts: [alertOf('x'), alertOf('y'), alertOf('new')] })
    await flushPromises()
    expect(announced()).toContain('and 1 more alert')
  })

  it('lists active alerts first, with links to the start and the incident', async () => {
    await open([
      alertOf('over', { fromMs: FROM + 60_000, endMs: FROM + 320_000 }),
      alertOf('on', { text: MARKUP, where: TURNED, incident: 'INC-0042' }),
    ])
    await openList()
    const [first, second] = outs('alert').map((e) => e.textContent)
    expect(first).toContain(`warning${MARKUP}`)
    expect(first).toContain('since 14:27:00, 10 min 31 s')
    expect(first).not.toContain('\u202E')
    expect(second).toContain('14:28:00 to 14:32:20, lasted 4 min 20 s')
    expect(document.querySelector('img')).toBeNull()
    outs('alert-go')[0]!.click()
    await vi.waitFor(() => expect(called('goTo')).toEqual([{ atMs: FROM }]))
    await vi.waitFor(() => expect(out('alert-list')).toBeNull())
    await openList()
    out('alert-incident')!.click()
    await vi.waitFor(() => expect(router.currentRoute.value.name).toBe('incidents'))
    expect(useIncidentsStore().chosen).toBe('INC-0042')
  })
})

describe('the alert rules', () => {
  const field = (name: string) => out(name) as HTMLInputElement
  async function openRules(): Promise<void> {
    await openList()
    out('alert-rules-open')!.click()
    await vi.waitFor(() => expect(out('alert-rule')).not.toBeNull())
  }
  const send = { kind: 'queue', on: true, threshold: 4, forS: 30, opens: true }

  it('describe the comparison, and apply a value when it is entered', async () => {
    await open()
    await openRules()
    expect(out('alert-rule')!.textContent).toContain('Queued RPCs of a target against what is usual of it')
    expect(out('alert-usual-queue')).toBeNull()
    await enter(field('alert-threshold-queue'), '6,5')
    expect(called('setAlertRule')).toEqual([{ ...send, threshold: 6.5 }])
    out('alert-on-queue')!.click()
    await flushPromises()
    expect(called('setAlertRule').at(-1)).toEqual({ ...send, threshold: 6.5, on: false })
    out('alert-usual-queue')!.click()
    await flushPromises()
    expect(called('setAlertRule').at(-1)).toEqual(send)
    expect(out('alert-usual-queue')).toBeNull()
  })

  it('are grouped by plane, each with its clear level', async () => {
    await open()
    host.rules = [
      ruleFace(),
      ruleFace({ kind: 'stage', title: 'Lost stage', plane: 'metadata', unit: 'stages', clear: 0, holdS: 5 }),
      ruleFace({ kind: 'controller', title: 'No metadata controller', plane: 'metadata', clear: 0, holdS: 0 }),
    ]
    await openRules()
    const groups = [...out('alert-rules')!.querySelectorAll('section')].map((section) => [
      section.getAttribute('aria-label'),
      [...section.querySelectorAll('[data-testid="alert-rule"]')].map((row) => row.getAttribute('data-kind')),
    ])
    expect(groups).toEqual([
      ['Data RPCs', ['queue']],
      ['Metadata', ['stage', 'controller']],
    ])
    expect(outs('alert-clears').map((e) => e.textContent)).toEqual([
      'Ends below 2 \u00D7 for 15 s.',
      'Ends at 0 for 5 s.',
      'Ends at 0.',
    ])
  })

  it('mark a field that is out of range, and send nothing', async () => {
    await open()
    await openRules()
    await enter(field('alert-threshold-queue'), '0.5')
    expect(out('alert-rule')!.textContent).toContain('1.50 to 100 \u00D7')
    await enter(field('alert-forS-queue'), 'soon')
    expect(out('alert-rule')!.textContent).toContain('Enter a number')
    expect(called('setAlertRule')).toEqual([])
    // Esc reverts the invalid field and does not close the dialog.
    field('alert-forS-queue').dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))
    await flushPromises()
    expect(field('alert-forS-queue').value).toBe('30')
    expect(out('alert-rules')).not.toBeNull()
  })

  it('keep the value if the host refuses, with the reason in the row', async () => {
    await open()
    await openRules()
    host.refuse = { verb: 'setAlertRule', notice: notice('DISK_FULL', 'The alert rule was not changed') }
    await enter(field('alert-threshold-queue'), '8')
    expect(out('alert-fault')!.textContent).toBe('The alert rule was not changed: there is one')
    expect(out('alert-usual-queue')).toBeNull()
    await enter(field('alert-threshold-queue'), '9')
    expect(out('alert-fault')).toBeNull()
  })

  it('report a missing host, and a host without rules', async () => {
    await open()
    const line = useConnectionStore()
    const api = line.host!
    await openList()
    line.lost(null)
    out('alert-rules-open')!.click()
    await vi.waitFor(() => expect(out('alert-rules')!.textContent).toContain('NO_HOST'))
    line.opened(api)
    out('alert-rules-close')!.click()
    await vi.waitFor(() => expect(out('alert-rules')).toBeNull())
    host.rules = []
    await openList()
    out('alert-rules-open')!.click()
    await vi.waitFor(() => expect(out('no-alert-rules')).not.toBeNull())
    host.rules = [ruleFace()]
  })
})
