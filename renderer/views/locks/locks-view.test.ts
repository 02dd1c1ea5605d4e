import { ORPCError } from '@orpc/client'
import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { StatusFrame } from '#core/api/frames.ts'
import type { LocksFrame } from '#core/api/locks.ts'
import { factTable } from '../../charts/facts.ts'
import { factsOf } from '../../charts/use-chart-facts.ts'
import { useLocksStore } from '../../stores/locks.ts'
import { useSelectionStore } from '../../stores/selection.ts'
import { useSourceStore } from '../../stores/source.ts'
import { useTimeStore } from '../../stores/time.ts'
import LocksView from './LocksView.vue'
import {
  clientsOf,
  ldlmFrame,
  livesOf,
  locksFrame,
  manyRows,
  messagesOf,
  noLocks,
  NOW_MS,
  openLocksHost,
  resourceOf,
  rowsOf,
  SCHEDULE,
  type LocksHost,
} from '#tests/kits/renderer/views/locks-host.ts'

let host: LocksHost
let wrapper: VueWrapper

// Generous, for loaded machines.
vi.setConfig({ testTimeout: 20_000 })
const SOON = { timeout: 5000 }

beforeEach(() => {
  // Lists are virtual: without a height they have no rows.
  vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(600)
  vi.spyOn(HTMLElement.prototype, 'offsetHeight', 'get').mockReturnValue(600)
  vi.spyOn(HTMLElement.prototype, 'offsetWidth', 'get').mockReturnValue(900)
  // Tests have no canvas context.
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(null)
  vi.stubGlobal('matchMedia', () => Object.assign(new EventTarget(), { matches: false }))
  setActivePinia(createPinia())
})
afterEach(() => {
  wrapper.unmount()
  document.body.replaceChildren()
  vi.useRealTimers()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

/** Returns the requested range, as a host does. */
const following =
  (frame: LocksFrame): ((query: LocksHost['queries'][number]) => LocksFrame) =>
  ({ moment, selected }) => ({
    ...frame,
    resource: frame.resource && {
      ...frame.resource,
      ...(moment ? { moment, isFound: false } : {}),
      ...(selected === '' ? {} : { key: selected }),
    },
  })

async function show(frame: LocksHost['frame'] = following(locksFrame())): Promise<void> {
  useSourceStore().apply({
    source: { cluster: 'demo', env: 'DEMO', kind: 'EMULATED' },
    atMs: NOW_MS,
    sample: 40,
    staged: 0,
    clock: { intervalMs: 1000 },
  } as unknown as StatusFrame)
  host = openLocksHost(frame)
  wrapper = mount(LocksView, { attachTo: document.body, global: { stubs: { Sparkline: true } } })
  await vi.waitFor(() => expect(host.acks).toBeGreaterThan(0), SOON)
  const whole = ['cursor', 'ldlm', 'no-plane', 'no-locks-yet'].map((id) => `[data-testid="${id}"]`).join()
  await vi.waitFor(() => expect(wrapper.find(whole).exists()).toBe(true), SOON)
  await flushPromises()
}
const find = (id: string) => wrapper.find(`[data-testid="${id}"]`)
const all = (id: string) => wrapper.findAll(`[data-testid="${id}"]`)
const press = (key: string, target: Element = document.body, more: KeyboardEventInit = {}): KeyboardEvent => {
  const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more })
  target.dispatchEvent(event)
  return event
}
const lastQuery = () => host.queries.at(-1)

