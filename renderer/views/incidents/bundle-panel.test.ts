import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { describe, expect, it, vi } from 'vitest'
import type { ExportInput, Incident, IncidentsFrame } from '#core/api/incidents.ts'
import { useBundleExportStore } from '../../stores/bundle-export.ts'
import { useBundleStore } from '../../stores/bundle.ts'
import { useConnectionStore } from '../../stores/connection.ts'
import { useIncidentsStore } from '../../stores/incidents.ts'
import { freshPage } from '#tests/kits/renderer/view-page.ts'
import BundlePanel from './BundlePanel.vue'
import {
  bundleRow,
  done,
  FROM,
  HASH,
  incident,
  incidentsFrame,
  MARKUP,
  NOW,
  notice,
  openBundleHost,
  preview,
  showFrame,
  showStatus,
  TO,
  TURNED,
  type BundleHost,
} from '#tests/kits/renderer/views/bundle-host.ts'

vi.setConfig({ testTimeout: 20_000 })
let wrapper: VueWrapper = null!
let host: BundleHost = null!
freshPage(296, () => wrapper.unmount())

async function open(of: Incident | null = incident(), frame: IncidentsFrame = incidentsFrame()): Promise<void> {
  host = openBundleHost()
  showStatus()
  showFrame(frame)
  wrapper = mount(BundlePanel, { attachTo: document.body, props: { incident: of } })
  await settled()
}
const inputs = (): ExportInput[] =>
  host.calls.filter(({ verb }) => verb === 'preview').map((c) => c.input as ExportInput)
const called = (verb: string) => host.calls.filter((c) => c.verb === verb).map((c) => c.input)
/** Waits until pending requests are answered. */
async function settled(): Promise<void> {
  await flushPromises()
  await vi.waitFor(() => expect(wrapper.find('[aria-busy="false"]').exists()).toBe(true), { timeout: 5000 })
  await flushPromises()
}
const find = (testid: string) => wrapper.find(`[data-testid="${testid}"]`)
/** Finds an element outside of the panel, as dialogs are. */
function out(testid: string): HTMLElement {
  const element = document.querySelector<HTMLElement>(`[data-testid="${testid}"]`)
  if (!element) throw new Error(`no ${testid}`)
  return element
}
const exportButton = () => find('bundle-export')

/** Takes the resolver of the pending request. */
function take(): (() => void) | null {
  const { goOn } = host
  host.goOn = null
  return goOn
}

