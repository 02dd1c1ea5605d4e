import { flushPromises, mount, type DOMWrapper, type VueWrapper } from '@vue/test-utils'
import { defineComponent, h, nextTick, shallowRef, type Component, type Slots } from 'vue'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { announcement } from '../composables/announcements.ts'
import { rowText, selectionText, sortByKey, stepRow, targetRow } from '../reach/tables.ts'
import { completeOrder, crowdedOut, reordered, useTableModel, type TableColumn } from './data-table.ts'
import DataTable from './DataTable.vue'
import { layoutOf, memoryLayouts, tableClipboard, tableLayouts, type TableLayout } from './table-services.ts'

interface Job {
  readonly id: string
  readonly rpcs: number | null
  readonly rule: string
}
const jobsOf = (count: number): Job[] =>
  Array.from({ length: count }, (_, i) => ({ id: `job-${i}`, rpcs: (i * 7) % 10, rule: i % 2 ? 'hog' : 'default' }))
const columns: readonly TableColumn<Job>[] = [
  { id: 'rank', title: '#', label: 'Rank', width: 34, isFixed: true, isNumber: true },
  { id: 'job', title: 'Job', width: 140, flex: 1, canSort: true, sortKey: 'n', canHide: false, text: (j) => j.id },
  {
    id: 'rpcs',
    title: 'RPC',
    unit: '1/s',
    width: 80,
    isNumber: true,
    canSort: true,
    sortKey: 'i',
    explain: 'jobs.rpcs',
    value: (j) => j.rpcs,
    text: (j) => (j.rpcs === null ? '\u2013' : `${j.rpcs}`),
  },
  { id: 'rule', title: 'Rule', width: 100, priority: 1, text: (j) => j.rule },
]