describe('resources', () => {
  it('are sorted by contention and show conditions by shape and word', async () => {
    await show()
    expect(all('resource-row')).toHaveLength(6)
    const first = all('resource-row')[0]
    expect(first?.text()).toContain('ckpt.h5 / 3')
    expect(first?.text()).toContain('convoy')
    expect(first?.find('.st.watch').attributes('aria-label')).toBe('warning')
    expect(first?.attributes('aria-selected')).toBe('true')
    expect(find('tile-held').text()).toContain('18\u202F402')
    expect(find('modes').text()).toContain('non-blocking write')
  })

  it('are sorted by a head, filtered by the box, chosen by click and by keys', async () => {
    await show()
    await find('sort-conflicts').trigger('click')
    await vi.waitFor(() => expect(lastQuery()).toMatchObject({ sort: 'conflicts' }))
    await find('filter').setValue('res:ckpt')
    await vi.waitFor(() => expect(lastQuery()).toMatchObject({ filter: 'res:ckpt' }))
    await find('filter').trigger('keydown', { key: 'Escape' })
    await vi.waitFor(() => expect(lastQuery()).toMatchObject({ filter: '' }))
    await all('resource-row')[2]?.trigger('click')
    await vi.waitFor(() => expect(lastQuery()?.selected).toBe('k2'))
    await vi.waitFor(() => expect(all('resource-row')[2]?.attributes('aria-selected')).toBe('true'))
    press('j')
    await vi.waitFor(() => expect(lastQuery()?.selected).toBe('k3'))
    useSelectionStore().clear()
    await vi.waitFor(() => expect(lastQuery()?.selected).toBe(''))
  })

  it('show the column of a filter error', async () => {
    await show(locksFrame({ filterError: { column: 5, message: 'waiting needs a number' } }))
    expect(find('filter-error').text()).toContain('column 5: waiting needs a number. All resources are shown.')
    expect(find('filter').attributes('aria-invalid')).toBe('true')
  })

  it('render and request only the slice in view of ten thousand', async () => {
    const frame = locksFrame({ known: 10_000, shown: 10_000 })
    await show(({ offset, limit }) => ({ ...frame, offset, rows: manyRows(offset, limit) }))
    expect(all('resource-row').length).toBeGreaterThan(10)
    expect(all('resource-row').length).toBeLessThan(70)
    expect(find('resources').attributes('aria-rowcount')).toBe('10001')
  })

  it('are selected by their alert; without alerts the list says so', async () => {
    await show()
    await all('condition')[1]?.trigger('click')
    await vi.waitFor(() => expect(lastQuery()?.selected).toBe('k3'))
    expect(all('condition')[2]?.element.tagName).toBe('P')
    wrapper.unmount()
    await show(locksFrame({ alarms: [] }))
    expect(find('conditions-none').text()).toContain('No convoys')
  })
})

