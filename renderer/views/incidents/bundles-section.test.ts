import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { describe, expect, it, vi } from 'vitest'
import type { IncidentsFrame } from '#core/api/incidents.ts'
import { nameFault, nameFor, nextFreeName } from '../../stores/bundle-name.ts'
import { PART_BYTES, useBundleUploadStore } from '../../stores/bundle-upload.ts'
import { useBundlesStore } from '../../stores/bundles.ts'
import { freshPage } from '#tests/kits/renderer/view-page.ts'
import BundlesSection from './BundlesSection.vue'
import {
  bundleRow,
  HASH,
  incidentsFrame,
  MARKUP,
  notice,
  openBundleHost,
  showFrame,
  showStatus,
  TURNED,
  type BundleHost,
} from '#tests/kits/renderer/views/bundle-host.ts'

vi.setConfig({ testTimeout: 20_000 })
let wrapper: VueWrapper = null!
let host: BundleHost = null!
freshPage(248, () => wrapper.unmount())

async function open(frame: Partial<IncidentsFrame> = {}): Promise<void> {
  host = openBundleHost()
  showStatus()
  showFrame(incidentsFrame({ bundles: [bundleRow('INC-0042.zip')], ...frame }))
  wrapper = mount(BundlesSection, { attachTo: document.body })
  await flushPromises()
}
const find = (testid: string) => wrapper.find(`[data-testid="${testid}"]`)
const rows = () => wrapper.findAll('[data-testid="bundle-row"]')
const called = (verb: string) => host.calls.filter((c) => c.verb === verb).map((c) => c.input)
function out(testid: string): HTMLElement {
  const element = document.querySelector<HTMLElement>(`[data-testid="${testid}"]`)
  if (!element) throw new Error(`no ${testid}`)
  return element
}
async function menu(item: string, row = 0): Promise<void> {
  const trigger = wrapper.findAll('[data-testid="bundle-menu"]')[row]!
  await trigger.trigger('keydown', { key: 'Enter' })
  await flushPromises()
  out(item).click()
  await flushPromises()
}
const file = (name: string, bytes: number | Uint8Array<ArrayBuffer> = 10): File =>
  new File([typeof bytes === 'number' ? new Uint8Array(bytes) : bytes], name)
function drag(type: string, files: File[] = [], more: object = {}): Event {
  const event = new Event(type, { bubbles: true, cancelable: true })
  Object.assign(event, { dataTransfer: { types: ['Files'], files, dropEffect: '' }, relatedTarget: null, ...more })
  window.dispatchEvent(event)
  return event
}

