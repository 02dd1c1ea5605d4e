import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { describe, expect, it } from 'vitest'
import { defineComponent, h } from 'vue'
import { createMemoryHistory, createRouter, type Router } from 'vue-router'
import type { IncidentsFrame } from '#core/api/incidents.ts'
import { useCommands } from '../composables/use-commands.ts'
import { useCompareStore } from '../stores/compare.ts'
import { NO_NOTEBOOK, useIncidentsStore } from '../stores/incidents.ts'
import { useNoteStore } from '../stores/note.ts'
import { useSelectionStore } from '../stores/selection.ts'
import { useTimeStore } from '../stores/time.ts'
import { apply, openTimeHost, playback, status, type TimeHost } from '#tests/kits/renderer/time-host.ts'
import { freshPage } from '#tests/kits/renderer/view-page.ts'
import CompareBar from './CompareBar.vue'
import FiledNotice from './FiledNotice.vue'
import NoteDialog from './NoteDialog.vue'
import { windowTitle } from './source-text.ts'
import { useAppCommands } from './use-app-commands.ts'

let wrapper: VueWrapper | null = null
let host: TimeHost
let router: Router
const viewCommands: string[] = []
freshPage(1200, () => {
  wrapper?.unmount()
  wrapper = null
  viewCommands.length = 0
})
async function open(view = 'overview'): Promise<void> {
  host = openTimeHost()
  apply(status())
  const names = [
    'overview',
    'jobs',
    'rules',
    'locks',
    'metadata',
    'tokens',
    'sandbox',
    'history',
    'incidents',
    'connections',
  ]
  const routes = names.map((name) => ({ path: `/${name}`, name, component: { render: () => null } }))
  router = createRouter({ history: createMemoryHistory(), routes })
  await router.push(`/${view}`)
  const View = defineComponent(() => {
    if (view === 'connections')
      useCommands({
        'connections.add': () => viewCommands.push('n'),
        'connections.connect': () => viewCommands.push('c'),
      })
    if (view === 'jobs')
      useCommands({ 'jobs.close': () => useSelectionStore().inspectorOpen && viewCommands.push('Backspace') })
    return () => h('div', [h(CompareBar), h(NoteDialog), h(FiledNotice)])
  })
  wrapper = mount(
    defineComponent(() => {
      useAppCommands({ palette: () => undefined, goTo: () => undefined, help: () => undefined })
      return () => h(View)
    }),
    { attachTo: document.body, global: { plugins: [router] } },
  )
  await flushPromises()
}
async function press(key: string, more: KeyboardEventInit = {}): Promise<boolean> {
  const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more })
  document.body.dispatchEvent(event)
  await flushPromises()
  return event.defaultPrevented
}
const find = (id: string): HTMLElement | null => document.querySelector<HTMLElement>(`[data-testid="${id}"]`)