describe('the cursor in a range', () => {
  it('starts on the longest queue and shows holders and waiters', async () => {
    await show()
    expect(all('waiter')[0]?.text()).toContain('c08 PR')
    expect(all('holder')[0]?.text()).toContain('c03 NBW')
    expect(all('holder')[0]?.text()).toContain('blocks 2')
    expect(find('more-waiters').text()).toContain('1 more waiter')
    expect(find('facts').text()).toContain('4\u202F131')
    expect(find('facts').text()).toContain('24 MiB')
    expect(find('callout').text()).toContain('it waits for every flush')
    expect(find('lanes').attributes('aria-valuetext')).toContain('longest c08 PR')
  })

  it('moves by events with arrows, pins its range, and leaves the time cursor alone', async () => {
    await show()
    const lanes = find('lanes')
    const first = press('Home', lanes.element)
    expect(first.defaultPrevented).toBe(true)
    await vi.waitFor(() => expect(lastQuery()?.moment).toEqual({ endMs: NOW_MS - 1200, spanMs: 60 }))
    expect(lastQuery()?.selected).toBe('r3')
    await flushPromises()
    expect(find('cursor-at').text()).toBe('at 0.0 ms')
    press('ArrowRight', lanes.element)
    await flushPromises()
    // The first grant of the schedule is at 1.2 ms, the first request inside the range at 0.95 ms.
    expect(Number(lanes.attributes('aria-valuenow'))).toBeCloseTo(0.95, 2)
    press('ArrowRight', lanes.element)
    await flushPromises()
    expect(Number(lanes.attributes('aria-valuenow'))).toBeCloseTo(1.2, 2)
    press('ArrowLeft', lanes.element)
    await flushPromises()
    expect(Number(lanes.attributes('aria-valuenow'))).toBeCloseTo(0.95, 2)
    press('End', lanes.element)
    await flushPromises()
    expect(find('cursor-at').text()).toBe('at 60.0 ms')
    await vi.waitFor(() => expect(find('moment-how').text()).toBe('pinned'))
    press('b')
    await vi.waitFor(() => expect(lastQuery()?.moment).toBeNull())
    expect(lastQuery()?.selected).toBe('r3')
  })

  it('Esc releases the range first, then the resource', async () => {
    await show()
    press('Home', find('lanes').element)
    await vi.waitFor(() => expect(lastQuery()?.moment).not.toBeNull())
    useSelectionStore().clear()
    await vi.waitFor(() => expect(lastQuery()).toMatchObject({ moment: null, selected: 'r3' }))
    useSelectionStore().clear()
    await vi.waitFor(() => expect(lastQuery()?.selected).toBe(''))
  })

  it('is in a range that arrows in the overview move and whose length can be set', async () => {
    await show()
    press('ArrowLeft', find('overview').element)
    await vi.waitFor(() => expect(lastQuery()?.moment).toEqual({ endMs: NOW_MS - 1230, spanMs: 60 }))
    await vi.waitFor(() => expect(find('moment-how').text()).toBe('pinned'))
    await find('span-200').trigger('click')
    await vi.waitFor(() => expect(lastQuery()?.moment).toEqual({ endMs: NOW_MS - 1260 + 100, spanMs: 200 }))
    await vi.waitFor(() => expect(find('span-200').attributes('aria-pressed')).toBe('true'))
    press('w')
    await vi.waitFor(() => expect(lastQuery()?.moment?.spanMs).toBe(60))
    await vi.waitFor(() => expect(find('span-60').attributes('aria-pressed')).toBe('true'))
    press('Home', find('overview').element)
    await vi.waitFor(() => expect(lastQuery()?.moment?.endMs).toBe(NOW_MS - 10_000 + 60))
  })

  it('can be read as a table', async () => {
    await show()
    press('v')
    await flushPromises()
    expect(find('lives').attributes('aria-rowcount')).toBe(String(SCHEDULE.length + 1))
    const reader = all('life-row').find((row) => row.text().includes('c08'))
    expect(reader?.text()).toContain('waiting')
    expect(reader?.text()).toContain('normal grant')
    press('v')
    await flushPromises()
    expect(find('lanes').exists()).toBe(true)
  })
})