const ROW_PX = 24
const VIEW_PX = 600
let wrapper: VueWrapper
let written: Record<string, TableLayout | null>
let copied: string[]
/** Reports of resize observers by target: the DOM of the tests has no layout. */
let reports: { readonly target: Element; readonly report: (width: number, height: number) => void }[]
beforeEach(() => {
  vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(VIEW_PX)
  vi.spyOn(HTMLElement.prototype, 'offsetHeight', 'get').mockReturnValue(VIEW_PX)
  vi.spyOn(HTMLElement.prototype, 'offsetWidth', 'get').mockReturnValue(900)
  reports = []
  vi.stubGlobal(
    'ResizeObserver',
    class {
      readonly #callback: ResizeObserverCallback
      constructor(callback: ResizeObserverCallback) {
        this.#callback = callback
      }
      observe(target: Element): void {
        const report = (width: number, height: number): void => {
          const borderBoxSize = [{ inlineSize: width, blockSize: height }]
          const entry = { target, contentRect: { width, height }, borderBoxSize }
          this.#callback([entry as unknown as ResizeObserverEntry], this)
        }
        reports.push({ target, report })
      }
      unobserve(): void {}
      disconnect(): void {}
    },
  )
  written = {}
  copied = []
})
afterEach(() => {
  wrapper?.unmount()
  document.body.replaceChildren()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

async function show(
  rows: readonly Job[],
  more: Record<string, unknown> = {},
  slots: Record<string, Slots[string]> = {},
): Promise<void> {
  wrapper = mount(DataTable as unknown as Component, {
    props: {
      tableId: 'jobs',
      label: 'Jobs',
      columns,
      rows,
      rowId: (job: Job) => job.id,
      rowHeight: ROW_PX,
      rowAttributes: (job: Job) => ({ 'data-testid': 'row', 'data-row': job.id, class: { idle: job.rpcs === 0 } }),
      ...more,
    },
    slots,
    attrs: { 'data-main-table': '', 'data-testid': 'jobs' },
    global: {
      provide: {
        [tableLayouts as symbol]: {
          read: () => more['layout'] ?? null,
          write: (id: string, layout: TableLayout | null) => (written[id] = layout),
        },
        [tableClipboard as symbol]: async (text: string) => {
          copied.push(text)
          return 'copied'
        },
      },
    },
    attachTo: document.body,
  }) as VueWrapper
  await flushPromises()
}
const table = (): HTMLElement => wrapper.element as HTMLElement
const all = (selector: string): DOMWrapper<Element>[] => wrapper.findAll(selector)
const rowsShown = (): (string | undefined)[] => all('[data-testid=row]').map((row) => row.attributes('data-row'))
const heads = (): (string | undefined)[] => all('[role=columnheader]').map((head) => head.attributes('data-col'))
const column = (id: string): string[] => all(`[data-testid=row] > [data-col=${id}]`).map((cell) => cell.text())
const row = (id: string): DOMWrapper<Element> => wrapper.find(`[data-row="${id}"]`)
const press = (key: string, more: KeyboardEventInit = {}): Promise<void> => wrapper.trigger('keydown', { key, ...more })
const exposed = () =>
  wrapper.vm as unknown as { copyText: (format: string, rows?: 'all') => string; element: Element | null }
const picked = (): unknown => wrapper.emitted('selection')?.at(-1)?.[0]
async function resizeTo(width: number, height: number): Promise<void> {
  for (const { target, report } of reports) if (target === table()) report(width, height)
  await nextTick()
}
/** Rectangles of the headers, side by side. */
function layOut(widths: Record<string, number>): void {
  let left = 0
  for (const head of table().querySelectorAll<HTMLElement>('[role=columnheader]')) {
    const width = widths[head.dataset['col'] ?? ''] ?? 0
    const box = new DOMRect(left, 0, width, 28)
    head.getBoundingClientRect = () => box
    left += width
  }
}

describe('rows', () => {
  it('of a hundred thousand are rendered only in view, with their place in the list', async () => {
    await show(jobsOf(100_000))
    expect(wrapper.attributes()).toMatchObject({ role: 'table', 'aria-label': 'Jobs', 'aria-rowcount': '100001' })
    const inView = Math.ceil(VIEW_PX / ROW_PX)
    expect(rowsShown().length).toBeGreaterThanOrEqual(inView)
    expect(rowsShown().length).toBeLessThan(inView + 10)
    expect(row('job-0').attributes('aria-rowindex')).toBe('2')
    expect((wrapper.find('.rows').element as HTMLElement).style.height).toBe(`${100_000 * ROW_PX}px`)
  })

  it('of a list of the host are a slice: the rest is requested, and a row is selected when it has arrived', async () => {
    await show(jobsOf(60), { count: 5000 })
    expect(wrapper.emitted('slice')?.[0]).toEqual([{ offset: 0, limit: 40 }])
    await press('End')
    expect(wrapper.emitted('select')).toBeUndefined()
    await wrapper.setProps({ offset: 4940, rows: jobsOf(60).map((job) => ({ ...job, id: `${job.id}-late` })) })
    expect(wrapper.emitted('select')).toEqual([[expect.objectContaining({ id: 'job-59-late' }), 4999]])
  })

  it('have the text of their columns, hostile text included, and the attributes of the view', async () => {
    const hostile = '<img src=x onerror=alert(1)>'
    await show([{ id: hostile, rpcs: 0, rule: hostile }])
    expect(column('job')).toEqual([hostile])
    expect(document.querySelector('img')).toBeNull()
    expect(all('[data-testid=row]')[0]?.classes()).toContain('idle')
  })

  it('are shown by slots, with footer cells, and a note if there are none', async () => {
    await show(
      [],
      {},
      {
        'cell-rule': (scope: { row: Job }) => [h('b', scope.row.rule)],
        'foot-rpcs': () => [h('i', 'sum')],
        empty: () => [h('p', { class: 'empty' }, 'No jobs.')],
      },
    )
    expect(wrapper.text()).toContain('No jobs.')
    expect(wrapper.find('.foot [data-col=rpcs]').text()).toBe('sum')
    await wrapper.setProps({ rows: jobsOf(1) })
    expect(wrapper.find('[data-testid=row] b').text()).toBe('default')
    expect(wrapper.text()).not.toContain('No jobs.')
  })

  it('get a footer that the view gives later, and it takes their space', async () => {
    const isGiven = shallowRef(false)
    const given = { tableId: 'later', label: 'Jobs', columns, rows: jobsOf(100), rowHeight: ROW_PX }
    const view = () =>
      h(
        DataTable as unknown as Component,
        { ...given, rowId: (job: Job) => job.id },
        isGiven.value ? { 'foot-job': () => 'sum' } : {},
      )
    wrapper = mount(view, { attachTo: document.body })
    await flushPromises()
    await resizeTo(900, 28 + 10 * ROW_PX + 7)
    expect([wrapper.find('.foot').exists(), table().style.getPropertyValue('--spare')]).toEqual([false, '7px'])
    isGiven.value = true
    await nextTick()
    expect(wrapper.find('.foot [data-col=job]').text()).toBe('sum')
    expect(table().style.getPropertyValue('--spare')).toBe('1px')
    isGiven.value = false
    await nextTick()
    expect([wrapper.find('.foot').exists(), table().style.getPropertyValue('--spare')]).toEqual([false, '7px'])
  })

  it('are never cut: the space below the last whole one is covered', async () => {
    await show(jobsOf(100))
    await resizeTo(900, 28 + 10 * ROW_PX + 7)
    expect(table().style.getPropertyValue('--spare')).toBe('7px')
    expect(wrapper.find('.spare').exists()).toBe(true)
    await wrapper.setProps({ rows: jobsOf(3) })
    expect(wrapper.find('.spare').exists()).toBe(false)
  })
})

describe('the state of the columns', () => {
  it('is not created again by new rows, nor by new columns that are the same', async () => {
    const rows = shallowRef<readonly Job[]>(jobsOf(200))
    const shown = shallowRef(columns)
    const host = defineComponent({
      setup: () => {
        const model = useTableModel<Job>({
          tableId: () => 'same',
          columns: () => shown.value,
          rows: () => rows.value,
          rowId: (job) => job.id,
          widthPx: () => 900,
          gapPx: () => 10,
          insetPx: () => 16,
          isSortedHere: () => false,
          sort: () => ({ id: 'rpcs', descending: true }),
          canUnsort: () => false,
          onSort: () => undefined,
        })
        return { model, rows: model.rows }
      },
      render() {
        return h('p', `${this.rows.length} ${this.model.template.value}`)
      },
    })
    wrapper = mount(host)
    const { table: state } = (
      wrapper.vm as unknown as { model: { table: ReturnType<typeof useTableModel<Job>>['table'] } }
    ).model
    const before = [state.options, state.getVisibleLeafColumns(), state.getCoreRowModel()]
    for (let frame = 0; frame < 10; frame++) {
      rows.value = jobsOf(200 + frame)
      shown.value = columns.map((column) => ({ ...column }))
      await nextTick()
    }
    expect(wrapper.text()).toBe('209 34px minmax(140px, 1fr) 80px 100px')
    const after = [state.options, state.getVisibleLeafColumns(), state.getCoreRowModel()]
    expect(after.map((part, i) => part === before[i])).toEqual([true, true, true])
    expect(state.getCoreRowModel().rows).toHaveLength(0)
  })

  it('hides the least important columns while the table is narrow, unless they were shown by hand', async () => {
    expect([...crowdedOut([{ id: 'a', leastPx: 100, priority: undefined }], 50, 10)]).toEqual([])
    const three = [
      { id: 'a', leastPx: 100, priority: undefined },
      { id: 'b', leastPx: 100, priority: 2 },
      { id: 'c', leastPx: 100, priority: 1 },
    ]
    expect([320, 319, 209, 0].map((width) => [...crowdedOut(three, width, 10)].join(''))).toEqual(['', 'c', 'cb', ''])
    await show(jobsOf(3))
    await resizeTo(300, VIEW_PX)
    expect(heads()).toEqual(['rank', 'job', 'rpcs'])
    wrapper.unmount()
    await show(jobsOf(3), { layout: { shown: { rule: true } } })
    await resizeTo(300, VIEW_PX)
    expect(heads()).toEqual(['rank', 'job', 'rpcs', 'rule'])
  })

  it('is stored by table, and read back without what is not valid', async () => {
    expect(layoutOf({ order: ['a', 3], widths: { a: 40, b: -1, c: 'x' }, shown: { a: false, b: 'no' } })).toEqual({
      order: ['a'],
      widths: { a: 40 },
      shown: { a: false },
    })
    expect(layoutOf('junk')).toEqual({ order: [], widths: {}, shown: {} })
    await show(jobsOf(3), { layout: { order: ['gone', 'rule', 'job'], widths: { rpcs: 120 } } })
    expect(heads()).toEqual(['rank', 'rule', 'job', 'rpcs'])
    expect(table().style.getPropertyValue('--grid-cols')).toBe('34px 100px minmax(140px, 1fr) 120px')
    memoryLayouts.write('x', layoutOf({ order: ['a'] }))
    expect(memoryLayouts.read('x')).toMatchObject({ order: ['a'] })
    memoryLayouts.write('x', null)
    expect(memoryLayouts.read('x')).toBeUndefined()
  })

  it('keeps fixed columns at the ends, and puts a new one after its predecessor', () => {
    const known = [
      { id: 'rank', isFixed: true },
      { id: 'a', isFixed: false },
      { id: 'b', isFixed: false },
      { id: 'c', isFixed: false },
      { id: 'edit', isFixed: true },
    ]
    expect(completeOrder(known, [])).toEqual(['rank', 'a', 'b', 'c', 'edit'])
    expect(completeOrder(known, ['edit', 'c', 'a', 'gone', 'c'])).toEqual(['rank', 'c', 'a', 'b', 'edit'])
    expect(reordered(['a', 'b', 'c'], 'a', 'c', 'after')).toEqual(['b', 'c', 'a'])
    expect(reordered(['a', 'b', 'c'], 'c', 'a', 'before')).toEqual(['c', 'a', 'b'])
    expect(reordered(['a', 'b'], 'a', 'none', 'before')).toEqual(['a', 'b'])
  })
})

describe('a header', () => {
  it('sorts through the host by click and by its letter, first in the direction that suits', async () => {
    await show(jobsOf(5), { sort: 'rpcs', descending: true })
    expect(wrapper.find('[data-col=rpcs]').attributes()).toMatchObject({
      'aria-sort': 'descending',
      'data-explain': 'jobs.rpcs',
    })
    const button = wrapper.find('[data-testid=sort-job]')
    expect(button.attributes()).toMatchObject({ 'data-sort-key': 'n', title: 'Keys: s n' })
    await button.trigger('click')
    expect(sortByKey(table(), 'i')).toBe(true)
    expect(sortByKey(table(), 'x')).toBe(false)
    expect(wrapper.emitted('sort')).toEqual([
      ['job', false],
      ['rpcs', false],
    ])
    expect(rowsShown()).toEqual(['job-0', 'job-1', 'job-2', 'job-3', 'job-4'])
  })

  it('sorts rows in the table, those without a value last, until it is clicked a third time', async () => {
    const jobs = [
      { id: 'job-10', rpcs: 2, rule: '' },
      { id: 'job-9', rpcs: null, rule: '' },
      { id: 'job-8', rpcs: 5, rule: '' },
    ]
    await show(jobs, { sortedBy: 'table', canUnsort: true })
    const sort = async (id: string): Promise<string[]> => {
      await wrapper.find(`[data-testid=sort-${id}]`).trigger('click')
      return column('job')
    }
    expect(await sort('rpcs')).toEqual(['job-8', 'job-10', 'job-9'])
    expect(await sort('rpcs')).toEqual(['job-10', 'job-8', 'job-9'])
    expect(await sort('rpcs')).toEqual(['job-10', 'job-9', 'job-8'])
    expect(await sort('job')).toEqual(['job-8', 'job-9', 'job-10'])
    await wrapper.setProps({ rows: [...jobs, { id: 'job-1', rpcs: 1, rule: '' }] })
    expect(column('job')).toEqual(['job-1', 'job-8', 'job-9', 'job-10'])
    await press('ArrowDown')
    expect(wrapper.emitted('select')).toEqual([[expect.objectContaining({ id: 'job-1' }), 0]])
  })

  it('is one Tab stop; arrow keys move between columns and back to the rows', async () => {
    await show(jobsOf(3))
    const tabbable = (): (string | undefined)[] =>
      all('.head [tabindex="0"]').map((element) => element.attributes('data-stop'))
    expect(tabbable()).toEqual(['rank'])
    const rank = wrapper.find('[data-col=rank]').element as HTMLElement
    rank.focus()
    rank.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true, cancelable: true }))
    await nextTick()
    expect(tabbable()).toEqual(['job'])
    expect(document.activeElement).toBe(wrapper.find('[data-testid=sort-job]').element)
    await wrapper.find('[data-testid=sort-job]').trigger('keydown', { key: 'End' })
    expect(tabbable()).toEqual(['menu'])
    await wrapper.find('[data-testid=table-menu-button]').trigger('keydown', { key: 'ArrowDown' })
    expect(document.activeElement).toBe(table())
    expect(wrapper.emitted('select')).toBeUndefined()
  })

  it('resizes by Alt and arrow keys, and by its edge; a press without movement changes nothing', async () => {
    await show(jobsOf(3))
    const template = (): string => table().style.getPropertyValue('--grid-cols')
    await wrapper.find('[data-testid=sort-rpcs]').trigger('keydown', { key: 'ArrowRight', altKey: true })
    expect(template()).toBe('34px minmax(140px, 1fr) 96px 100px')
    expect(written['jobs']?.widths).toEqual({ rpcs: 96 })
    layOut({ rank: 34, job: 300, rpcs: 96, rule: 100 })
    const edge = wrapper.find('[data-col=job] .edge')
    const drag = async (...xs: number[]): Promise<void> => {
      await edge.trigger('mousedown', { clientX: 334 })
      for (const clientX of xs) document.dispatchEvent(new MouseEvent('mousemove', { clientX }))
      document.dispatchEvent(new MouseEvent('mouseup', { clientX: xs.at(-1) ?? 334 }))
      await nextTick()
    }
    await drag()
    expect(template()).toBe('34px minmax(140px, 1fr) 96px 100px')
    await drag(350, 364)
    expect(template()).toBe('34px 330px 96px 100px')
    await drag(-900)
    expect(template()).toBe('34px 32px 96px 100px')
    await edge.trigger('dblclick')
    expect(template()).toBe('34px minmax(140px, 1fr) 96px 100px')
    expect(wrapper.find('[data-col=rank] .edge').exists()).toBe(false)
  })

  it('moves by Alt, Shift and arrow keys, never past a fixed column', async () => {
    await show(jobsOf(3))
    const key = { altKey: true, shiftKey: true }
    await wrapper.find('[data-testid=sort-job]').trigger('keydown', { key: 'ArrowLeft', ...key })
    expect(heads()).toEqual(['rank', 'job', 'rpcs', 'rule'])
    await wrapper.find('[data-testid=sort-job]').trigger('keydown', { key: 'ArrowRight', ...key })
    await flushPromises()
    expect(heads()).toEqual(['rank', 'rpcs', 'job', 'rule'])
    expect(announcement.value).toBe('Job: column 3 of 4')
    expect(document.activeElement).toBe(wrapper.find('[data-testid=sort-job]').element)
    expect(written['jobs']?.order).toEqual(['rank', 'rpcs', 'job', 'rule'])
    expect(
      all('[data-testid=row]')[0]
        ?.findAll('[role=cell]')
        .map((cell) => cell.attributes('data-col')),
    ).toEqual(heads())
  })

  it('moves by dragging, and does not sort then', async () => {
    await show(jobsOf(3))
    layOut({ rank: 34, job: 300, rpcs: 96, rule: 100 })
    const move = (clientX: number): boolean => window.dispatchEvent(new PointerEvent('pointermove', { clientX }))
    const drag = async (...xs: number[]): Promise<void> => {
      await wrapper.find('[data-col=rpcs]').trigger('pointerdown', { button: 0, clientX: 380 })
      for (const x of xs) move(x)
      await nextTick()
    }
    await drag(382, 60)
    expect(wrapper.find('[data-col=job]').classes()).toContain('drop-before')
    window.dispatchEvent(new PointerEvent('pointerup'))
    await wrapper.find('[data-testid=sort-rpcs]').trigger('click')
    expect(heads()).toEqual(['rank', 'rpcs', 'job', 'rule'])
    expect(wrapper.emitted('sort')).toBeUndefined()
    await drag(60)
    window.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }))
    window.dispatchEvent(new PointerEvent('pointerup'))
    await nextTick()
    expect(heads()).toEqual(['rank', 'rpcs', 'job', 'rule'])
    expect(wrapper.find('[class*=drop-]').exists()).toBe(false)
  })

  it('has a menu that shows and hides columns and resets them', async () => {
    await show(jobsOf(3))
    const choose = async (id: string, from = '[data-testid=table-menu-button]'): Promise<void> => {
      await wrapper.find(from).trigger(from.includes('menu') ? 'click' : 'contextmenu')
      await vi.waitFor(() => expect(document.querySelector(`[data-testid=${id}]`)).not.toBeNull())
      const item = document.querySelector(`[data-testid=${id}]`) as HTMLElement
      item.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }))
      await vi.waitFor(() => expect(document.querySelector('[data-testid=table-menu]')).toBeNull())
    }
    await choose('column-rule')
    expect(heads()).toEqual(['rank', 'job', 'rpcs'])
    expect(written['jobs']?.shown).toEqual({ rule: false })
    await choose('column-hide', '[data-col=rpcs]')
    expect(heads()).toEqual(['rank', 'job'])
    await choose('column-rpcs')
    expect(heads()).toEqual(['rank', 'job', 'rpcs'])
    await choose('columns-reset')
    expect(heads()).toEqual(['rank', 'job', 'rpcs', 'rule'])
    expect(written['jobs']).toBeNull()
    expect(document.querySelector('[data-testid=column-job]')).toBeNull()
  })

  it('says what a compared column shows, and copies its parts', async () => {
    const parts = (job: Job): readonly [string, string, string] => ['1', `${job.rpcs}`, '+5']
    const compared = columns.map((c) => (c.id === 'rpcs' ? { ...c, compared: { parts } } : c))
    await show(jobsOf(2), { columns: compared })
    expect(wrapper.find('[data-testid=sort-rpcs] .unit').text()).toBe('1/s, A, B, change')
    expect(column('rpcs')).toEqual(['A 1B 0change +5', 'A 1B 7change +5'])
    expect(exposed().copyText('tsv')).toBe(
      'Job\tRPC 1/s A\tRPC 1/s B\tRPC 1/s change\tRule\njob-0\t1\t0\t+5\tdefault\njob-1\t1\t7\t+5\thog\n',
    )
    await wrapper.setProps({
      columns: columns.map((c) => (c.id === 'rpcs' ? { ...c, compared: { parts, isShort: true } } : c)),
    })
    expect(wrapper.find('[data-testid=sort-rpcs] .unit').text()).toBe('1/s, B, change')
  })
})

