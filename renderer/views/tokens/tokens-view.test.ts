import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { describe, expect, it, vi } from 'vitest'
import type { TokensFrame } from '#core/api/tokens.ts'
import { freshPage, resendFrame, showSource } from '#tests/kits/renderer/view-page.ts'
import { useSelectionStore } from '../../stores/selection.ts'
import { useTimeStore } from '../../stores/time.ts'
import { useTokensStore } from '../../stores/tokens.ts'
import {
  allZero,
  CLIENTS,
  clientsOf,
  manyClients,
  noNode,
  NOW_MS,
  openTokensHost,
  tokensFrame,
  type TokensHost,
} from '#tests/kits/renderer/views/tokens-host.ts'
import { placedOf, wordsOf } from '#tests/kits/renderer/picture-parts.ts'
import { plotArea, type Picture } from '../../charts/picture.ts'
import { poolPicture } from '../../charts/pool-chart.ts'
import PoolChart from '../../charts/PoolChart.vue'
import { gaugePicture } from '../../charts/pool-gauge.ts'
import PoolGauge from '../../charts/PoolGauge.vue'
import { palette } from '../../theme/palette.ts'
import TokensView from './TokensView.vue'

let host: TokensHost
let wrapper: VueWrapper

vi.setConfig({ testTimeout: 20_000 })
freshPage(1200, () => wrapper.unmount())

async function show(frame: TokensFrame = tokensFrame(), kind = 'EMULATED'): Promise<void> {
  showSource(NOW_MS, kind)
  host = openTokensHost(frame)
  wrapper = mount(TokensView, { attachTo: document.body, global: { stubs: { Sparkline: true } } })
  await vi.waitFor(() => expect(host.acks).toBeGreaterThan(0))
  await flushPromises()
}
const resend = (frame: TokensFrame): Promise<void> => resendFrame(host, frame)
const find = (id: string) => wrapper.find(`[data-testid="${id}"]`)
const clients = (): (string | undefined)[] =>
  wrapper.findAll('[data-testid=client]').map((c) => c.attributes('data-client'))
const press = (key: string, target: EventTarget = document.body): void => {
  target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
}
const GAUGE = { width: 198, height: 300 }
const gauge = (): Picture => gaugePicture(wrapper.findComponent(PoolGauge).props(), palette.value, GAUGE)
const poolChart = (): Picture => poolPicture(wrapper.findComponent(PoolChart).props(), palette.value)
const gaugeBlock = (name: string) => gauge().layers?.find((layer) => layer.name === name)?.values

describe('the pool', () => {
  it('has the same zero line as the chart, debt below it, and a label for the lowest mark', async () => {
    await show()
    const { pool } = tokensFrame()
    const area = plotArea(gauge(), GAUGE)
    const zero = placedOf(gauge(), GAUGE).segments?.at(-1)
    expect([zero?.from[1], zero?.to[1]]).toEqual([area.y(0), area.y(0)])
    expect(poolChart().levels?.map(({ value }) => value)).toEqual([0])
    expect(poolChart().ends).toEqual(gauge().ends)
    // From zero downwards, and from zero upwards.
    expect(pool.lowest).toBeLessThan(0)
    expect(gaugeBlock('lowest')).toEqual([pool.lowest, pool.lowest])
    expect(pool.now).toBeGreaterThan(0)
    expect(gaugeBlock('now')).toEqual([pool.now, pool.now])
    expect(wordsOf(gauge(), GAUGE)).toContain('start 314 k')
    expect(wordsOf(poolChart())).toContain('lowest \u221212.6 k at 0.929 s, 13 empty fetches')
    expect(find('pool-chart').attributes('aria-label')).toContain('Pool over period 417')
    expect(find('pool-gauge').attributes('aria-label')).toContain('8\u202F400 tokens')
  })

  it('keeps its zero line when the next sample is calm', async () => {
    await show()
    const before = plotArea(gauge(), GAUGE).y(0)
    expect(gaugeBlock('lowest')).toBeDefined()
    const { pool } = tokensFrame()
    await resend(tokensFrame({ seq: 2, pool: { ...pool, now: 250_000, lowest: 200_000 } }))
    expect(plotArea(gauge(), GAUGE).y(0)).toBe(before)
    expect(gaugeBlock('lowest')).toBeUndefined()
  })

  it('draws a gap as a gap', async () => {
    const { series } = tokensFrame()
    await show(tokensFrame({ series: { ...series, pool: series.pool.map((v, i) => (i > 60 && i < 90 ? null : v)) } }))
    expect(find('pool-chart').attributes('data-gaps')).toBe('1')
    expect(poolChart().ranges?.filter(({ fill }) => fill === 'gap')).toHaveLength(1)
  })

  it('is shown over the minute without the phases of one period', async () => {
    await show()
    expect(find('phases').attributes('aria-label')).toContain('Phase now: report every 1 ms, convert')
    await find('span-minute').trigger('click')
    await vi.waitFor(() => expect(host.queries.at(-1)?.span).toBe('minute'))
    await vi.waitFor(() => expect(find('phases').exists()).toBe(false))
    expect(wrapper.text()).toContain('Pool over the last minute')
  })

  it('is absent without tokens, with the reason', async () => {
    const none = {
      now: null,
      start: null,
      lowest: null,
      lowestAtMs: null,
      emptyFetches: 0,
      reported: null,
      target: null,
    }
    const { series } = tokensFrame()
    await show(tokensFrame({ variant: 'bare', pool: none, series: { ...series, pool: series.pool.map(() => null) } }))
    expect(find('no-pool').text()).toContain('no tokens are handed out')
    expect(wordsOf(gauge(), GAUGE)).toContain('no pool')
  })

  it('marks periods in which a reservation was missed, and a press moves the cursor there', async () => {
    await show()
    expect(wrapper.findAll('[data-testid=missed-mark]')).toHaveLength(3)
    const box = find('epochs').findAll('button')[5]
    expect(box?.text().replace(/\s+/g, ' ')).toContain('416, reservation missed by c07')
    await box?.trigger('click')
    expect(useTimeStore().isPaused).toBe(true)
  })
})