describe('the bundles', () => {
  it('show their range and redaction, and open as a recorded source', async () => {
    await open({ bundles: [bundleRow('INC-0042.zip'), bundleRow('all.zip', { redacted: false, title: '' })] })
    expect(rows().map((r) => r.text())).toEqual([
      'Write wait \u00D74 from one job on 5 targets2.4 MiBINC-0042.zippseudonyms14:27, 10 min',
      'Window without a notebook2.4 MiBall.zipwith names14:27, 10 min',
    ])
    await rows()[1]!.find('button').trigger('click')
    await flushPromises()
    expect(called('open')).toEqual([{ name: 'all.zip' }])
  })

  it('cannot be opened with a fault, which is shown', async () => {
    await open({ bundles: [bundleRow('half.zip', { title: '', fault: 'The archive ends before its last member' })] })
    expect(find('bundle-fault').text()).toBe('The archive ends before its last member')
    expect(rows()[0]!.find('button').attributes('disabled')).toBeDefined()
  })

  it('show foreign names as text, with bidi characters escaped', async () => {
    await open({ bundles: [bundleRow(`${TURNED}.zip`, { title: MARKUP, cluster: `a\u2066b` })] })
    expect(rows()[0]!.text()).toContain(MARKUP)
    expect(rows()[0]!.find('button').attributes('title')).toContain('a\u20392066\u203Ab')
    expect(rows()[0]!.html()).not.toContain('\u202E')
    expect(document.querySelector('img')).toBeNull()
  })

  it('render only the rows in view, of two hundred', async () => {
    await open({ bundles: Array.from({ length: 200 }, (_, i) => bundleRow(`b${i}.zip`)) })
    await vi.waitFor(() => expect(rows().length).toBeGreaterThan(3))
    expect(rows().length).toBeLessThan(40)
    expect(wrapper.find('li').attributes('aria-setsize')).toBe('200')
  })

  it('are none at first, and need a folder', async () => {
    await open({ bundles: [] })
    expect(wrapper.text()).toContain('No bundles.')
    showFrame(incidentsFrame({ folder: null }))
    await flushPromises()
    expect(find('bundles-no-folder').text()).toContain('--history FILE')
    expect(find('bundle-pick').attributes('disabled')).toBeDefined()
  })

  it('are removed after a confirmation', async () => {
    await open()
    await menu('bundle-remove')
    expect(called('removeBundle')).toEqual([])
    out('ask-yes').click()
    await flushPromises()
    expect(called('removeBundle')).toEqual([{ name: 'INC-0042.zip' }])
  })

  it('are fetched part by part into one file, never into a partial one', async () => {
    await open()
    const save = vi.spyOn(URL, 'createObjectURL').mockReturnValue('blob:x')
    host.parts = [
      { base64: btoa('PK\u0003'), isLast: false },
      { base64: btoa('\u00FF\u0000'), isLast: true },
    ]
    await menu('bundle-download')
    await vi.waitFor(() => expect(save).toHaveBeenCalledOnce())
    const blob = save.mock.calls[0]![0] as Blob
    expect([...new Uint8Array(await blob.arrayBuffer())]).toEqual([0x50, 0x4b, 3, 255, 0])
    host.parts = [{ base64: btoa('PK'), isLast: false }]
    await useBundlesStore().fetchFile('INC-0042.zip')
    await flushPromises()
    expect(save).toHaveBeenCalledOnce()
    expect(wrapper.text()).toContain('the Sluice host ended the download early')
  })
})

describe('verify', () => {
  it('shows the hash of an unchanged bundle', async () => {
    await open()
    await menu('bundle-verify')
    await vi.waitFor(() => expect(out('verify-word').textContent).toContain('Integrity verified'))
    expect(out('verify-dialog').textContent).toContain(HASH)
  })

  it('lists every changed part, and why', async () => {
    await open()
    host.verdict = {
      ok: false,
      manifest: null,
      sha256: HASH,
      changed: [
        { member: 'csv/jobs.csv', why: 'byte 1 204: its hash is another' },
        { member: MARKUP, why: 'no such part in the manifest' },
      ],
    }
    await menu('bundle-verify')
    await vi.waitFor(() => expect(out('verify-word').textContent).toContain('NOT verified'))
    const changed = [...document.querySelectorAll('[data-testid="verify-changed"]')].map((e) => e.textContent)
    expect(changed).toEqual(['csv/jobs.csvbyte 1 204: its hash is another', `${MARKUP}no such part in the manifest`])
    out('verify-close').click()
    await vi.waitFor(() => expect(document.querySelector('[data-testid="verify-dialog"]')).toBeNull())
  })

  it('shows why it failed', async () => {
    await open()
    host.refuse = { verb: 'verify', notice: notice('BUNDLE_GONE', 'The bundle was not verified') }
    await menu('bundle-verify')
    await vi.waitFor(() => expect(out('verify-dialog').textContent).toContain('BUNDLE_GONE'))
  })
})

