import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { describe, expect, it } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import { useConnectionStore } from '../stores/connection.ts'
import { resetForSource } from '../stores/source-switch.ts'
import { useSourceStore, type Naming } from '../stores/source.ts'
import { useTimeStore } from '../stores/time.ts'
import { freshPage } from '#tests/kits/renderer/view-page.ts'
import { FROM, MARKUP, openBundleHost, showStatus, TO } from '#tests/kits/renderer/views/bundle-host.ts'
import { bundleText, playbackText, windowTitle } from './source-text.ts'
import StatusBar from './StatusBar.vue'
import TimeStrip from './TimeStrip.vue'

const bundle = { title: 'x', env: 'PROD' as const, redacted: true, verified: true }
const playback = { file: 'INC-0042', tier: 'raw' as const, fromMs: FROM, toMs: TO, bundle }
const naming = (more: object = {}): Naming => ({
  kind: 'RECORDED',
  cluster: 'altair',
  playback: { ...playback, bundle: { ...bundle, ...more } },
})

describe('a bundle on screen', () => {
  it('is named by file, cluster and integrity', () => {
    expect(bundleText(naming())).toEqual({
      name: 'INC-0042.zip',
      cluster: 'altair',
      of: 'of altair PROD, 14:27 to 14:37',
      names: 'names are pseudonyms',
      integrity: { level: 'ok', word: 'integrity verified' },
    })
    expect(bundleText(naming({ verified: false, redacted: false }))).toMatchObject({
      names: 'with names',
      integrity: { level: 'bad', word: 'integrity NOT verified' },
    })
    expect(playbackText(naming())).toBe('INC-0042.zip, of altair PROD')
    expect(windowTitle(naming(), false)).toBe('RECORDED altair, INC-0042 \u00B7 Sluice')
    expect(bundleText({ kind: 'LIVE', cluster: 'altair', playback: null })).toBeNull()
  })

  it('escapes bidi controls in its name', () => {
    const shown = bundleText({ ...naming(), cluster: `a\u202E${MARKUP}` })
    expect(shown?.of).toContain(`of a\u2039202E\u203A${MARKUP} PROD`)
  })
})

describe('the status bar', () => {
  let wrapper: VueWrapper
  freshPage(1200, () => wrapper.unmount())
  const find = (id: string) => wrapper.find(`[data-testid="${id}"]`)
  async function open(): Promise<void> {
    openBundleHost()
    const routes = [{ path: '/', name: 'overview', component: { template: '<i />' } }]
    const plugins = [createRouter({ history: createMemoryHistory(), routes })]
    wrapper = mount(StatusBar, { attachTo: document.body, global: { plugins } })
    await flushPromises()
  }
  const recorded = { cluster: 'cluster-1', env: 'DEMO', kind: 'RECORDED', sinceMs: 0 }

  it('names a bundle and the source behind it, until live again', async () => {
    showStatus({ source: { cluster: 'demo', env: 'DEMO', kind: 'EMULATED', sinceMs: 0 } })
    await open()
    showStatus({ source: recorded, playback: { ...playback, bundle: { ...bundle, verified: false } }, turn: 1 })
    await flushPromises()
    expect(find('bundle-name').text()).toBe('RECORDEDINC-0042.zip')
    expect(find('bundle-of').text()).toBe('of cluster-1 PROD, 14:27 to 14:37')
    expect(find('bundle-integrity').find('.st.bad').text()).toBe('integrity NOT verified')
    expect(find('behind').text()).toBe('demo continues in the background')
    expect(wrapper.text()).toContain('read-only')
    // The frame of the window has the color of the cluster that the bundle was exported from.
    expect(useSourceStore().frame?.source.env).toBe('PROD')
    expect(useSourceStore().isHatched).toBe(true)
    resetForSource()
    useTimeStore().live()
    showStatus({ source: { cluster: 'demo', env: 'DEMO', kind: 'EMULATED', sinceMs: 0 }, turn: 2 })
    await flushPromises()
    expect(find('bundle-name').exists()).toBe(false)
    expect(useSourceStore().frame?.source.env).toBe('DEMO')
  })
})

describe('a tab without a valid key', () => {
  let wrapper: VueWrapper | undefined
  freshPage(1440, () => wrapper?.unmount())

  it('is disconnected, not connecting, and shows what is needed', async () => {
    const routes = [{ path: '/', name: 'overview', component: { template: '<i />' } }]
    const plugins = [createRouter({ history: createMemoryHistory(), routes })]
    wrapper = mount(TimeStrip, { attachTo: document.body, global: { plugins } })
    expect(wrapper.get('[data-testid="source-word"]').text()).toBe('CONNECTING')
    useConnectionStore().refused()
    await flushPromises()
    expect(wrapper.get('[data-testid="source-word"]').text()).toBe('DISCONNECTED')
    expect(wrapper.text()).toContain('open a new address')
  })
})