describe('keys of the time cursor', () => {
  it('step by a sample and by ten, and pause there', async () => {
    await open()
    const time = useTimeStore()
    await press('ArrowLeft')
    expect(time.at).toBe(99)
    await press('ArrowLeft', { shiftKey: true })
    expect(time.at).toBe(89)
    await press('ArrowRight')
    expect(time.at).toBe(90)
    await press('L')
    expect(time.at).toBeNull()
    await press(' ')
    await press('ArrowRight', { shiftKey: true })
    expect(time.at).toBe(100)
  })

  it('step by a minute instead of the browser\u2019s action', async () => {
    await open()
    useTimeStore().goTo(100)
    expect(await press('ArrowLeft', { altKey: true })).toBe(true)
    expect(host.calls).toEqual([{ verb: 'goTo', input: { atMs: 40_000 } }])
  })

  it('go from event to event, also where the bracket is typed with AltGr', async () => {
    await open()
    await press('[')
    const altGr = new KeyboardEvent('keydown', {
      key: ']',
      ctrlKey: true,
      altKey: true,
      bubbles: true,
      cancelable: true,
    })
    altGr.getModifierState = (name) => name === 'AltGraph'
    document.body.dispatchEvent(altGr)
    await flushPromises()
    expect(host.calls.map((c) => (c.input as { direction: string }).direction)).toEqual(['previous', 'next'])
  })

  it('pin A, move it, and end the comparison by Shift+C or Esc, which first clears the selection', async () => {
    await open()
    const time = useTimeStore()
    const compare = useCompareStore()
    const selection = useSelectionStore()
    time.goTo(80)
    await press('c')
    expect(find('compare-a')?.textContent).toBe('00:01:20')
    expect(find('compare-bar')?.textContent).toContain('move the cursor')
    await press('ArrowRight', { shiftKey: true })
    expect(find('compare-b')?.textContent).toBe('00:01:30')
    expect(find('compare-bar')?.textContent).toContain('10 s later')
    await press('c')
    expect(compare.aMs).toBe(90_000)
    selection.select('4690.python')
    await press('Escape')
    expect([selection.jobId, compare.isOn]).toEqual([null, true])
    await press('Escape')
    expect(compare.isOn).toBe(false)
    await press('c')
    await press('C', { shiftKey: true })
    expect([compare.isOn, find('compare-bar'), viewCommands]).toEqual([false, null, []])
  })

  it('leave a view\u2019s own letters to it, and act there with Shift', async () => {
    await open('connections')
    await press('c')
    await press('n')
    expect([useCompareStore().isOn, useNoteStore().isOpen, viewCommands]).toEqual([false, false, ['c', 'n']])
    await press('N', { shiftKey: true })
    expect([useNoteStore().isOpen, useNoteStore().where, viewCommands]).toEqual([true, 'note', ['c', 'n']])
  })

  it('zoom out, unless an inspector closes instead', async () => {
    await open('jobs')
    const time = useTimeStore()
    const selection = useSelectionStore()
    expect(await press('Backspace')).toBe(false)
    time.zoom(60_000, 90_000)
    selection.select('4690.python', { inspect: true })
    await press('Backspace')
    expect([viewCommands, time.crumbs.length]).toEqual([['Backspace'], 1])
    selection.clear()
    await press('Backspace')
    expect([viewCommands.length, time.crumbs.length, time.windowMs]).toEqual([1, 0, 300_000])
  })
})

describe('a note', () => {
  it('is saved at the time at which the dialog was opened', async () => {
    await open()
    useTimeStore().goTo(80)
    await press('N', { shiftKey: true })
    expect(find('note-at')?.textContent).toContain('00:01:20 on altair')
    const text = find('note-text') as HTMLTextAreaElement
    expect((find('note-keep') as HTMLButtonElement).disabled).toBe(true)
    text.value = '  ckpt of 4690 again '
    text.dispatchEvent(new Event('input', { bubbles: true }))
    apply(status({ sample: 130, atMs: 130_000 }))
    await flushPromises()
    find('note-keep')?.click()
    await flushPromises()
    expect(host.calls).toEqual([{ verb: 'note', input: { atMs: 80_000, text: 'ckpt of 4690 again' } }])
    expect(find('note-dialog')).toBeNull()
  })

  it('keeps its text when refused, and shows the reason', async () => {
    await open()
    await press('N', { shiftKey: true })
    host.refuses = new Error('disk full <img src=x>')
    const text = find('note-text') as HTMLTextAreaElement
    text.value = 'x'
    text.dispatchEvent(new Event('input', { bubbles: true }))
    await flushPromises()
    find('note-keep')?.click()
    await flushPromises()
    expect(find('note-dialog')?.textContent).toContain('The note was not saved')
    expect(find('note-dialog')?.textContent).toContain('disk full <img src=x>')
    expect(document.querySelector('img')).toBeNull()
    expect(useNoteStore().text).toBe('x')
  })
})