describe('clients', () => {
  it('are cards with their states', async () => {
    await show()
    expect(clients()).toEqual(CLIENTS.map((c) => c.key))
    const c07 = wrapper.find('[data-client=c07]')
    expect(c07.text()).toContain('missed 3')
    expect(c07.text()).toContain('starved')
    expect(c07.classes()).toContain('watch')
    expect(wrapper.find('[data-client=c10]').text()).toContain('best effort')
    expect(wrapper.find('[data-client=c09] button').attributes('aria-label')).toContain('88\u202F000 from the pool')
  })

  it('are selected by j, k and clicks, with their jobs; Esc clears both', async () => {
    await show()
    press('j')
    press('j')
    await flushPromises()
    expect(useTokensStore().client).toBe('c02')
    await wrapper.find('[data-client=c06]').trigger('click')
    expect(useSelectionStore().jobId).toBe('4690.python.u1021')
    expect(wrapper.find('[data-client=c06]').classes()).toContain('sel')
    press('Enter')
    await flushPromises()
    expect(find('client-facts').text()).toContain('115\u202F000')
    press('Backspace')
    await flushPromises()
    expect(find('tokens-inspector').exists()).toBe(false)
    useSelectionStore().clear()
    await flushPromises()
    expect(useTokensStore().client).toBe('')
  })

  it('that belong to a job selected elsewhere are marked', async () => {
    await show()
    useSelectionStore().select('4690.python.u1021')
    await flushPromises()
    expect(wrapper.find('[data-client=c06]').classes()).toContain('linked')
  })

  it('are rows when there are many, of which only those in view are on the page', async () => {
    await show(manyClients(500))
    expect(find('clients-table').attributes('aria-rowcount')).toBe('501')
    expect(clients().length).toBeGreaterThan(5)
    expect(clients().length).toBeLessThan(40)
    await find('sort-missed').trigger('click')
    await flushPromises()
    expect(clients()[0]).toBe('n7')
    expect(wrapper.find('[aria-sort=descending]').text()).toContain('Missed')
    expect(find('client-count').text()).toBe('500 clients')
  })

  it('as rows keep their selection, details and edit button, and leave Space to pause', async () => {
    await show(manyClients(500))
    const row = (id: string) => wrapper.find(`[data-client=${id}]`)
    const [first = '', second = ''] = clients()
    await row(first).trigger('click')
    await find('clients-table').trigger('keydown', { key: 'ArrowDown' })
    expect(useTokensStore().client).toBe(second)
    expect(row(second).attributes('aria-selected')).toBe('true')
    const space = new KeyboardEvent('keydown', { key: ' ', cancelable: true })
    find('clients-table').element.dispatchEvent(space)
    expect(space.defaultPrevented).toBe(false)
    await find('clients-table').trigger('keydown', { key: 'Enter' })
    expect(useTokensStore().inspector).toBe('client')
    await row(first).find('[data-testid=client-edit]').trigger('click')
    expect(useTokensStore().editing).toBe(first)
    expect(wrapper.findAll('[role=columnheader]')).toHaveLength(14)
  })

  it('may be one, or none', async () => {
    await show(tokensFrame({ clients: clientsOf([{ key: 'only', reservation: 5 }]) }))
    expect(clients()).toEqual(['only'])
    await resend(tokensFrame({ seq: 2, clients: clientsOf([]) }))
    expect(find('no-clients').text()).toContain('No client is admitted')
  })

  it('keep their places while hovered', async () => {
    await show()
    useTokensStore().sortBy('used')
    await flushPromises()
    const before = clients()
    expect(before[0]).toBe('c10')
    await wrapper.find('.cards').trigger('mouseenter')
    const turned = CLIENTS.map((c, i) => ({ ...c, usedPool: 1000 * i * i, usedReserved: i === 2 ? 900_000 : 0 }))
    await resend(tokensFrame({ seq: 2, clients: clientsOf(turned) }))
    expect(clients()).toEqual(before)
  })
})

