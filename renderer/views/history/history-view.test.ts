import { flushPromises } from '@vue/test-utils'
import { describe, expect, it, vi } from 'vitest'
import { useHistoryStore } from '../../stores/history.ts'
import { useJobsTableStore } from '../../stores/jobs-table.ts'
import { useSelectionStore } from '../../stores/selection.ts'
import { useTimeStore } from '../../stores/time.ts'
import { resendFrame } from '#tests/kits/renderer/view-page.ts'
import {
  A,
  at,
  B,
  compared,
  DAY,
  historyFrame,
  HOUR,
  mark,
  NOW_MS,
  spanOf,
  TODAY,
  MARKS,
} from '#tests/kits/renderer/views/history-host.ts'
import { historyPage, xOf } from '#tests/kits/renderer/views/history-page.ts'
import { wordsOf } from '#tests/kits/renderer/picture-parts.ts'
import { dayPicture } from '../../charts/day-chart.ts'
import DayChart from '../../charts/DayChart.vue'
import { overlayPicture } from '../../charts/overlay-chart.ts'
import OverlayChart from '../../charts/OverlayChart.vue'
import { palette } from '../../theme/palette.ts'
import { runs } from '../../widgets/canvas.ts'

// Generous, for loaded machines.
vi.setConfig({ testTimeout: 20_000 })
const { page, open, openWhole, find, all, press, lastQuery, called, drag } = historyPage()
const key = (name: string, more: object = {}) => find('spans').trigger('keydown', { key: name, ...more })