describe('the replay', () => {
  async function open(): Promise<void> {
    await show()
    press('m')
    await flushPromises()
  }
  const place = (): number => Number(/^(\d+) of/.exec(find('replay-place').text())?.[1])

  it('goes message by message, highlights the deciding cell, and pins its range', async () => {
    await open()
    const grant = all('message-row').find((row) => row.text().includes('early grant'))
    await grant?.trigger('click')
    await flushPromises()
    expect(grant?.attributes('aria-selected')).toBe('true')
    expect(find('rule').text()).toContain('early grant (lock compatibility, NBW column)')
    expect(wrapper.find('[data-cell="NBW NBW canceling"]').classes()).toContain('beside')
    expect(wrapper.find('[data-cell="NBW NBW"]').classes()).toContain('waited')
    expect(wrapper.find('[data-cell="PW PW"]').classes()).toEqual(['n'])
    await vi.waitFor(() => expect(lastQuery()?.moment).not.toBeNull())
    const before = place()
    press('.')
    await flushPromises()
    expect(place()).toBe(before + 1)
    press(',')
    press(',')
    await flushPromises()
    expect(place()).toBe(before - 1)
    expect(find('message-lanes').attributes('aria-valuetext')).toMatch(/ms, .* to .*:/)
  })

  it('is operated by arrows while focused, and is available as a table of messages', async () => {
    await open()
    const lanes = find('message-lanes')
    expect(lanes.attributes()).toMatchObject({ role: 'slider', tabindex: '0', 'aria-label': 'Message' })
    const last = all('message-row').length
    press('Home', lanes.element)
    await flushPromises()
    expect([place(), lanes.attributes('aria-valuenow')]).toEqual([1, '1'])
    press('ArrowRight', lanes.element)
    press('ArrowRight', lanes.element)
    press('ArrowLeft', lanes.element)
    await flushPromises()
    expect(place()).toBe(2)
    press('End', lanes.element)
    await flushPromises()
    expect(place()).toBeGreaterThanOrEqual(last)
    const chart = lanes.element.closest('[data-chart]')
    const facts = chart && factsOf(chart)
    if (!facts) throw new Error('no facts')
    const { heads, rows } = factTable(facts, null)
    expect(heads).toEqual(['Sent', 'From', 'To', 'Message', 'Details'])
    expect(rows[1]?.values.every((text) => text !== '')).toBe(true)
    expect(chart.getAttribute('aria-label')).toBe(`Messages in range: ${rows.length} messages`)
  })

  it('plays until it is stopped, at the chosen speed', async () => {
    await open()
    await find('pace-step').trigger('click')
    await all('message-row')[0]?.trigger('click')
    await flushPromises()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    press('Enter')
    await vi.advanceTimersByTimeAsync(2500)
    expect(place()).toBe(4)
    press('Enter')
    await vi.advanceTimersByTimeAsync(5000)
    expect(place()).toBe(4)
    press('Enter')
    await vi.advanceTimersByTimeAsync(1000)
    expect(find('replay-play').text()).toBe('Pause')
    useSelectionStore().clear() // Esc lets go of the moment, and with it of its replay
    await vi.advanceTimersByTimeAsync(5000)
    expect(find('replay-play').text()).toBe('Play')
    expect(useLocksStore().moment).toBeNull()
  })

  it('with reduced motion goes in equal steps', async () => {
    vi.stubGlobal('matchMedia', (query: string) =>
      Object.assign(new EventTarget(), { matches: query.includes('reduced-motion') }),
    )
    await open()
    expect(find('replay-calm').text()).toContain('reduced motion')
    expect(find('pace-1000').exists()).toBe(false)
  })
})

describe('the comparison', () => {
  it('runs on demand and is labelled as a simulation', async () => {
    await show()
    expect(find('compare-note').text()).toBe('simulation, no cluster is accessed')
    await find('compare-run').trigger('click')
    await flushPromises()
    expect(host.compares).toEqual([{ managers: ['seqdlm', 'datatype', 'lustre', 'basic'], seconds: 10 }])
    expect(find('compare').find('[role=progressbar]').exists()).toBe(true)
    press('r') // one at a time
    host.finish()
    await flushPromises()
    expect(host.compares).toHaveLength(1)
    expect(all('compare-bar').map((bar) => bar.text())).toEqual([
      'SeqDLM2\u202F100',
      'DLM-datatype700',
      'DLM-Lustre600',
      'DLM-basicfailed',
    ])
    expect(find('compare-note').text()).toBe('ckpt.h5, 10 s simulated')
  })

  it('shows why it was refused', async () => {
    await show()
    const data = { code: 'BUSY', what: 'Another comparison is under way', next: 'Wait for it' }
    host.refuses = new ORPCError('REFUSED', { defined: true, data })
    await find('compare-run').trigger('click')
    await flushPromises()
    expect(find('compare').text()).toContain('Another comparison is under way')
    expect(find('compare-run').attributes('disabled')).toBeUndefined()
  })
})