describe('variant and preset', () => {
  it('are changed, shown immediately, and a refusal is reported', async () => {
    await show()
    await find('variant-basic').trigger('click')
    await flushPromises()
    expect(host.calls.at(-1)).toEqual({ verb: 'change', input: { node: 'dn0', variant: 'basic' } })
    expect(find('variant-basic').attributes('aria-pressed')).toBe('true')
    host.refuses = new Error('the emulator stands still')
    await find('variant-bare').trigger('click')
    await flushPromises()
    expect(find('variant-basic').attributes('aria-pressed')).toBe('true')
    expect(wrapper.text()).toContain('the emulator stands still')
  })

  it('show the reasons why paper-literal fails', async () => {
    await show()
    expect(find('literal').exists()).toBe(false)
    await find('preset-paper-literal').trigger('click')
    await flushPromises()
    expect(find('literal').text()).toContain('takes tokens from clients that have a backlog')
    expect(find('literal').text()).toContain('re-issues tokens')
    expect(find('literal').text()).toContain('freezes the estimate')
  })
})

describe('states', () => {
  it('without a data node shows the reason and the next step', async () => {
    await show(noNode())
    expect(find('no-node').text()).toContain('The running scenario has no data node')
    expect(find('pool-gauge').exists()).toBe(false)
  })
  it('on a live cluster shows that its servers see every request', async () => {
    await show(noNode(), 'LIVE')
    expect(find('no-node').text()).toContain('its servers handle every request')
  })
  it('no longer in memory leads back to live', async () => {
    await show(tokensFrame({ isKept: false }))
    useTimeStore().goTo(3)
    await find('not-kept').find('button').trigger('click')
    expect(useTimeStore().isPaused).toBe(false)
  })
  it('with only zeros draws zeros', async () => {
    await show(allZero())
    expect(wrapper.html()).not.toMatch(/NaN|Infinity|undefined/)
    expect(find('foot-cpu').text()).toContain('no data I/O yet')
  })
  it('shows CPU events of data I/O as bad', async () => {
    const { foot } = tokensFrame()
    await show(tokensFrame({ foot: { ...foot, dataCpuEvents: 2 } }))
    expect(find('foot-cpu').classes()).toContain('bad')
    expect(find('foot-cpu').text()).toContain('must be 0')
  })
})

it('lists events by kind, and every term', async () => {
  await show()
  await find('events-open').trigger('click')
  await flushPromises()
  expect(wrapper.findAll('[data-testid=token-event]')).toHaveLength(6)
  expect(wrapper.find('[data-testid=token-event]').text()).toContain('reservation missed 3 periods in a row')
  await wrapper.find('button[data-term=omega]').trigger('click')
  await flushPromises()
  expect(find('tokens-inspector').text()).toContain('Capacity of the data node per period')
})

it('marks terms for their explanations', async () => {
  await show()
  expect(wrapper.find('[data-client=c01] [data-term=left]').attributes('data-explain')).toBe('tokens.left')
})

