import { flushPromises } from '@vue/test-utils'
import { describe, expect, it, vi } from 'vitest'
import { useConnectionStore } from '../../stores/connection.ts'
import { useIncidentDraftStore } from '../../stores/incident-draft.ts'
import { useOutageStore } from '../../stores/outage.ts'
import { useIncidentsStore } from '../../stores/incidents.ts'
import { HASH, incident, incidentsFrame, noteCell, row, ROWS } from '#tests/kits/renderer/views/incidents-host.ts'
import { incidentsPage } from '#tests/kits/renderer/views/incidents-page.ts'

vi.setConfig({ testTimeout: 20_000 })
const { page, open, send, find, all, cell, out, press, called } = incidentsPage()
const withNote = (text: string) =>
  incidentsFrame({ selected: incident({ cells: [noteCell({ text }), ...incident().cells.slice(1)] }) })

describe('the list', () => {
  it('shows status, cluster, author and time of each, and why one cannot be read', async () => {
    await open()
    const rows = all('incident-row').map((r) => r.text().replace(/\s+/g, ' '))
    expect(rows[0]).toBe('Write wait \u00D74 from one job on 5 targetsresolved\u00B7altair \u00B7 mira14:32')
    expect(rows[1]).toContain('Wed 09:14')
    expect(rows[3]).toContain('emulated\u00B7demo \u00B7 alert')
    expect(rows[5]).toBe('INC-0037cannot be readits file is of a newer Sluice (format 2)')
    expect(find('incident-list').attributes('aria-activedescendant')).toBe('incident-INC-0042')
  })

  it('selects the next notebook by j and the previous by k, and stops at its ends', async () => {
    await open()
    await press('j')
    await vi.waitFor(() => expect(page.host.queries.at(-1)?.selected).toBe('INC-0041'))
    expect(all('incident-row')[1]?.attributes('aria-selected')).toBe('true')
    for (let i = 0; i < 9; i++) await press('j')
    expect(find('incident-fault').text()).toContain('newer Sluice (format 2)')
    for (let i = 0; i < 9; i++) await press('k')
    expect(useIncidentsStore().shown).toBe('INC-0042')
    expect(find('notebook').exists()).toBe(true)
  })

  it('moves the focus into the notebook by Enter', async () => {
    await open()
    await press('Enter')
    expect(document.activeElement?.getAttribute('data-cell')).toBe('c1')
  })

  it('draws only the rows in view of a thousand', async () => {
    const incidents = Array.from({ length: 1000 }, (_, i) => row({ id: `INC-${String(9999 - i)}` }))
    await open(incidentsFrame({ incidents, selected: incident({ id: 'INC-9999' }) }))
    const drawn = all('incident-row').length
    expect(drawn).toBeGreaterThan(3)
    expect(drawn).toBeLessThan(30)
    expect(all('incident-row')[0]?.attributes('aria-setsize')).toBe('1000')
  })

  it('explains incidents if there are none, and that nothing is stored on disk', async () => {
    await open(incidentsFrame({ incidents: [], selected: null, folder: null }))
    expect(find('incidents-none').text()).toContain('No incidents yet')
    expect(find('memory-only').text()).toContain('Nothing is stored on disk')
    await find('none-new').trigger('click')
    const { useNoteStore } = await import('../../stores/note.ts')
    expect([useNoteStore().isOpen, useNoteStore().where]).toEqual([true, 'new'])
  })
})