describe('empty states', () => {
  it('no lock manager at all', async () => {
    await show(noLocks())
    expect(find('no-plane').text()).toContain('lctl get_param ldlm.namespaces')
  })
  it('no lock yet', async () => {
    await show(locksFrame({ resource: null, rows: rowsOf([]), shown: 0, known: 0, alarms: [] }))
    expect(find('no-locks-yet').exists()).toBe(true)
    expect(find('no-resources').text()).toContain('No resource has locks')
  })
  it('a range that is no longer in memory, and the way back', async () => {
    await show(locksFrame({ resource: resourceOf({ isKept: false, lives: livesOf([]), messages: messagesOf([]) }) }))
    expect(find('not-kept').text()).toContain('no longer in memory')
    expect(find('lanes').exists()).toBe(false)
    expect(find('cursor-lost').text()).toContain('Not available')
    expect(find('callout').exists()).toBe(false)
    await find('lost-follow').trigger('click')
    expect(useLocksStore().moment).toBeNull()
  })
  it('a range without locks, and locks that were not sent', async () => {
    await show(locksFrame({ resource: resourceOf({ lives: livesOf([]), moreLives: 12 }) }))
    await vi.waitFor(() => expect(find('quiet').exists()).toBe(true), SOON)
    expect(find('more-lives').text()).toContain('12 older locks')
    expect(find('callout').text()).toContain('No locks held')
  })
})

describe('the counters of Lustre', () => {
  it('are labelled as all that servers export', async () => {
    await show(ldlmFrame())
    expect(find('counters-only').text()).toContain('export modes, queues or waiters')
    expect(find('missing').text()).toContain('oss03')
    expect(find('missing').text()).toContain('permission denied')
    expect(find('lanes').exists()).toBe(false)
    const rows = all('namespace-row')
    expect(rows.map((r) => r.attributes('data-namespace'))).toEqual([
      'filter-demo-OST0000_UUID',
      'filter-demo-OST0001_UUID',
      'filter-demo-MDT0000_UUID',
    ])
    expect(rows[1]?.text()).toContain('3 lock timeouts')
    expect(rows[2]?.text()).toContain('\u2013') // not exported there
    expect(find('limit-words').text()).toContain('limit 142\u202F000')
  })
  it('are sorted by a head and chosen by keys', async () => {
    await show(ldlmFrame())
    await find('ldlm-sort-timeouts').trigger('click')
    expect(all('namespace-row')[0]?.attributes('data-namespace')).toBe('filter-demo-OST0001_UUID')
    press('k')
    await vi.waitFor(() => expect(lastQuery()?.selected).toBe('filter-demo-MDT0000_UUID'))
    await find('ldlm-sort-limit').trigger('click')
    await find('ldlm-sort-limit').trigger('click')
    // Not exported there: last in both directions.
    expect(all('namespace-row').at(-1)?.attributes('data-namespace')).toBe('filter-demo-MDT0000_UUID')
    await find('plane-seqdlm').trigger('click')
    await vi.waitFor(() => expect(lastQuery()).toMatchObject({ plane: 'seqdlm', selected: '' }))
  })
})

it('shows hostile names as text, everywhere', async () => {
  const bad = '<img src=x onerror=alert(1)>\u202E'
  const base = locksFrame()
  const resource = resourceOf({ name: bad, server: bad, about: bad })
  const hostile = {
    ...resource,
    clients: clientsOf(8).map((c) => ({ ...c, name: bad, jobId: bad })),
    lives: { ...resource.lives, rule: resource.lives.rule.map(() => bad) },
    messages: {
      ...resource.messages,
      text: resource.messages.text.map(() => bad),
      kind: resource.messages.kind.map(() => bad),
    },
  }
  await show(
    locksFrame({
      rows: { ...base.rows, name: base.rows.name.map(() => bad), why: base.rows.why.map(() => bad) },
      alarms: [{ kind: 'convoy', level: 'watch', resource: bad, text: bad, note: bad }],
      manager: bad,
      resource: hostile,
      notices: [{ code: 'X', what: '<script>1</script>' }],
    }),
  )
  for (const key of ['m', 'v']) {
    press(key)
    await flushPromises()
    expect(wrapper.text().split('<img src=x onerror=alert(1)>').length).toBeGreaterThan(8)
    expect(wrapper.text()).not.toContain('\u202E')
  }
  expect(document.querySelector('img, script')).toBeNull()
  wrapper.unmount()
  const { ldlm } = ldlmFrame()
  await show(
    ldlmFrame({
      ldlm: ldlm && {
        ...ldlm,
        namespace: [bad],
        target: [bad],
        node: [bad],
        why: [bad],
        level: ['watch'],
        selected: bad,
        missing: [{ node: bad, reason: bad }],
      },
    }),
  )
  expect(wrapper.text().split('<img src=x onerror=alert(1)>').length).toBeGreaterThan(4)
  expect(wrapper.text()).not.toContain('\u202E')
  expect(document.querySelector('img, script')).toBeNull()
})