describe('the day', () => {
  it('draws gaps with their reason, the watch level and every event, and never a zero for a gap', async () => {
    await open()
    expect(find('day-name').text()).toBe('Thu 19 Nov')
    const size = { width: 838, height: 180 }
    const picture = dayPicture(page.wrapper.findComponent(DayChart).props(), palette.value, size)
    expect(find('day-chart').attributes('data-gaps')).toBe('1')
    expect(picture.ranges?.filter(({ fill }) => fill === 'gap')).toHaveLength(1)
    expect(picture.levels?.map(({ value }) => value)).toEqual([150])
    expect(wordsOf(picture, size)).toContain('warning 150 ms')
    // Two of the eight are too close for separate shapes.
    expect(all('event-mark')).toHaveLength(7)
    const label = find('day-chart').attributes('aria-label')
    expect(label).toContain('mean service time on Thu 19 Nov: from 45 ms to 283 ms')
    expect(label).toContain('1 gap, 8 events')
    // Two line segments, interrupted by the gap.
    expect(runs(picture.layers?.[0]?.values ?? [])).toHaveLength(2)
    await find('spans').trigger('pointermove', { clientX: xOf(at(14)) })
    expect(find('day-reading').text()).toBe('14:00 console not running')
    await find('spans').trigger('pointermove', { clientX: xOf(at(3)) })
    expect(find('day-reading').text()).toMatch(/^03:00 \d+ ms$/)
  })

  it('filters events by kind, in the chart and in its table', async () => {
    await open()
    useHistoryStore().eventGroup = 'operator'
    await flushPromises()
    // Two of the five are too close for separate shapes.
    expect(all('event-mark')).toHaveLength(4)
    expect(find('day-chart').attributes('aria-label')).toContain('1 gap, 5 events')
    useHistoryStore().isTable = true
    await flushPromises()
    const rows = (): number => Number(find('day-table').attributes('aria-rowcount'))
    const ofOperators = rows()
    useHistoryStore().eventGroup = 'all'
    await flushPromises()
    expect(rows() - ofOperators).toBe(MARKS.length - 5)
  })

  it('makes A by the first drag and B by the second, snapped to five minutes, and asks the host for both', async () => {
    await open()
    expect(find('chip-a').attributes('aria-pressed')).toBe('true')
    await drag(A.fromMs + 40_000, A.toMs - 30_000)
    expect(find('chip-b').attributes('aria-pressed')).toBe('true')
    // B begins a little after A: at its edge, the drag would take A's edge.
    await drag(B.fromMs + 9 * 60_000, B.toMs + 10 * 60_000)
    await vi.waitFor(() => expect(lastQuery()).toMatchObject({ a: A, b: spanOf(at(3), at(3, 20)) }))
    expect(find('chip-a').text()).toBe('A02:30\u201302:50')
    await find('chip-a').trigger('click')
    await drag(at(8), at(9))
    expect(find('chip-a').text()).toBe('A08:00\u201309:00')
    expect(find('chip-b').text()).toBe('B03:00\u201303:20')
  })

  it('takes an edge of a span and leaves its other end', async () => {
    await open()
    const view = useHistoryStore()
    view.compare(null, spanOf(at(6), at(9)))
    await flushPromises()
    await drag(at(9), at(10))
    expect(view.spans.b).toEqual(spanOf(at(6), at(10)))
    expect(view.setting).toBe('b')
  })

  it('sets spans without a mouse: made, moved, lengthened, taken away', async () => {
    await open()
    const view = useHistoryStore()
    await key('ArrowRight')
    const first = view.spans.a
    expect(first).not.toBeNull()
    expect(first!.toMs).toBeLessThanOrEqual(NOW_MS)
    await key('ArrowLeft')
    const step = first!.fromMs - view.spans.a!.fromMs
    expect(step).toBeGreaterThan(0)
    await key('ArrowRight', { shiftKey: true })
    expect(view.spans.a).toEqual({ fromMs: first!.fromMs - step, toMs: first!.toMs })
    await key('PageUp')
    expect(view.spans.a!.toMs).toBe(first!.fromMs - step)
    await find('chip-b').trigger('click')
    await key('ArrowRight')
    expect(view.spans.b!.fromMs).toBe(view.spans.a!.toMs)
    expect(find('spans').attributes('aria-valuetext')).toContain('\u2013')
    await key('Delete')
    expect(view.spans.b).toBeNull()
    expect(find('spans').attributes('aria-valuetext')).toContain('not set')
  })

  it('sets A to the period before the dragged one by C', async () => {
    await open()
    await drag(B.fromMs, B.toMs)
    press('c')
    await flushPromises()
    expect(useHistoryStore().spans).toEqual({ a: A, b: B })
  })

  it('goes to the instant of a click and of an event, in every view', async () => {
    await open()
    const layer = find('spans')
    await layer.trigger('pointerdown', { button: 0, clientX: xOf(at(9)), pointerId: 1 })
    await layer.trigger('pointerup', { clientX: xOf(at(9)) })
    await vi.waitFor(() => expect(called('goTo')).toEqual([{ atMs: at(9) }]))
    expect(useTimeStore().isPaused).toBe(true)
    expect(useHistoryStore().spans.a).toBeNull()
    await all('since')[1]?.trigger('click')
    await vi.waitFor(() => expect(called('goTo').at(-1)).toEqual({ atMs: at(3, 6) }))
  })

  it('pages through the days that are kept, follows the newest, and asks for a finer line when zoomed', async () => {
    await open()
    expect(find('day-after').attributes('disabled')).toBeDefined()
    expect(lastQuery()).toMatchObject({ dayMs: null, zoom: null })
    await find('day-before').trigger('click')
    await vi.waitFor(() => expect(lastQuery()).toMatchObject({ dayMs: TODAY - DAY }))
    useHistoryStore().showDay(null)
    press('w')
    await vi.waitFor(() => expect(lastQuery()).toMatchObject({ dayMs: null, zoom: spanOf(at(6), at(18)) }))
    press('d')
    await vi.waitFor(() => expect(lastQuery()).toMatchObject({ zoom: spanOf(at(12), at(24)) }))
    await find('zoom-day').trigger('click')
    await vi.waitFor(() => expect(lastQuery()).toMatchObject({ zoom: null }))
    expect(find('zoom-out').attributes('disabled')).toBeDefined()
  })

  it('shows a young store as large as it is', async () => {
    const day = { ...historyFrame().day, gaps: [] }
    await open(historyFrame({ kept: { fromMs: at(14, 30), toMs: NOW_MS }, day }))
    await vi.waitFor(() => expect(lastQuery()).toMatchObject({ zoom: spanOf(at(14, 30), at(14, 32)) }))
  })

  it('shows the day as a table by v, gaps and events in their places', async () => {
    await open(historyFrame({ day: { ...historyFrame().day, t: [at(13, 45), at(14, 10)], values: [80, 90] } }))
    press('v')
    await vi.waitFor(() => expect(all('day-row').length).toBeGreaterThan(3))
    const rows = all('day-row').map((r) => r.text())
    expect(rows.find((r) => r.startsWith('13:50:00'))).toBe('13:50:00gapno data until 14:05:00: console not running')
    expect(rows.some((r) => r.includes('80 ms') && r.startsWith('13:45:00'))).toBe(true)
    expect(rows.some((r) => r.includes('Rule: cap_4601 started by dev, ref 48'))).toBe(true)
  })

  it('goes to a row of that table and to an event under the line by keys', async () => {
    await open()
    const marks = all('lane-mark')
    expect(marks.filter((m) => m.attributes('tabindex') === '0')).toHaveLength(1)
    const last = marks.at(-1)
    ;(last?.element as HTMLElement).focus()
    await last?.trigger('keydown', { key: 'Home' })
    expect(document.activeElement).toBe(marks[0]?.element)
    await flushPromises()
    expect(find('mark-tip').exists()).toBe(true)
    await marks[0]?.trigger('keydown', { key: 'Enter' })
    await vi.waitFor(() => expect(called('goTo')).toHaveLength(1))
    press('v')
    await vi.waitFor(() => expect(all('day-row').length).toBeGreaterThan(3))
    const table = find('day-table')
    await table.trigger('keydown', { key: 'ArrowDown' })
    await table.trigger('keydown', { key: 'ArrowDown' })
    const named = document.getElementById(table.attributes('aria-activedescendant') ?? '')
    expect(named).toBe(all('day-row')[1]?.element)
    expect(called('goTo')).toHaveLength(1)
    await table.trigger('keydown', { key: 'Enter' })
    await vi.waitFor(() => expect(called('goTo')).toHaveLength(2))
    await all('day-row')[2]?.trigger('click', { ctrlKey: true })
    await all('day-row')[0]?.trigger('click')
    await vi.waitFor(() => expect(called('goTo')).toHaveLength(3))
    expect(called('goTo').at(-1)).toEqual({ atMs: Number(all('day-row')[0]?.attributes('data-at')) })
  })

  it('leaves v to another chart that has the focus', async () => {
    await open(compared())
    const chart = find('overlay-chart').element
    if (chart instanceof SVGElement || chart instanceof HTMLElement) chart.focus()
    expect(document.activeElement).toBe(chart)
    press('v')
    await flushPromises()
    expect(useHistoryStore().isTable).toBe(false)
  })

  it('marks the events of what is selected', async () => {
    await open()
    useSelectionStore().choose('rule', 'cap_4601')
    await flushPromises()
    const tied = all('lane-mark').filter((m) => m.classes('tied'))
    expect(tied.length).toBeGreaterThan(0)
    expect(tied.length).toBeLessThan(all('lane-mark').length)
  })

  it('shows names of a cluster as text', async () => {
    const text = '<img src=x onerror=alert(1)>\u202Ecap'
    await open(historyFrame({ since: { leftMs: at(1), marks: [mark(at(2), 'start', text)], more: 3 } }))
    expect(all('since')[0]?.text()).toContain('<img src=x onerror=alert(1)>\u2039202E\u203Acap')
    expect(page.wrapper.find('img').exists()).toBe(false)
    expect(find('since-more').text()).toContain('3 more events')
  })
})