describe('the notebook', () => {
  it('shows its cells in order, a table and a rule diff side by side, and its hash', async () => {
    await open()
    expect(all('cell').map((c) => c.attributes('data-kind'))).toEqual([
      'note',
      'chart',
      'table',
      'diff',
      'verdict',
      'transcript',
    ])
    expect(page.wrapper.findAll('.pair.two')).toHaveLength(1)
    expect(find('status').text()).toBe('resolved in 4 min 51 s')
    expect(find('incident-id').text()).toBe('INC-0042 \u00B7 mira')
    expect(find('integrity').text()).toBe('sha256 9c41 7be0 \u2026 22d7 a1f5')
    expect(find('integrity').attributes('title')).toBe(`sha256 ${HASH}`)
    expect(find('audit').text()).toBe('audit #18204 to #18231 shown')
  })

  it('edits its title in place: Enter keeps it, Escape reverts it', async () => {
    await open()
    await find('title').trigger('click')
    await find('title-input').setValue('Hog on five OSTs')
    await find('title-input').trigger('keydown', { key: 'Escape' })
    await flushPromises()
    expect(find('title').text()).toBe('Write wait \u00D74 from one job on 5 targets')
    await find('title').trigger('click')
    await find('title-input').setValue('  Hog on five OSTs ')
    await page.wrapper.find('.hd form').trigger('submit')
    await flushPromises()
    expect(called('change')).toEqual([{ id: 'INC-0042', title: 'Hog on five OSTs' }])
    expect(find('title').text()).toBe('Hog on five OSTs')
  })

  it('changes its status by a menu', async () => {
    await open()
    await find('status').trigger('keydown', { key: 'Enter' })
    await vi.waitFor(() => expect(out('status-watching')).not.toBeNull())
    expect(out('status-exercise')).toBeNull()
    out('status-watching')?.click()
    await flushPromises()
    expect(called('change')).toEqual([{ id: 'INC-0042', status: 'watching' }])
  })

  it('moves a cell by Alt with an arrow and by its gutter, keeps the focus on it, and puts back what was removed', async () => {
    await open()
    const second = cell('c2').element as HTMLElement
    second.focus()
    await cell('c2').trigger('keydown', { key: 'ArrowUp', altKey: true })
    const cells = incident().cells
    await send(incidentsFrame({ selected: incident({ cells: [cells[1]!, cells[0]!, ...cells.slice(2)] }) }))
    expect(called('moveCell')).toEqual([{ id: 'INC-0042', cell: 'c2', by: -1 }])
    expect(document.activeElement?.getAttribute('data-cell')).toBe('c2')
    await all('cell-down')[0]?.trigger('click')
    expect(called('moveCell').at(-1)).toEqual({ id: 'INC-0042', cell: 'c2', by: 1 })
    expect(all('cell-up')[0]?.attributes('disabled')).toBeDefined()

    await cell('c2').trigger('keydown', { key: 'Delete' })
    await flushPromises()
    expect(called('removeCell')).toEqual([{ id: 'INC-0042', cell: 'c2' }])
    expect(find('undo-bar').text()).toContain('Chart Service wait was removed')
    await send(incidentsFrame({ selected: incident({ cells: [cells[0]!, ...cells.slice(2)] }) }))
    expect(document.activeElement?.getAttribute('data-cell')).toBe('c1')
    await find('undo').trigger('click')
    await flushPromises()
    expect(called('restoreCell')).toEqual([{ id: 'INC-0042', cell: 'c2' }])
    expect(find('undo-bar').exists()).toBe(false)
  })

  it('does not remove a cell by Delete in what is typed', async () => {
    await open()
    await find('note-edit').trigger('click')
    await find('draft-text').trigger('keydown', { key: 'Delete' })
    await find('draft-text').trigger('keydown', { key: 'ArrowUp', altKey: true })
    expect([called('removeCell'), called('moveCell')]).toEqual([[], []])
  })

  it('never overwrites a note being edited, warns if it changed elsewhere, and keeps the last saved text', async () => {
    await open()
    await find('note-edit').trigger('click')
    await find('draft-text').setValue('My words')
    await send(withNote('Words of another window <b>x</b>'))
    const area = find('draft-text').element as HTMLTextAreaElement
    expect(area.value).toBe('My words')
    expect(find('changed-below').text()).toContain('Words of another window <b>x</b>')
    await find('draft-text').trigger('keydown', { key: 'Enter', ctrlKey: true })
    await flushPromises()
    expect(called('editCell')).toEqual([{ id: 'INC-0042', cell: 'c1', text: 'My words' }])
    expect(find('draft-text').exists()).toBe(false)
    expect(cell('c1').text()).toContain('My words')
    await send(withNote('A third one'))
    expect(cell('c1').text()).toContain('A third one')
  })

  it('keeps a draft through a refusal, a change of notebook, and a lost connection', async () => {
    await open()
    await find('note-edit').trigger('click')
    await find('draft-text').setValue('Half a sentence')
    page.host.refuse = { code: 'NO_SPACE', what: 'The note was not changed', why: 'the disk is full' }
    await find('draft-text').trigger('keydown', { key: 'Enter', metaKey: true })
    await flushPromises()
    expect(find('notebook').text()).toContain('the disk is full')
    expect((find('draft-text').element as HTMLTextAreaElement).value).toBe('Half a sentence')
    const view = useIncidentsStore()
    view.choose('INC-0041')
    await flushPromises()
    view.choose('INC-0042')
    await vi.waitFor(() => expect(find('draft-text').exists()).toBe(true))
    useConnectionStore().lost(null)
    await flushPromises()
    expect(find('notebook').exists()).toBe(true)
    const why = useOutageStore().hostOff
    for (const id of ['draft-keep', 'remove-incident', 'status', 'cell-remove', 'add-chart', 'add-diff', 'bundle-pick'])
      expect([id, find(id).attributes('disabled'), find(id).attributes('title')]).toEqual([id, '', why])
    expect(find('add-note').attributes('disabled')).toBeUndefined()
    await find('draft-text').trigger('keydown', { key: 'Enter', metaKey: true })
    await flushPromises()
    expect(find('notebook').text()).toContain('The Sluice host is not connected')
    expect(useIncidentDraftStore().find('INC-0042', 'c1')?.text).toBe('Half a sentence')
  })

  it('adds cells from the toolbar, and a note once it is saved', async () => {
    await open()
    await find('add-diff').trigger('click')
    await find('add-verdict').trigger('click')
    await find('add-chart').trigger('keydown', { key: 'Enter' })
    await vi.waitFor(() => expect(out('add-chart-queued')).not.toBeNull())
    out('add-chart-queued')?.click()
    await flushPromises()
    await find('add-note').trigger('click')
    expect((find('draft-keep').element as HTMLButtonElement).disabled).toBe(true)
    await find('draft-text').setValue('Owner told')
    await find('draft-text').trigger('keydown', { key: 'Enter', ctrlKey: true })
    await flushPromises()
    expect(called('addCell').map((c) => (c as { cell: unknown }).cell)).toEqual([
      { kind: 'diff' },
      { kind: 'verdict', run: null },
      { kind: 'chart', measure: 'queued', of: null },
      { kind: 'note', text: 'Owner told' },
    ])
    expect(find('draft-text').exists()).toBe(false)
    expect(find('add-bar').attributes('title')).toContain('Images are not accepted')
  })

  it('turns lines pasted outside of fields into a transcript, and refuses images', async () => {
    await open()
    const paste = (types: string[], text: string, target: EventTarget = document.body): Event => {
      const event = new Event('paste', { bubbles: true, cancelable: true })
      Object.assign(event, { clipboardData: { types, getData: () => text } })
      target.dispatchEvent(event)
      return event
    }
    const line = "lctl set_param ost.OSS.ost_io.nrs_tbf_rule='stop hog'"
    expect(paste(['text/plain'], line).defaultPrevented).toBe(true)
    await flushPromises()
    expect(called('addCell')).toMatchObject([{ id: 'INC-0042', cell: { kind: 'transcript', text: line } }])
    await find('note-edit').trigger('click')
    expect(paste(['text/plain'], line, find('draft-text').element).defaultPrevented).toBe(false)
    paste(['Files'], '')
    await flushPromises()
    expect(find('notebook').text()).toContain('names in an image cannot be redacted')
    expect(called('addCell')).toHaveLength(1)
  })

  it('keeps its scroll position while frames arrive', async () => {
    await open()
    const scroller = find('cells').element as HTMLElement
    scroller.scrollTop = 240
    ;(cell('c3').element as HTMLElement).focus()
    const before = document.activeElement
    const chart = cell('c2').element
    await send(incidentsFrame({ selected: incident({ title: 'Another title' }) }))
    expect(find('title').text()).toBe('Another title')
    expect(scroller.scrollTop).toBe(240)
    expect([document.activeElement, cell('c2').element]).toEqual([before, chart])
  })

  it('shows that it is gone, and undoes its own removal', async () => {
    await open()
    await find('remove-incident').trigger('click')
    await flushPromises()
    expect(called('remove')).toEqual([{ id: 'INC-0042' }])
    expect(useIncidentsStore().shown).toBe('INC-0041')
    await find('undo').trigger('click')
    await flushPromises()
    expect(called('restore')).toEqual([{ id: 'INC-0042' }])
    await send(incidentsFrame({ incidents: ROWS.slice(1), selected: null }))
    expect(find('incident-gone').text()).toContain('INC-0042 is no longer available')
  })

  it('shows an unknown id as not found, not as gone', async () => {
    await open()
    useIncidentsStore().choose('INC-0012')
    await flushPromises()
    expect(find('incident-gone').exists()).toBe(false)
    expect(find('incident-unknown').text()).toContain('INC-0012 not found')
    await find('incident-unknown').find('button').trigger('click')
    expect(useIncidentsStore().shown).toBe('INC-0042')
  })
})