describe('contents of the bundle', () => {
  it('are requested for the incident, with pseudonyms, and sized for both levels of detail', async () => {
    await open()
    await vi.waitFor(() => expect(inputs()).toHaveLength(2))
    const expected = { incident: 'INC-0042', span: { fromMs: FROM, toMs: TO }, redact: true, leaveOut: [], name: null }
    expect(inputs()).toEqual([
      { ...expected, detail: 'fit' },
      { ...expected, detail: 'all' },
    ])
    expect(find('bundle-size').text()).toBe('about 2.4 MiB')
    expect(find('detail-fit').text()).toBe('Fits 20 MB2.4 MiB')
    expect(find('range-words').text()).toBe('10 min of raw samples')
    expect(exportButton().text()).toContain('Export .zip')
  })

  it('show one name of each kind with its pseudonym, and a warning without redaction', async () => {
    await open()
    expect(find('pairs').text()).toBe('tkovac\u2192 user-074690.python\u2192 job-3f.app-2oss02.altair\u2192 oss-b')
    await find('redact').trigger('click')
    await vi.waitFor(() => expect(inputs().at(-1)?.redact).toBe(false))
    expect(find('pairs').exists()).toBe(false)
    expect(wrapper.text()).toContain('Not redacted: user and host names are included.')
    expect(exportButton().text()).toContain('Export with names')
    // The choice applies to this incident; another one starts with pseudonyms.
    await wrapper.setProps({ incident: incident({ id: 'INC-0043' }) })
    await vi.waitFor(() => expect(inputs().at(-1)).toMatchObject({ incident: 'INC-0043', redact: true }))
    expect(exportButton().text()).toContain('Export .zip')
  })

  it('are of the current window without a notebook', async () => {
    await open(null)
    const toMs = Math.floor(NOW / 1000) * 1000 + 1000
    expect(inputs()[0]).toMatchObject({ incident: null, span: { fromMs: toMs - 300_000, toMs } })
    expect(find('bundle-of-window').exists()).toBe(true)
    expect(find('findings').exists()).toBe(false)
  })

  it('cancel an outdated request and show the answer of the newest', async () => {
    await open()
    await vi.waitFor(() => expect(inputs()).toHaveLength(2))
    host.holds = true
    host.previews = (input) => preview({ bytes: input.redact ? 1024 : 2048 })
    await find('redact').trigger('click')
    await vi.waitFor(() => expect(host.goOn).not.toBeNull())
    const answerOfFirst = take()
    const before = host.cancelled
    await find('redact').trigger('click')
    expect(host.cancelled).toBe(before + 1)
    await vi.waitFor(() => expect(host.goOn).not.toBeNull())
    host.holds = false
    take()?.()
    await settled()
    answerOfFirst?.()
    await flushPromises()
    expect(find('bundle-size').text()).toBe('about 1 KiB')
  })

  it('show why they are not known, and are requested again when the host is back', async () => {
    await open()
    host.refuse = { verb: 'preview', notice: notice('EMPTY_RANGE', 'Nothing is kept there') }
    await find('redact').trigger('click')
    await vi.waitFor(() => expect(wrapper.text()).toContain('EMPTY_RANGE'))
    const line = useConnectionStore()
    const api = line.host!
    line.lost(null)
    await flushPromises()
    expect(exportButton().attributes('disabled')).toBeDefined()
    line.opened(api)
    await settled()
    expect(wrapper.text()).not.toContain('EMPTY_RANGE')
    expect(exportButton().attributes('disabled')).toBeUndefined()
  })

  it('leave groups out and include them again, but never README and manifest', async () => {
    await open()
    const audit = find('content-audit')
    expect(audit.attributes()).toMatchObject({ role: 'checkbox', 'aria-checked': 'true' })
    await audit.trigger('click')
    await vi.waitFor(() => expect(inputs().at(-1)?.leaveOut).toEqual(['audit']))
    expect(find('content-audit').text()).toContain('excluded')
    await find('content-audit').trigger('click')
    await vi.waitFor(() => expect(inputs().at(-1)?.leaveOut).toEqual([]))
    expect(wrapper.findAll('[role="checkbox"]')).toHaveLength(3)
  })

  it('link a name in a note to its cell, and list missing ranges', async () => {
    await open()
    host.previews = () => preview({ missing: ['14:29 to 14:30: evicted', 'b', 'c', 'd'] })
    await find('redact').trigger('click')
    await find('redact').trigger('click')
    await vi.waitFor(() => expect(wrapper.text()).toContain('14:29 to 14:30: evicted'))
    expect(wrapper.text()).toContain('and 1 more missing range')
    await find('findings').find('button').trigger('click')
    expect(useIncidentsStore().fresh).toBe('c1')
  })
})