describe('seven days', () => {
  it('hatches only what is missing between samples, and nothing before or after', async () => {
    await openWhole(historyFrame())
    expect(find('week').attributes('data-gaps')).toBe('5')
    const cells = historyFrame().week.reduce((n, { values }) => n + values.filter((v) => v !== null).length, 0)
    expect(find('week').attributes('data-cells')).toBe(String(cells))
  })

  it('shows day, time and value of a cell by key, and makes it B against the quarter hour before', async () => {
    await openWhole(historyFrame())
    const week = find('week')
    await week.trigger('focus')
    expect(find('week-reading').text()).toMatch(/^Thu 19 Nov, 14:30\u201314:45 \d+ ms$/)
    await week.trigger('keydown', { key: 'ArrowUp' })
    await week.trigger('keydown', { key: 'ArrowLeft' })
    expect(week.attributes('aria-valuetext')).toMatch(/^Wed 18 Nov, 14:15\u201314:30: \d+ ms$/)
    await week.trigger('keydown', { key: 'Enter' })
    const fromMs = TODAY - DAY + 14 * HOUR + HOUR / 4
    const expected = { dayMs: TODAY - DAY, a: spanOf(fromMs - HOUR / 4, fromMs), b: spanOf(fromMs, fromMs + HOUR / 4) }
    await vi.waitFor(() => expect(lastQuery()).toMatchObject(expected))
    // A gap can be focused, not selected.
    for (const name of ['Home', 'ArrowUp', 'ArrowUp']) await week.trigger('keydown', { key: name })
    for (let i = 0; i < 10; i++) await week.trigger('keydown', { key: 'ArrowRight' })
    expect(week.attributes('aria-valuetext')).toBe('Mon 16 Nov, 02:30\u201302:45: not measured')
    await week.trigger('keydown', { key: 'Enter' })
    expect(useHistoryStore().spans.b).toEqual(expected.b)
  })
})

