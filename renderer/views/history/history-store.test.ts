import { flushPromises } from '@vue/test-utils'
import { describe, expect, it, vi } from 'vitest'
import type { StatusFrame } from '#core/api/frames.ts'
import { useConnectionStore } from '../../stores/connection.ts'
import { useHistoryExportStore } from '../../stores/history-export.ts'
import { useHistoryStore } from '../../stores/history.ts'
import { resendFrame } from '#tests/kits/renderer/view-page.ts'
import { A, at, B, compared, DAY, historyFrame } from '#tests/kits/renderer/views/history-host.ts'
import { historyPage } from '#tests/kits/renderer/views/history-page.ts'

// Generous, for loaded machines.
vi.setConfig({ testTimeout: 20_000 })
const { page, open, find, all, out, press, called } = historyPage()

describe('the store', () => {
  /** Moves the slider without releasing it. */
  async function slide(place: number): Promise<void> {
    ;(find('keep').element as HTMLInputElement).value = String(place)
    await find('keep').trigger('input')
  }
  const letGo = () => find('keep').trigger('change')
  const placeOf = (words: string): number => {
    const most = Number(find('keep').attributes('max'))
    const stops = ['10 min', '15 min', '30 min', '1 h', '2 h', '3 h', '6 h', '12 h', '1 d', '2 d', '3 d', '5 d', '7 d']
    const place = stops.indexOf(words)
    expect(place).toBeLessThan(most)
    return place
  }

  it('sets a longer retention without confirmation, and shows what a shorter one would delete', async () => {
    await open()
    expect(find('keep-words').text()).toBe('30 d')
    await slide(placeOf('7 d'))
    expect(called('setKeep')).toEqual([])
    await letGo()
    expect(called('setKeep')).toEqual([{ tier: '10s', keepMs: 7 * DAY }])
    await slide(placeOf('2 d'))
    expect(find('keep-effect').text()).toBe(
      'deletes 4 d 9 h, Fri 13 Nov 05:32 to Tue 17 Nov 14:32; means of 1 min are kept',
    )
    expect(called('setKeep')).toHaveLength(1)
    await letGo()
    expect(called('setKeep')).toHaveLength(1)
    expect(out('store-ask').textContent).toContain('cannot be restored')
    out('ask-no').click()
    await flushPromises()
    expect(find('keep-words').text()).toBe('30 d')
    expect(called('setKeep')).toHaveLength(1)
    await slide(placeOf('2 d'))
    await letGo()
    out('ask-yes').click()
    await flushPromises()
    expect(called('setKeep').at(-1)).toEqual({ tier: '10s', keepMs: 2 * DAY })
  })

  it('applies by keyboard on release, not while moving', async () => {
    await open()
    const input = find('keep')
    for (const place of [16, 15, 14]) {
      await input.trigger('keydown', { key: 'ArrowLeft' })
      await slide(place)
      await letGo()
    }
    expect(called('setKeep')).toEqual([])
    await input.trigger('keyup', { key: 'ArrowLeft' })
    expect(called('setKeep')).toHaveLength(1)
  })

  it('chooses the resolution by arrows', async () => {
    await open()
    await find('tier-10s').trigger('keydown', { key: 'ArrowUp' })
    expect(find('tier-1s').attributes('aria-checked')).toBe('true')
    expect(find('keep-words').text()).toBe('1 d')
  })

  it('warns about samples deleted before their retention ended, and only about these', async () => {
    const gone = { atMs: at(12), tier: '10s' as const, fromMs: at(-48), toMs: at(-47), samples: 12_345 }
    await open()
    expect(find('evictions').exists()).toBe(false)
    const { store } = historyFrame()
    const evictions = [
      { ...gone, reason: 'quota' as const },
      { ...gone, atMs: at(11), reason: 'retention' as const },
      { ...gone, atMs: at(10), reason: 'disk' as const },
      { ...gone, atMs: at(9), reason: 'disk' as const },
    ]
    await resendFrame(page.host, historyFrame({ store: { ...store, evictions, freeBytes: 2 ** 29 } }))
    expect(find('evictions').text()).toContain('Deleted before retention ended')
    expect(find('evictions').text()).toContain('means of 10 s, Tue 17 00:00 to Tue 17 01:00')
    expect(find('evictions').text()).toContain('the disk was nearly full')
    expect(find('evictions').text()).toContain('and 1 earlier')
    expect(find('store-free').classes()).toContain('tight')
  })

  it('takes a quota as typed; one below the size in use needs a confirmation', async () => {
    await open()
    await find('quota').setValue('lots')
    expect(find('quota-fault').exists()).toBe(true)
    expect(find('quota-set').attributes('disabled')).toBeDefined()
    await find('quota').setValue('8 GiB')
    await find('quota-set').trigger('click')
    expect(called('setQuota')).toEqual([{ bytes: 8 * 2 ** 30 }])
    await find('quota').setValue('1')
    await find('quota-set').trigger('click')
    expect(called('setQuota')).toHaveLength(1)
    out('ask-yes').click()
    await flushPromises()
    expect(called('setQuota').at(-1)).toEqual({ bytes: 2 ** 30 })
  })

  it('shows why the host refused, and resets the slider', async () => {
    await open()
    page.host.refuse = { code: 'HISTORY_BUSY', what: 'The retention was not changed', why: 'the disk does not answer' }
    await slide(placeOf('7 d'))
    await letGo()
    await flushPromises()
    expect(page.wrapper.find('.callout').text()).toContain('the disk does not answer')
    expect(find('keep-words').text()).toBe('30 d')
    useConnectionStore().lost(null)
    await find('quota').setValue('8')
    expect(find('quota-set').attributes('disabled')).toBeDefined()
    expect(find('quota-set').attributes('title')).toContain('No connection to the Sluice host')
    // Enter in the field does not reach the host either, and shows so.
    await page.wrapper.find('form.quota').trigger('submit')
    await flushPromises()
    expect(page.wrapper.find('.callout').text()).toContain('NO_HOST')
  })
})