describe('the current row', () => {
  it('is moved by keys, selected by clicks, and shows the focus', async () => {
    await show(jobsOf(50), { canOpen: true })
    expect(all('.current').map((r) => r.attributes('data-row'))).toEqual(['job-0'])
    expect(all('[aria-selected=true]')).toHaveLength(0)
    for (const key of ['ArrowDown', 'ArrowDown', 'PageDown', 'ArrowUp', 'End', 'Home', 'ArrowUp']) await press(key)
    const moved = wrapper.emitted('select')?.map(([job]) => (job as Job).id)
    expect(moved).toEqual(['job-0', 'job-1', 'job-11', 'job-10', 'job-49', 'job-0', 'job-0'])
    await row('job-3').trigger('click')
    expect(row('job-3').attributes('aria-selected')).toBe('true')
    expect(row('job-3').classes()).toEqual(expect.arrayContaining(['sel', 'current']))
    await press('Enter')
    await row('job-4').trigger('dblclick')
    expect(wrapper.emitted('open')?.map(([job, index]) => [(job as Job).id, index])).toEqual([
      ['job-3', 3],
      ['job-4', 4],
    ])
  })

  it('is that of the view if the view has one', async () => {
    await show(jobsOf(9), { selected: 'job-4' })
    await press('ArrowDown')
    expect(wrapper.emitted('select')).toEqual([[expect.objectContaining({ id: 'job-5' }), 5]])
    expect(row('job-4').attributes('aria-selected')).toBe('true')
    await wrapper.setProps({ selected: 'job-5' })
    expect(all('.sel').map((r) => r.attributes('data-row'))).toEqual(['job-5'])
    await wrapper.setProps({ selected: null })
    expect(all('[aria-selected=true]')).toHaveLength(0)
  })

  it('is named by a grid for screen readers', async () => {
    await show(jobsOf(9), { role: 'grid' })
    await press('ArrowDown')
    await press('ArrowDown')
    expect(wrapper.attributes('aria-multiselectable')).toBe('true')
    expect(row('job-1').attributes('id')).toBe(wrapper.attributes('aria-activedescendant'))
    expect(row('job-1').findAll('[role=gridcell]')).toHaveLength(4)
  })

  it('leaves keys to fields and buttons in rows, and keys that it does not use to the view', async () => {
    const cell = { 'cell-rule': () => [h('input'), h('button', 'Edit')] }
    await show(jobsOf(3), { canOpen: true }, cell)
    await row('job-1').find('input').trigger('keydown', { key: 'ArrowDown' })
    await row('job-1').find('button').trigger('keydown', { key: 'Enter' })
    await row('job-1').find('button').trigger('click')
    expect([wrapper.emitted('select'), wrapper.emitted('open')]).toEqual([undefined, undefined])
    const passed: string[] = []
    const note = (event: KeyboardEvent): unknown => event.defaultPrevented || passed.push(event.key)
    window.addEventListener('keydown', note)
    for (const key of ['Escape', 'ArrowLeft', 'c', ' ', 'ArrowDown']) await press(key)
    await wrapper.setProps({ canOpen: false, multiple: false })
    await press('Enter')
    window.removeEventListener('keydown', note)
    expect(passed).toEqual(['Escape', 'ArrowLeft', 'c', ' ', 'Enter'])
  })
})