/** Chooses an option of a menu. */
async function choose(menu: string, option: string): Promise<void> {
  await find(menu).trigger('keydown', { key: 'Enter' })
  const item = await vi.waitFor(() => {
    const found = document.querySelector<HTMLElement>(`[data-testid="${option}"]`)
    expect(found).not.toBeNull()
    return found
  })
  item?.click()
  await flushPromises()
}

describe('planes', () => {
  const movers = {
    ...compared().movers,
    by: 'metadata_jobs' as const,
    unit: 'op/s',
    name: ['open', 'open', '<b>x</b>'],
    place: ['stages', 'mds', 'stages'],
    jobId: ['4690.train.u1', '4690.train.u1', '<img src=x>'],
    user: ['', '', ''],
    account: ['', '', ''],
    colour: [1, 1, 2],
    a: [10, 20, 0],
    b: [30, 20, 4],
    rest: { names: 2, a: 1, b: 2 },
  }

  it('are offered where they have rows, in the same menus as measures and groups of jobs', async () => {
    await open(compared({ planes: ['locks', 'metadata'] }))
    await choose('measure', 'measure-lock_servers.wait_p95_ms')
    await vi.waitFor(() => expect(lastQuery()).toMatchObject({ measure: 'lock_servers.wait_p95_ms' }))
    await resendFrame(page.host, compared({ planes: ['locks', 'metadata'], measure: 'lock_servers.wait_p95_ms' }))
    expect(find('measure').text()).toBe('Lock servers: Wait, p95')
    expect(find('day-sub').text()).toContain(', ms')
    await choose('movers-by', 'by-metadata_jobs')
    await vi.waitFor(() => expect(lastQuery()).toMatchObject({ by: 'metadata_jobs' }))
    await find('movers-by').trigger('keydown', { key: 'Enter' })
    await vi.waitFor(() => expect(document.querySelector('[data-testid="by-lock_resources"]')).not.toBeNull())
    expect(document.querySelector('[data-testid="by-token_clients"]')).toBeNull()
  })

  it('have rows by job and scope, of which equal names stay apart, and open their view', async () => {
    await open(compared({ planes: ['metadata'], movers }))
    const rows = all('mover')
    expect(rows.map((row) => row.find('[data-col="name"]').text())).toEqual([
      '4690.train.u1 \u00B7 open',
      '4690.train.u1 \u00B7 open',
      '<img src=x> \u00B7 <b>x</b>',
    ])
    expect(new Set(rows.map((row) => row.attributes('data-row'))).size).toBe(3)
    expect(page.wrapper.find('[data-testid="movers"] img').exists()).toBe(false)
    expect(page.wrapper.text()).toContain('op/s, A to B')
    await rows[0]?.trigger('dblclick')
    await vi.waitFor(() => expect(page.router.currentRoute.value.name).toBe('metadata'))
    expect(useSelectionStore().jobId).toBe('4690.train.u1')
  })
})