it('shows hostile names as text, everywhere', async () => {
  const bad = '<img src=x onerror=alert(1)>'
  const base = tokensFrame()
  await show(
    tokensFrame({
      nodes: [bad],
      node: bad,
      clients: clientsOf([
        { key: bad, name: bad, jobId: bad, why: bad, missed: 2, reservation: 5 },
        { key: 'b', name: 'safe\u202Egnp' },
      ]),
      epochs: base.epochs.map((e) => ({ ...e, missed: [bad] })),
      capacity: { ...base.capacity, action: bad, marks: [{ epoch: 400, text: bad }] },
      foot: { ...base.foot, worst: { client: bad, periods: 3, alertAfter: 10 } },
      events: [{ atMs: NOW_MS, kind: bad, level: 'watch', client: bad, text: bad }],
      notices: [{ code: 'X', what: bad }],
    }),
  )
  useTokensStore().select(bad, bad)
  useTokensStore().inspector = 'client'
  await flushPromises()
  useTokensStore().editing = bad
  await flushPromises()
  useTokensStore().inspector = 'events'
  await flushPromises()
  expect(document.body.textContent?.split(bad).length).toBeGreaterThan(8)
  expect(document.querySelector('img, script')).toBeNull()
  expect(document.body.textContent).not.toContain('\u202E')
})

it('keeps what was typed and chosen while another view is on screen', async () => {
  await show()
  useTokensStore().keep('dn0', 'c07', { reservation: '12', limit: '' })
  useTokensStore().sortBy('missed')
  wrapper.unmount()
  wrapper = mount(TokensView, { attachTo: document.body, global: { stubs: { Sparkline: true } } })
  await vi.waitFor(() => expect(clients()[0]).toBe('c07'))
  expect(useTokensStore().draftOf('dn0', 'c07')?.reservation).toBe('12')
  expect(useTokensStore().draftOf('dn1', 'c07')).toBeNull()
})

describe('the filter', () => {
  const filtered = (keys: string[]) => ({ filter: 'c', passing: keys.length, of: CLIENTS.length, keys })
  const keys = (): string[] => [...tokensFrame().clients.key]

  it('is opened by / and applied by the host, and Esc returns to the list with its focus', async () => {
    await show()
    press('/')
    expect(document.activeElement?.getAttribute('data-testid')).toBe('filter')
    await find('filter').setValue('is:missing')
    await vi.waitFor(() => expect(host.queries.at(-1)?.filter).toBe('is:missing'))
    const [first = '', second = ''] = keys()
    await resend(tokensFrame({ seq: 2, filtered: filtered([second]) }))
    expect(clients()).toEqual([second])
    expect(find('filter-count').text()).toBe(`1 of ${CLIENTS.length}`)
    press('Escape', find('filter').element)
    await vi.waitFor(() => expect(host.queries.at(-1)?.filter).toBe(''))
    await vi.waitFor(() =>
      expect(document.activeElement?.closest('[data-client]')?.getAttribute('data-client')).toBeDefined(),
    )
    await resend(tokensFrame({ seq: 3 }))
    expect(clients()).toContain(first)
  })

  it('leaves the pool, the selected client in its inspector and its form as they are', async () => {
    const [first = '', second = ''] = keys()
    await show(tokensFrame({ filtered: filtered([second]) }))
    const view = useTokensStore()
    view.filter = 'c'
    view.select(first, '')
    view.inspector = 'client'
    await flushPromises()
    expect(clients()).toEqual([second])
    expect(wrapper.find('.inspector').text()).toContain(first)
    expect(wordsOf(gauge(), GAUGE)).toContain('start 314 k')
  })

  it('reports that no client passes, with a button to clear it', async () => {
    useTokensStore().filter = 'nobody'
    await show(tokensFrame({ filtered: { ...filtered([]), filter: 'nobody' } }))
    expect(find('filtered-out').text()).toContain('clients matches nobody.')
    expect(find('no-clients').exists()).toBe(false)
    const filter = wrapper.find<HTMLInputElement>('[data-testid="filter"]')
    filter.element.focus()
    await filter.trigger('keydown', { key: 'Escape' })
    expect(useTokensStore().filter).toBe('')
    await resend(tokensFrame({ seq: 2 }))
    await vi.waitFor(() => expect(document.activeElement?.closest('[data-client]')).not.toBeNull())
  })
})