describe('an imported bundle', () => {
  it('is sent in parts, in order, and opened when it was the only one', async () => {
    await open()
    const bytes = new Uint8Array(PART_BYTES + 3).map((_, i) => i % 251)
    await useBundleUploadStore().put([file('vendor.zip', bytes)])
    const sent = called('put') as { name: string; upload: string; at: number; base64: string; isLast: boolean }[]
    expect(sent.map(({ at, isLast }) => [at, isLast])).toEqual([
      [0, false],
      [PART_BYTES, true],
    ])
    expect(new Set(sent.map(({ upload }) => upload)).size).toBe(1)
    expect(sent.map(({ base64 }) => atob(base64)).join('')).toHaveLength(bytes.length)
    expect(sent[1]!.base64).toBe(btoa(String.fromCharCode(...bytes.subarray(PART_BYTES))))
    expect(sent.every(({ base64 }) => base64.length <= 700_000)).toBe(true)
    expect(called('open')).toEqual([{ name: 'vendor' }])
  })

  it('is one of several: all are imported, none is opened automatically', async () => {
    await open()
    drag('drop', [file('a.zip'), file('b.ZIP'), file('c.tar')])
    await vi.waitFor(() => expect(called('put')).toHaveLength(2))
    await flushPromises()
    expect(called('open')).toEqual([])
    expect(find('upload-fault').text()).toContain('c.tar was not uploaded: a bundle is one .zip file')
  })

  it('has a drop frame while dragged over the page, and only files have', async () => {
    await open()
    drag('dragenter', [], { dataTransfer: { types: ['text/plain'] } })
    await flushPromises()
    expect(document.querySelector('[data-testid="drop-frame"]')).toBeNull()
    expect(drag('dragover').defaultPrevented).toBe(true)
    await flushPromises()
    expect(out('drop-frame').textContent).toContain('Drop a bundle')
    drag('dragleave')
    await flushPromises()
    expect(document.querySelector('[data-testid="drop-frame"]')).toBeNull()
  })

  it('is not imported without a folder, nor opened by the browser', async () => {
    await open({ folder: null })
    expect(drag('drop', [file('a.zip')]).defaultPrevented).toBe(true)
    await flushPromises()
    expect(called('put')).toEqual([])
  })

  it('is refused with its reason, and imported under another name if the name was taken', async () => {
    await open()
    host.refuse = { verb: 'put', notice: notice('BUNDLE_EXISTS', 'INC-0042.zip was not taken') }
    await useBundleUploadStore().put([file('INC-0042.zip')])
    await flushPromises()
    expect(find('upload-fault').text()).toContain('BUNDLE_EXISTS')
    await find('upload-as').trigger('click')
    await vi.waitFor(() => expect(called('open')).toEqual([{ name: 'INC-0042-2' }]))
    expect(find('upload-fault').exists()).toBe(false)
    host.refuse = { verb: 'put', notice: notice('BUNDLE_HOSTILE', 'evil.zip was not taken') }
    await useBundleUploadStore().put([file('evil.zip')])
    await flushPromises()
    expect(find('upload-as').exists()).toBe(false)
  })

  it('is canceled with those queued behind it', async () => {
    await open()
    const uploads = useBundleUploadStore()
    host.holdsPut = true
    const all = uploads.put([file('a.zip', PART_BYTES * 3), file('b.zip')])
    await vi.waitFor(() => expect(host.goOnPut).not.toBeNull())
    await flushPromises()
    expect(find('upload').text()).toContain('a.zip')
    expect(find('upload').text()).toContain('1 more file waiting')
    await find('upload-cancel').trigger('click')
    host.holdsPut = false
    host.goOnPut?.()
    await all
    expect(uploads.isRunning).toBe(false)
    expect(called('put')).toMatchObject([{ name: 'a', at: 0 }])
    expect(called('open')).toEqual([])
    // The next upload still runs.
    await uploads.put([file('c.zip')])
    expect(called('open')).toEqual([{ name: 'c' }])
  })

  it('has a valid and unused name, whatever the file is called', () => {
    expect(['INC-0042', 'INC-0042-2', 'storm', 'INC-0042 20261119 1427'].map((name) => nextFreeName(name))).toEqual([
      'INC-0042-2',
      'INC-0042-3',
      'storm-2',
      'INC-0042 20261119 1427-2',
    ])
    expect(nextFreeName('a', new Set(['a-2', 'a-3']))).toBe('a-4')
    expect(nameFor('INC-0042 (1).zip')).toBe('INC-0042 1')
    expect(nameFor('../../etc/passwd.zip')).toBe('etcpasswd')
    expect(nameFor('\u202E.zip')).toBe('bundle')
    for (const name of ['x'.repeat(400), `..${MARKUP}..`, TURNED, '\u{1F4A5}boom', '-a- .'])
      expect(nameFault(nameFor(`${name}.zip`), new Set()), name).toBeUndefined()
    expect(nameFault('../x', new Set())).toBeDefined()
  })
})