describe('the multi-selection', () => {
  it('is made by Ctrl+Space, Ctrl and Shift, and cleared by Escape or a click', async () => {
    await show(jobsOf(9))
    await row('job-2').trigger('click')
    await row('job-4').trigger('click', { ctrlKey: true })
    expect(picked()).toEqual(['job-2', 'job-4'])
    await row('job-4').trigger('click', { ctrlKey: true })
    expect(picked()).toEqual(['job-2'])
    await row('job-6').trigger('click', { shiftKey: true })
    expect(picked()).toEqual(['job-4', 'job-5', 'job-6'])
    await press('ArrowDown', { shiftKey: true })
    expect(picked()).toEqual(['job-4', 'job-5', 'job-6', 'job-7'])
    expect(all('[aria-selected=true]').map((r) => r.attributes('data-row'))).toEqual(picked())
    await press(' ', { ctrlKey: true })
    expect(picked()).toEqual(['job-4', 'job-5', 'job-6'])
    await press('Escape')
    expect(picked()).toEqual([])
    await press('a', { ctrlKey: true })
    expect((picked() as string[]).length).toBe(9)
    expect(announcement.value).toBe('9 rows selected')
    await row('job-0').trigger('click')
    expect(picked()).toEqual([])
    expect(all('.picked')).toHaveLength(0)
  })

  it('keeps rows that are not loaded any more, for copying', async () => {
    await show(jobsOf(5), { count: 1000 })
    await row('job-1').trigger('click', { ctrlKey: true })
    await wrapper.setProps({ offset: 500, rows: [{ id: 'far', rpcs: 9, rule: 'x' }] })
    expect(selectionText(table())).toBe('Job\tRPC 1/s\tRule\njob-1\t7\thog\n')
  })
})