describe('an open bundle', () => {
  const opened = {
    name: 'INC-0042.zip',
    integrity: HASH,
    incident: incident({ title: 'From elsewhere' }),
    manifest: {
      version: '1.0.0',
      redaction: 'pseudonyms',
      audit: { from: 18_204, to: 18_231, records: 28, anchor: HASH, head: HASH, chain: 'rehashed', verified: true },
    },
  } as unknown as NonNullable<ReturnType<typeof incidentsFrame>['opened']>

  it('shows its notebook on top, read only with the reason, and its audit as the manifest says', async () => {
    await open(incidentsFrame({ opened, selected: null }))
    await vi.waitFor(() => expect(find('notebook').exists()).toBe(true))
    expect(all('incident-row')[0]?.text()).toContain('From elsewhere')
    expect(all('incident-row')[0]?.text()).toContain('INC-0042.zip')
    expect(find('read-only').exists()).toBe(true)
    expect([all('cell-remove'), all('note-edit')].map((x) => x.length)).toEqual([0, 0])
    expect((find('add-note').element as HTMLButtonElement).disabled).toBe(true)
    expect((find('title').element as HTMLButtonElement).disabled).toBe(true)
    expect(find('audit').text()).toContain('chain verified and rehashed')
    await cell('c1').trigger('keydown', { key: 'Delete' })
    await cell('c1').trigger('keydown', { key: 'Enter' })
    expect([page.host.calls, find('draft-text').exists()]).toEqual([[], false])
    expect(page.host.queries.at(-1)?.selected).toBeNull()
    await send(incidentsFrame({ opened: null }))
    expect(useIncidentsStore().shown).toBe('INC-0042')
  })
})