describe('the review of contents', () => {
  it('lists every field, searchable names and what is never exported, and returns the focus', async () => {
    await open()
    const link = find('what-leaves').element as HTMLElement
    link.focus()
    link.click()
    await flushPromises()
    const dialog = out('preview-dialog')
    expect(dialog.textContent).toContain('Job412, 2 shown')
    // Bidi overrides are shown as escapes.
    expect(dialog.textContent).toContain('4690.\u2039202E\u203Agnp.exe')
    expect(dialog.textContent).not.toContain(TURNED)
    const search = out('preview-search') as HTMLInputElement
    search.value = 'oss-b'
    search.dispatchEvent(new Event('input', { bubbles: true }))
    await flushPromises()
    expect(dialog.querySelectorAll('[data-testid="preview-pair"]')).toHaveLength(1)
    search.value = ''
    search.dispatchEvent(new Event('input', { bubbles: true }))
    out('preview-fields').click()
    await flushPromises()
    expect([...dialog.querySelectorAll('[data-testid="preview-field"]')].map((f) => f.textContent)).toEqual([
      'samples.jobpseudonym',
      'samples.rpcsunchanged',
      'cell.textnames replaced',
    ])
    out('preview-not').click()
    await flushPromises()
    expect(dialog.textContent).toContain('Keys and passphrases')
    dialog.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))
    await vi.waitFor(() => expect(document.querySelector('[data-testid="preview-dialog"]')).toBeNull())
    await vi.waitFor(() => expect(document.activeElement).toBe(link))
  })

  it('shows a job called like markup as text', async () => {
    await open()
    host.previews = () => preview({ names: [{ kind: 'job', count: 1, samples: [{ from: MARKUP, to: 'job-1' }] }] })
    await find('redact').trigger('click')
    await find('redact').trigger('click')
    await vi.waitFor(() => expect(find('pairs').text()).toContain(MARKUP))
    expect(document.querySelector('img')).toBeNull()
  })
})

describe('the range', () => {
  const input = (end: 'from' | 'to') => find(`range-${end}`).element as HTMLInputElement
  async function type(end: 'from' | 'to', text: string): Promise<void> {
    await find(`range-${end}`).setValue(text)
  }

  it('is typed as clock times, with a note if it differs from the incident', async () => {
    await open()
    expect([input('from').value, input('to').value]).toEqual(['14:27:00', '14:37:00'])
    await type('to', '14:30:30')
    await vi.waitFor(() => expect(inputs().at(-1)?.span).toEqual({ fromMs: FROM, toMs: FROM + 210_000 }))
    await find('range-keep').trigger('click')
    await flushPromises()
    expect(called('change')).toEqual([{ id: 'INC-0042', span: { fromMs: FROM, toMs: FROM + 210_000 } }])
    await find('range-back').trigger('click')
    expect(input('to').value).toBe('14:37:00')
  })

  it('shows input errors, and exports nothing meanwhile', async () => {
    await open()
    await type('from', '14:27:99')
    expect(find('range-fault').text()).toContain('Not a time')
    expect(input('from').getAttribute('aria-invalid')).toBe('true')
    expect(exportButton().attributes('disabled')).toBeDefined()
    expect(useBundleStore().input).toBeNull()
    await type('from', '14:50')
    expect(find('range-fault').text()).toBe('The end must be after the start')
    // Invalid input stays for correction.
    await find('range-from').trigger('blur')
    expect(input('from').value).toBe('14:50')
    await type('from', '14:20')
    expect(find('range-fault').exists()).toBe(false)
    expect(useBundleStore().span).toEqual({ fromMs: FROM - 420_000, toMs: TO })
  })

  it('is stepped by arrows where the caret stands', async () => {
    await open()
    const from = input('from')
    from.setSelectionRange(4, 4)
    await find('range-from').trigger('keydown', { key: 'ArrowUp' })
    await flushPromises()
    expect(from.value).toBe('14:28:00')
    from.setSelectionRange(8, 8)
    await find('range-from').trigger('keydown', { key: 'ArrowDown', shiftKey: true })
    await flushPromises()
    expect(from.value).toBe('14:27:50')
    expect([from.selectionStart, from.selectionEnd]).toEqual([6, 8])
  })
})