describe('recordings', () => {
  it('opens one, shows why another cannot be opened, removes one after a confirmation', async () => {
    await open()
    const [first, , , checked, broken] = all('recording')
    expect(checked?.text()).toContain('Checking...')
    expect(checked?.find('button').attributes('disabled')).toBeDefined()
    expect(checked?.find('[data-testid=recording-fault]').exists()).toBe(false)
    await first?.find('button').trigger('click')
    await flushPromises()
    expect(called('open')).toEqual([{ name: 'wrf-restart' }])
    expect(broken?.find('button').attributes('disabled')).toBeDefined()
    expect(broken?.find('[data-testid=recording-fault]').text()).toBe('The file ends before its last page')
    await first?.findAll('button')[1]?.trigger('click')
    expect(called('removeRecording')).toEqual([])
    out('ask-yes').click()
    await flushPromises()
    expect(called('removeRecording')).toEqual([{ name: 'wrf-restart' }])
  })

  it('records span B under a name that follows it, by R', async () => {
    await open(compared())
    useHistoryStore().compare(A, B)
    press('r')
    await vi.waitFor(() => out('record-form'))
    expect(out('record-form').textContent).toContain('Thu 19 Nov 02:50:00 to 03:10:00, 20 min')
    out('record').click()
    await flushPromises()
    expect(called('record')).toEqual([{ name: 'altair-2026-11-19-0250', span: B }])
    expect(useHistoryStore().isRecordOpen).toBe(false)
  })

  it('keeps the form open and shows why nothing was recorded', async () => {
    await open()
    page.host.refuse = { code: 'NO_SPACE', what: 'Nothing was recorded', why: 'the disk is full', next: 'Free 40 MiB' }
    press('r')
    await vi.waitFor(() => out('record-form'))
    out('record').click()
    await vi.waitFor(() => expect(out('record-form').textContent).toContain('the disk is full'))
    expect(useHistoryStore().isRecordOpen).toBe(true)
  })

  it('shows no store while a recording is active, and returns to the source', async () => {
    const playback = { file: 'mdt-storm', tier: 'raw', fromMs: at(1), toMs: at(2) } as const
    const source = { cluster: 'altair', env: 'PROD', kind: 'RECORDED' } as unknown as StatusFrame['source']
    await open(historyFrame(), { playback, source })
    expect(find('keep').exists()).toBe(false)
    expect(find('record-open').exists()).toBe(false)
    expect(all('recording')[1]?.text()).toContain('ACTIVE')
    await find('leave').trigger('click')
    await flushPromises()
    expect(called('leave')).toHaveLength(1)
  })
})

describe('CSV', () => {
  const exporter = () => useHistoryExportStore()
  async function start(): Promise<Blob[]> {
    const files: Blob[] = []
    vi.spyOn(URL, 'createObjectURL').mockImplementation((blob) => {
      files.push(blob as Blob)
      return 'blob:x'
    })
    vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(() => undefined)
    useHistoryStore().compare(A, B)
    await find('export-open').trigger('click')
    await vi.waitFor(() => out('export-dialog'))
    out('export').click()
    await flushPromises()
    return files
  }

  it('writes span B as one file, in the order of its parts', async () => {
    await open(compared())
    const files = await start()
    await vi.waitFor(() => expect(out('export-end').textContent).toContain('1 rows'))
    expect(called('csv')).toEqual([{ ...B, what: 'cluster', tier: null, by: 'job' }])
    expect(await files[0]?.text()).toBe('at,rpcs\n2026-11-19T02:50:00Z,12\n')
    expect(exporter().end).toMatchObject({
      kind: 'done',
      file: 'sluice-altair-cluster-20261119-025000-20261119-031000.csv',
    })
  })

  it('gathers a million rows without making one string of them', async () => {
    await open(compared())
    const text = '2026-11-19T02:50:00Z,4601.hdfwrite.u1102,12345.6\n'.repeat(10_000)
    page.host.csv = Array.from({ length: 100 }, (_, i) => ({ text, rows: 10_000, isLast: i === 99 }))
    const files = await start()
    await vi.waitFor(() => expect(exporter().end).toMatchObject({ kind: 'done', rows: 1_000_000 }), { timeout: 10_000 })
    expect(files[0]?.size).toBe(100 * text.length)
  })

  it('is canceled at the host, without a partial file', async () => {
    await open(compared())
    page.host.holdsCsv = true
    const files = await start()
    await vi.waitFor(() => expect(out('export-progress').textContent).toContain('0 rows'))
    await vi.waitFor(() => expect(page.host.goOn).not.toBeNull())
    out('export-cancel').click()
    await vi.waitFor(() => expect(out('export-end').textContent).toContain('Canceled, no file'))
    expect(page.host.cancelled).toBe(1)
    expect(files).toEqual([])
  })

  it('writes no file if the last part is missing, and shows why the host refused', async () => {
    await open(compared())
    page.host.csv = [{ text: 'at\n', rows: 0, isLast: false }]
    const files = await start()
    await vi.waitFor(() => expect(out('export-dialog').textContent).toContain('the Sluice host ended the export early'))
    expect(files).toEqual([])
    page.host.refuse = { code: 'NOTHING_KEPT', what: 'The CSV was not written', why: 'nothing is kept of these hours' }
    out('export').click()
    await vi.waitFor(() => expect(out('export-dialog').textContent).toContain('nothing is kept of these hours'))
  })
})