describe('A against B', () => {
  it('offers the usual spans where none is set', async () => {
    await open()
    await find('preset-10').trigger('click')
    expect(useHistoryStore().spans).toEqual({ a: spanOf(at(14, 12), at(14, 22)), b: spanOf(at(14, 22), at(14, 32)) })
  })

  it('lists who moved with the rest of them, in one unit, and links the selection', async () => {
    await open(compared())
    const rows = all('mover')
    expect(rows[0]?.text()).toContain('4601.hdfwrite.u1102')
    expect(rows[0]?.text()).toContain('+43.3')
    expect(rows[1]?.text()).toContain('\u221215.2')
    expect(find('rest').element.closest('[role=row]')?.textContent).toBe('41 other jobs3.12.9\u22120.2')
    await rows[1]?.trigger('click')
    expect(useSelectionStore().jobId).toBe('4599.cfd_solve.u884')
    press('j')
    expect(useSelectionStore().jobId).toBe('4588.vasp_std.u340')
    press('Enter')
    await vi.waitFor(() => expect(page.router.currentRoute.value.name).toBe('jobs'))
    expect(useSelectionStore().inspectorOpen).toBe(true)
  })

  it('shows the order and the explanations of its columns, and the rest only if there is one', async () => {
    await open(compared())
    const heads = find('movers').findAll('[role=columnheader]')
    expect(heads.map((head) => [head.attributes('data-explain'), head.attributes('aria-sort')])).toEqual([
      [undefined, undefined],
      ['history.a', undefined],
      ['history.b', undefined],
      ['history.change', 'descending'],
    ])
    await resendFrame(page.host, compared({ movers: { ...compared().movers, rest: { names: 0, a: 0, b: 0 } } }))
    expect([find('rest').exists(), find('movers').find('.foot').exists()]).toEqual([false, false])
  })

  it('moves by arrows in its table, with any grouping', async () => {
    await open(compared())
    const named = (): string | undefined =>
      document.getElementById(find('movers').attributes('aria-activedescendant') ?? '')?.dataset['name']
    const type = (key: string) => find('movers').trigger('keydown', { key })
    await type('ArrowDown')
    await type('ArrowDown')
    expect([named(), useSelectionStore().jobId]).toEqual(['4599.cfd_solve.u884', '4599.cfd_solve.u884'])
    press('k')
    await flushPromises()
    expect(named()).toBe('4601.hdfwrite.u1102')
    await choose('movers-by', 'by-account')
    const movers = { ...compared().movers, by: 'account' as const, name: ['climate', 'aero'], a: [1, 2], b: [5, 1] }
    await resendFrame(page.host, compared({ movers }))
    await type('End')
    expect(named()).toBe('aero')
    await type('Enter')
    await vi.waitFor(() => expect(page.router.currentRoute.value.name).toBe('jobs'))
    expect(useJobsTableStore().filter).toBe('account:aero')
  })

  it('groups by user, account and executable at the host', async () => {
    await open(compared())
    await choose('movers-by', 'by-account')
    await vi.waitFor(() => expect(lastQuery()).toMatchObject({ by: 'account' }))
    const movers = { ...compared().movers, by: 'account' as const, name: ['climate', 'aero'], a: [1, 2], b: [5, 1] }
    await resendFrame(page.host, compared({ movers }))
    await all('mover')[0]?.trigger('click')
    expect(useSelectionStore().jobId).toBeNull()
    await all('mover')[0]?.trigger('dblclick')
    await vi.waitFor(() => expect(page.router.currentRoute.value.name).toBe('jobs'))
  })

  it('overlays A and B aligned at their starts, with the rule changes in B', async () => {
    await open(compared())
    const chart = find('overlay-chart')
    expect(chart.attributes('aria-label')).toContain('mean 74 in A')
    const picture = overlayPicture(page.wrapper.findComponent(OverlayChart).props(), palette.value)
    expect(wordsOf(picture)).toContain('cap_4601 started by dev, \u2026')
    expect(picture.layers?.find(({ name }) => name === 'A')?.values.some((v) => v !== null)).toBe(true)
    const ticks = picture.ticks?.({ min: picture.from, max: picture.to }, 544)
    expect(ticks?.map(({ text }) => text)).toContain('20 min')
  })

  it('compares nothing with a span without data', async () => {
    const { overlay } = compared()
    await open(compared({ overlay: { a: { offsetMs: [0], values: [null] }, b: overlay!.b } }))
    expect(find('span-missing').text()).toContain('No data in A')
    expect(all('mover')).toHaveLength(0)
  })

  it('replays B in the sandbox, and only B', async () => {
    await open()
    expect(find('replay').attributes('disabled')).toBeDefined()
    useHistoryStore().compare(A, B)
    await flushPromises()
    await find('replay').trigger('click')
    await vi.waitFor(() => expect(page.router.currentRoute.value.name).toBe('sandbox'))
    expect(page.router.currentRoute.value.query).toEqual({ from: String(B.fromMs), to: String(B.toMs) })
  })
})

describe('without history', () => {
  it('shows that there is no history yet, and its file', async () => {
    await open(historyFrame({ kept: null, week: [] }))
    expect(find('history-none').text()).toContain('No history yet')
    expect(find('history-none').text()).toContain('altair.sqlite')
  })

  it('resets for another source', async () => {
    await open(compared())
    const view = useHistoryStore()
    view.compare(A, B)
    view.showDay(TODAY - DAY)
    view.reset()
    await vi.waitFor(() => expect(lastQuery()).toMatchObject({ dayMs: null, a: null, b: null }))
  })
})