describe('the export', () => {
  it('shows progress, then name, size, hash and path, and the next actions', async () => {
    await open()
    host.holdsExport = true
    await exportButton().trigger('click')
    await vi.waitFor(() => expect(find('bundle-progress').text()).toMatch(/Samples.*40\u202F%/))
    expect(exportButton().attributes('disabled')).toBeDefined()
    // A second export is not started meanwhile.
    await useBundleExportStore().run(useBundleStore().input!)
    expect(called('export')).toHaveLength(1)
    host.endExport?.()
    await vi.waitFor(() => expect(find('bundle-done').exists()).toBe(true))
    const text = find('bundle-done').text()
    expect(text).toContain('INC-0042.zip')
    expect(find('bundle-done').html()).toContain('title="/home/mira/.local/share/sluice/bundles/INC-0042.zip"')
    expect(find('bundle-hash').attributes('title')).toBe(HASH)
    await find('done-verify').trigger('click')
    await find('done-open').trigger('click')
    await flushPromises()
    expect([called('verify'), called('open')]).toEqual([[{ name: 'INC-0042.zip' }], [{ name: 'INC-0042.zip' }]])
  })

  it('continues while another view is open, and shows its outcome on return', async () => {
    await open()
    host.holdsExport = true
    await exportButton().trigger('click')
    await vi.waitFor(() => expect(host.endExport).not.toBeNull())
    wrapper.unmount()
    host.endExport?.()
    await vi.waitFor(() => expect(useBundleExportStore().end?.kind).toBe('done'))
    wrapper = mount(BundlePanel, { attachTo: document.body, props: { incident: incident() } })
    await flushPromises()
    expect(find('bundle-done').exists()).toBe(true)
  })

  it('is canceled at once, and shows that nothing was kept', async () => {
    await open()
    host.holdsExport = true
    await exportButton().trigger('click')
    await vi.waitFor(() => expect(host.endExport).not.toBeNull())
    await find('bundle-cancel').trigger('click')
    await vi.waitFor(() => expect(find('bundle-cancelled').text()).toContain('No partial file was kept'))
  })

  it('offers another name if one is taken, and a failure with its next action', async () => {
    await open(incident(), incidentsFrame({ bundles: [bundleRow('INC-0042.zip'), bundleRow('INC-0042-2.zip')] }))
    host.events = [{ kind: 'failed', notice: notice('BUNDLE_EXISTS', 'The bundle was not written') }]
    await exportButton().trigger('click')
    await vi.waitFor(() => expect(find('bundle-failed').text()).toContain('Next: Choose another.'))
    expect((find('bundle-name').element as HTMLInputElement).value).toBe('INC-0042-3')
    await find('bundle-name').setValue('INC-0042.zip')
    expect(find('bundle-failed').text()).toContain('This name is already in use')
    await find('bundle-name').setValue('for the vendor')
    host.events = [done]
    await find('bundle-failed').find('form').trigger('submit')
    await vi.waitFor(() => expect(find('bundle-done').exists()).toBe(true))
    expect(called('export').at(-1)).toMatchObject({ name: 'for the vendor', incident: 'INC-0042' })
  })

  it('fails if the connection breaks, without a file', async () => {
    await open()
    host.events = [{ kind: 'progress', what: 'Charts', done: 0.9 }]
    await exportButton().trigger('click')
    await vi.waitFor(() => expect(find('bundle-failed').text()).toContain('the Sluice host ended the export early'))
  })

  it('gives the report as text, also where there is no folder for bundles', async () => {
    await open(incident(), incidentsFrame({ folder: null }))
    expect(find('no-folder').text()).toContain('--history FILE')
    expect(exportButton().attributes('disabled')).toBeDefined()
    await find('bundle-markdown').trigger('click')
    await vi.waitFor(() => expect(find('bundle-report').text()).toContain('INC-0042.md'))
    const save = vi.spyOn(URL, 'createObjectURL').mockReturnValue('blob:x')
    await find('report-save').trigger('click')
    expect(save).toHaveBeenCalledOnce()
  })

  it('has nothing to redact where names are pseudonyms already', async () => {
    await open()
    showStatus({
      source: { cluster: 'cluster-1', env: 'DEMO', kind: 'RECORDED', sinceMs: 0 },
      playback: {
        file: 'INC-0042.zip',
        tier: 'raw',
        fromMs: FROM,
        toMs: TO,
        bundle: { title: 'x', env: 'PROD', redacted: true, verified: true },
      },
    })
    await flushPromises()
    expect(find('redact').exists()).toBe(false)
    expect(find('redact-done').text()).toContain('already pseudonyms')
  })
})