describe('the past', () => {
  const HOSTILE = '<img src=x onerror=alert(1)>'
  const convoys = [
    { id: 7, resource: HOSTILE, server: 'ost2', fromMs: NOW_MS - 60_000, toMs: NOW_MS - 59_977, waiting: 17 },
    { id: 3, resource: 'ckpt.h5 / 1', server: 'ost1', fromMs: NOW_MS - 90_000, toMs: NOW_MS - 89_986, waiting: 14 },
  ]
  const t = [NOW_MS - 2000, NOW_MS - 1000, NOW_MS]
  const past = {
    t,
    waiting: [1, 17, 2],
    conflicts: [3, 4, 5],
    revocations: [1, 1, 1],
    waitMean: [2, null, 3],
    waitP95: [9, null, 8],
  }
  const none = resourceOf({ isKept: false, lives: livesOf([]), messages: messagesOf([]), early: null, past })

  it('shows the counters of a resource over the window in place of its locks, and says that those were not recorded', async () => {
    await show(locksFrame({ resource: none, convoys }))
    expect(all('past')).toHaveLength(1)
    expect([find('overview').exists(), find('show-lanes').exists()]).toEqual([false, false])
    const labels = find('past')
      .findAll('[role="img"]')
      .map((chart) => chart.attributes('aria-label') ?? '')
    expect(labels.map((label) => label.split(',')[0])).toEqual([
      'Longest queue',
      'Conflicts and revocations',
      'Wait from request to grant',
    ])
    expect(find('cursor-lost').text()).toContain('single locks are kept for the longest convoys')
  })

  it('lists kept convoys; a click selects the resource and moves the cursor to the end of the convoy', async () => {
    await show(locksFrame({ resource: none, convoys }))
    const goTo = vi.spyOn(useTimeStore(), 'goToTime').mockReturnValue()
    const rows = find('past').findAll('[data-testid="convoy-row"]')
    expect(rows.map((row) => row.find('[data-col="length"]').text())).toEqual(['23.0 ms', '14.0 ms'])
    expect(rows[0]?.text()).toContain(HOSTILE)
    expect(find('past').find('img').exists()).toBe(false)
    await rows[1]?.trigger('click')
    expect(useLocksStore().selected).toBe('ckpt.h5 / 1')
    expect(goTo).toHaveBeenCalledWith(NOW_MS - 89_986)
    expect(find('convoys-open').text()).toContain('2 kept')
  })

  it('shows the change since A of queue and conflicts, and none without a value at A', async () => {
    const rows = rowsOf()
    const against = { waiting: rows.key.map(() => 2), conflicts: rows.key.map((_, i) => (i === 0 ? null : 5)) }
    await show(locksFrame({ rows: { ...rows, against }, against: { atMs: NOW_MS - 60_000 } }))
    const [first] = all('resource-row')
    const waiting = rows.waiting[0] ?? 0
    expect(first?.find('[data-col="waiting"]').attributes('title')).toBe(`A 2, B ${waiting}, +${waiting - 2}`)
    expect(first?.find('[data-col="conflicts"] .d').text()).toBe('\u2013')
    expect([first?.find('[data-col="cancel"]').exists(), first?.find('[data-col="revocations"]').exists()]).toEqual([
      false,
      false,
    ])
  })
})