describe('the filter', () => {
  const filtered = (found: { id: string; cells: string[] }[], reading = 0) => ({
    filtered: { filter: 'ost0003', passing: found.length, of: ROWS.length, found, reading },
  })

  it('is opened by /, evaluated by the host, and marks matching notebooks and cells', async () => {
    await open()
    await press('/')
    expect(document.activeElement?.getAttribute('data-testid')).toBe('filter')
    await find('filter').setValue('ost0003')
    await vi.waitFor(() => expect(page.host.queries.at(-1)?.filter).toBe('ost0003'))
    await send(
      incidentsFrame(
        filtered([
          { id: 'INC-0042', cells: ['c2', 'c6'] },
          { id: 'INC-0039', cells: [] },
        ]),
      ),
    )
    expect(all('incident-row').map((r) => r.attributes('data-incident'))).toEqual(['INC-0042', 'INC-0039'])
    expect(all('found').map((f) => f.text())).toEqual(['2 cells'])
    expect(find('filter-count').text()).toBe(`2 of ${ROWS.length}`)
    expect(cell('c2').classes('found')).toBe(true)
    expect(cell('c1').classes('found')).toBe(false)
    expect(all('cell')).toHaveLength(incident().cells.length)
    await press('j')
    expect(useIncidentsStore().shown).toBe('INC-0039')
    // The selection moves from a hidden notebook to the first match.
    useIncidentsStore().choose('INC-0041')
    await find('filter').trigger('keydown', { key: 'Enter' })
    expect(document.activeElement?.getAttribute('data-testid')).toBe('incident-list')
    expect(useIncidentsStore().shown).toBe('INC-0042')
    await press('Enter')
    expect(document.activeElement?.getAttribute('data-cell')).toBe('c2')
    await find('filter').trigger('keydown', { key: 'Escape' })
    expect(document.activeElement?.getAttribute('data-testid')).toBe('incident-list')
    expect(all('incident-row')).toHaveLength(ROWS.length)
  })

  it('shows that none matches, once all of them are read; the notebook stays', async () => {
    await open()
    useIncidentsStore().filter = 'ost0003'
    await vi.waitFor(() => expect(page.host.queries.at(-1)?.filter).toBe('ost0003'))
    await send(incidentsFrame(filtered([], 4)))
    expect(find('filter-count').text()).toBe('4 loading')
    expect(find('filtered-out').exists()).toBe(false)
    await send(incidentsFrame(filtered([])))
    expect(find('filtered-out').text()).toContain(`None of ${ROWS.length} notebooks matches ost0003.`)
    expect(find('notebook').exists()).toBe(true)
    await find('filtered-out-clear').trigger('click')
    expect(useIncidentsStore().filter).toBe('')
    expect(all('incident-row')).toHaveLength(ROWS.length)
  })
})