describe('copied text', () => {
  it('is of the selection, else of the current row, else of all loaded rows', async () => {
    await show(jobsOf(3))
    expect(exposed().copyText('tsv').trim().split('\n')).toHaveLength(4)
    await row('job-1').trigger('click')
    expect(exposed().copyText('tsv')).toBe('Job\tRPC 1/s\tRule\njob-1\t7\thog\n')
    expect(exposed().copyText('tsv', 'all').trim().split('\n')).toHaveLength(4)
    await row('job-2').trigger('click', { ctrlKey: true })
    expect(exposed().copyText('tsv').trim().split('\n')).toHaveLength(3)
  })

  it('is CSV that no spreadsheet runs, with negative figures as figures, and JSON by column id', async () => {
    await show([
      { id: '=HYPERLINK("x")', rpcs: -5, rule: 'a, "b"' },
      { id: '@x\ty', rpcs: null, rule: '\u22121' },
    ])
    expect(exposed().copyText('csv')).toBe(
      `Job,RPC 1/s,Rule\r\n"'=HYPERLINK(""x"")",-5,"a, ""b"""\r\n'@x y,\u2013,'-1\r\n`,
    )
    expect(exposed().copyText('tsv').split('\n')[1]).toBe(`'=HYPERLINK("x")\t-5\ta, "b"`)
    expect(JSON.parse(exposed().copyText('json'))).toEqual([
      { job: '=HYPERLINK("x")', rpcs: -5, rule: 'a, "b"' },
      { job: '@x y', rpcs: null, rule: '-1' },
    ])
  })

  it('has the columns in view, in their order', async () => {
    await show(jobsOf(1), { layout: { order: ['rule', 'rpcs', 'job'], shown: { rpcs: false } } })
    expect(exposed().copyText('tsv')).toBe('Rule\tJob\ndefault\tjob-0\n')
  })

  it('goes to the clipboard from the menu, and by the copy key of the system', async () => {
    await show(jobsOf(2))
    await wrapper.find('[data-col=rule]').trigger('contextmenu')
    await vi.waitFor(() => expect(document.querySelector('[data-testid=copy-json]')).not.toBeNull())
    expect(document.querySelector('[data-testid=table-menu]')?.textContent).toContain('Copy 2 rows')
    document.querySelector('[data-testid=copy-json]')?.dispatchEvent(new MouseEvent('click', { bubbles: true }))
    await vi.waitFor(() => expect(announcement.value).toBe('2 rows copied as JSON'))
    expect(copied).toEqual([exposed().copyText('json')])
    const data = new Map<string, string>()
    const event = Object.assign(new Event('copy', { cancelable: true }), {
      clipboardData: { setData: (type: string, text: string) => data.set(type, text) },
    })
    table().dispatchEvent(event)
    expect(data.get('text/plain')).toBe(exposed().copyText('tsv'))
    expect(event.defaultPrevented).toBe(true)
  })
})

it('answers the keys common to all tables: moves, copies the targeted row, finds it', async () => {
  await show(jobsOf(9))
  expect(targetRow(table())).toBeNull()
  expect([stepRow(table(), 1), stepRow(table(), 1)]).toEqual([true, true])
  await nextTick()
  const target = targetRow(table())
  expect(target?.dataset['row']).toBe('job-1')
  expect(rowText(table(), target as Element)).toBe('Job\tRPC 1/s\tRule\njob-1\t7\thog\n')
  expect(selectionText(table())).toBeNull()
})

it('keeps an element with its row if rows have controls', async () => {
  await show(jobsOf(3), { isKeyedByRow: true })
  const element = row('job-2').element
  await wrapper.setProps({ rows: jobsOf(3).toReversed() })
  expect(row('job-2').element).toBe(element)
})