describe('an incident', () => {
  const row = (id: string, more: object = {}) => ({
    id,
    title: `Title of ${id} <b>x</b>`,
    status: 'open',
    cluster: 'altair',
    author: 'mira',
    fault: '',
    createdMs: 1,
    resolvedMs: null,
    alert: null,
    cells: 1,
    ...more,
  })
  const listed = (...incidents: object[]): void =>
    useIncidentsStore().apply({ incidents, selected: null, opened: null } as unknown as IncidentsFrame, null)

  it('is created by N with title and note at the cursor; the view stays, with a link', async () => {
    await open('jobs')
    useTimeStore().goTo(80)
    await press('n')
    expect(find('where-new')?.getAttribute('aria-pressed')).toBe('true')
    expect(find('where-add')).toBeNull()
    const title = find('note-title') as HTMLInputElement
    title.value = ' Hog on five OSTs '
    title.dispatchEvent(new Event('input', { bubbles: true }))
    await flushPromises()
    find('note-keep')?.click()
    await flushPromises()
    const input = { atMs: 80_000, span: null, title: 'Hog on five OSTs', note: '' }
    expect(host.calls).toEqual([{ verb: 'create', input }])
    expect([useNoteStore().isOpen, router.currentRoute.value.name]).toEqual([false, 'jobs'])
    expect(find('filed')?.textContent).toContain('INC-0043 created')
    find('filed-open')?.click()
    await flushPromises()
    expect([router.currentRoute.value.name, useIncidentsStore().shown, find('filed')]).toEqual([
      'incidents',
      'INC-0043',
      null,
    ])
  })

  it('receives a note if it is the newest open one of this cluster', async () => {
    await open('rules')
    const others = [row('INC-0044', { cluster: 'vega' }), row('INC-0043', { status: 'resolved' })]
    listed(...others, row('INC-0042', { status: 'watching' }), row('INC-0041'))
    await press('N', { shiftKey: true })
    expect(find('where-add')?.textContent).toContain('Add to INC-0042')
    find('where-add')?.click()
    await flushPromises()
    expect(find('note-dialog')?.textContent).toContain('Title of INC-0042 <b>x</b>')
    const text = find('note-text') as HTMLTextAreaElement
    text.value = 'owner told'
    text.dispatchEvent(new Event('input', { bubbles: true }))
    await flushPromises()
    find('note-keep')?.click()
    await flushPromises()
    expect(host.calls).toMatchObject([
      { verb: 'addCell', input: { id: 'INC-0042', atMs: 100_000, cell: { kind: 'note', text: 'owner told' } } },
    ])
  })

  it('keeps the input when refused', async () => {
    await open()
    await press('n')
    host.refuses = new Error('disk full')
    const text = find('note-text') as HTMLTextAreaElement
    text.value = 'x'
    text.dispatchEvent(new Event('input', { bubbles: true }))
    await flushPromises()
    find('note-keep')?.click()
    await flushPromises()
    expect(find('note-dialog')?.textContent).toContain('The incident was not created')
    expect([useNoteStore().text, useIncidentsStore().filed]).toEqual(['x', null])
  })

  it('is the first step of Ctrl+E: the bundle of the newest open one, or of the window', async () => {
    await open()
    const view = useIncidentsStore()
    listed(row('INC-0042', { cluster: 'vega' }))
    await press('e', { ctrlKey: true })
    expect([router.currentRoute.value.name, view.shown, view.isBundleOpen]).toEqual(['incidents', NO_NOTEBOOK, true])
    await router.push({ name: 'jobs' })
    listed(row('INC-0043'))
    await press('e', { metaKey: true })
    expect([router.currentRoute.value.name, view.shown]).toEqual(['incidents', 'INC-0043'])
  })
})

describe('the title of the window', () => {
  it('names the source', () => {
    const naming = { kind: 'LIVE', cluster: 'altair', playback: null } as const
    expect(windowTitle(null, false)).toBe('Sluice')
    expect(windowTitle(naming, false)).toBe('LIVE altair \u00B7 Sluice')
    expect(windowTitle(naming, true)).toBe('PAUSED altair \u00B7 Sluice')
    const { playback: played } = playback({ playback: { file: 'mdt.qosrec', tier: 'raw', fromMs: 0, toMs: 1 } })
    expect(windowTitle({ ...naming, kind: 'RECORDED', playback: played ?? null }, true)).toBe(
      'RECORDED altair, mdt.qosrec \u00B7 Sluice',
    )
  })
})
