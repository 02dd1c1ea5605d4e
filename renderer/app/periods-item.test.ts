import { mount, type VueWrapper } from '@vue/test-utils'
import { expect, it, vi } from 'vitest'
import type { ServerPeriodFrame } from '#core/api/periods.ts'
import { freshPage } from '#tests/kits/renderer/view-page.ts'
import { periodText } from '../format/period-text.ts'
import PeriodsItem from './PeriodsItem.vue'

let wrapper: VueWrapper = null!
freshPage(1200, () => wrapper.unmount())

const period = (host: string, more: Partial<ServerPeriodFrame> = {}): ServerPeriodFrame => ({
  host,
  hasOwnClock: true,
  setMs: 100,
  runMs: 100,
  why: '',
  periods: 600,
  missed: 0,
  p50Ms: 100,
  p99Ms: 104.2,
  timesMs: { collect: 12, decide: 1.5, write: 20, readBack: 4 },
  ...more,
})
const slow = period('oss02', {
  runMs: 200,
  why: 'a period of oss02 takes 0.1 s',
  missed: 3,
  p99Ms: 312,
  timesMs: { collect: 60, decide: 1.5, write: 20, readBack: 4 },
})
const item = () => wrapper.get('[data-testid="periods"]')
const rows = () => [...document.querySelectorAll<HTMLTableRowElement>('[data-testid="period-list"] tr[data-host]')]
const cells = (row: HTMLTableRowElement | undefined): string[] =>
  row ? Array.from(row.cells, (c) => c.textContent.trim()) : []

it('names the longest period, its jitter and the missed deadlines, with the parts against their budgets', async () => {
  wrapper = mount(PeriodsItem, { attachTo: document.body, props: { periods: [period('oss01')] } })
  expect(item().text()).toBe('control 100 ms, p99 104 ms')
  expect(item().attributes('data-explain-more')).toContain('Collection: 12 of 40 ms.')
  await wrapper.setProps({ periods: [period('oss01'), slow] })
  expect(item().text()).toContain('200 ms, set to 100 ms, p99 312 ms')
  expect(item().text()).toContain('3 missed')
})

it('lists every server, marks what is over its budget, and gives the reasons of longer periods', async () => {
  const sampled = period('oss03', {
    hasOwnClock: false,
    runMs: 1000,
    why: 'its counters are read by lctl',
    periods: 0,
    p50Ms: null,
    p99Ms: null,
    timesMs: null,
  })
  wrapper = mount(PeriodsItem, { attachTo: document.body, props: { periods: [period('oss01'), slow, sampled] } })
  await item().trigger('click')
  await vi.waitFor(() => expect(rows()).toHaveLength(3))
  expect(cells(rows()[0])).toEqual(['oss01', '100', '100', '104', '0', '12', '1.5', '20', '4.0'])
  expect(rows()[0]?.querySelectorAll('.watch')).toHaveLength(0)
  expect([...(rows()[1]?.querySelectorAll('.watch') ?? [])].map((c) => c.textContent.trim())).toEqual([
    '200',
    '3',
    '60',
  ])
  expect(cells(rows()[2]).slice(1)).toEqual(['1\u202f000', '-', '-', '0', '-', '-', '-', '-'])
  const list = document.querySelector('[data-testid="period-list"]')?.textContent
  expect(list).toContain('a period of oss02 takes 0.1 s')
  expect(list).toContain('its counters are read by lctl')
})

it('is one line on the card of a server', () => {
  expect(periodText(period('oss01'))).toBe('control every 100 ms; p50 100 ms, p99 104 ms')
  expect(periodText(slow)).toBe(
    'control every 200 ms, set to 100 ms; p50 100 ms, p99 312 ms; 3 periods missed in a minute; a period of oss02 takes 0.1 s',
  )
})
