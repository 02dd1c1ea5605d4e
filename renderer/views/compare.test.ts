/** Comparison of two instants: tiles, targets, jobs, rules. */
import { mount } from '@vue/test-utils'
import { describe, expect, it } from 'vitest'
import type { OverviewFrame, Tile } from '#core/api/frames.ts'
import { freshPage } from '#tests/kits/renderer/view-page.ts'
import { jobsFrame, showJobs } from '#tests/kits/renderer/views/jobs-table.ts'
import { jobColumns } from './jobs/columns.ts'
import { comparedFigure, rowsOf } from './jobs/rows.ts'
import { formatComparedTile } from './overview/tiles.ts'
import TargetStrip from './overview/TargetStrip.vue'
import GoneRules from './rules/GoneRules.vue'
import { sinceA, type RuleRow } from './rules/rule-row-model.ts'

const HOSTILE = '<img src=x onerror=alert(1)>\u202E'
freshPage(1300, () => undefined)

describe('a tile', () => {
  const tile = (value: number | null, against: number | null): Tile => ({
    id: 'read',
    value,
    before: 1,
    against,
    spark: [],
    level: 'ok',
  })
  it('shows its value at A and the change, in the unit of its value', () => {
    expect(formatComparedTile(tile(18.4e6, 19e6), 300_000)).toMatchObject({
      value: '18.4',
      change: '\u22120.6',
      note: 'A 19.0',
      sign: -1,
    })
    expect(formatComparedTile(tile(20e6, 19e6), 300_000)).toMatchObject({ change: '+1.0', sign: 1 })
    expect(formatComparedTile(tile(19.01e6, 19e6), 300_000)).toMatchObject({ change: '0.0', sign: 0 })
  })
  it('compares nothing with a gap', () => {
    expect(formatComparedTile(tile(18.4e6, null), 300_000)).toMatchObject({ change: '', note: 'no data at A' })
    expect(formatComparedTile(tile(null, 19e6), 300_000)).toMatchObject({ value: '\u2013', sign: null, note: 'A 19.0' })
  })
})

describe('targets', () => {
  const targets = {
    name: ['fs-OST0000', HOSTILE],
    node: ['oss01', 'oss01'],
    utilisation: [0.5, 0.5],
    serviceMs: [4, null],
    queued: [1, 1],
    imbalance: [1, 1],
    rpcs: [120, 50],
    against: { rpcs: [100, 80], serviceMs: [5.5, 2], queued: [1, null] },
  } as OverviewFrame['targets']
  const show = (isCompared: boolean) => mount(TargetStrip, { props: { targets, touched: [], jobId: null, isCompared } })
  const cells = (wrapper: ReturnType<typeof show>): string[] =>
    wrapper.findAll('[data-testid="target-cell"]').map((cell) => cell.find('b').text())

  it('show the difference, and both instants in words', async () => {
    const wrapper = show(true)
    expect(cells(wrapper)).toEqual(['+20', '\u221230'])
    const [first, second] = wrapper.findAll('[data-testid="target-cell"]')
    expect(first?.attributes('title')).toBe('fs-OST0000 on oss01: A 100, B 120, +20')
    expect(first?.find('.sr').text()).toBe('fs-OST0000: A 100, B 120, +20')
    expect([first?.attributes('data-sign'), second?.attributes('data-sign')]).toEqual(['1', '-1'])
    expect(wrapper.find('img').exists()).toBe(false)
    await wrapper.findAll('button')[1]?.trigger('click')
    expect(cells(wrapper)).toEqual(['\u22121.5 ms', '\u2013 ms'])
    expect(wrapper.findAll('.gap')).toHaveLength(1)
  })
  it('show no difference without a comparison', () => {
    expect(cells(show(false))).toEqual(['50\u202F%', '50\u202F%'])
  })
})

describe('jobs', () => {
  it('have values in the precision of their column, and no change below it', () => {
    expect(comparedFigure('rpcs', 450, 563)).toEqual({ a: '450', b: '563', delta: '+113', sign: 1 })
    expect(comparedFigure('readBps', 10.04e6, 10.01e6)).toEqual({ a: '10.0', b: '10.0', delta: '0', sign: 0 })
    expect(comparedFigure('throttled', 0.31, 0.01)).toMatchObject({ delta: '\u221230\u202F%', sign: -1 })
    expect(comparedFigure('record', 0, 12)).toEqual({ a: '0', b: '+12', delta: '+12', sign: 1 })
    expect(comparedFigure('record', null, 12)).toEqual({ a: '\u2013', b: '+12', delta: '\u2013', sign: null })
  })
  const one = <T>(value: T): T[] => [value]
  const frame = jobsFrame([HOSTILE], {
    rpcs: one(120),
    readBps: one(2e6),
    mdops: one(3),
    throttled: one(0.5),
    record: one(4),
    against: {
      rpcs: one(100),
      readBps: one(2e6),
      writeBps: one(null),
      mdops: one(5),
      throttled: one(0.25),
      record: one(-2),
    },
  })

  it('show A, B and the change in one cell, which a screen reader reads in words', async () => {
    const wrapper = await showJobs(frame, { isCompared: true })
    const cell = (column: string) => wrapper.find(`[data-job] [data-col="${column}"]`)
    expect(cell('rpcs').text()).toBe('A 100B 120change +20')
    expect(cell('rpcs').attributes('title')).toBe('A 100, B 120, +20')
    expect(cell('mdops').find('.d').classes()).toContain('neg')
    expect(cell('record').find('.d').classes()).toContain('pos')
    expect(cell('writeBps').find('.d').text()).toBe('\u2013')
    expect(wrapper.find('img').exists()).toBe(false)
    expect(wrapper.findAll('[data-job] > [role="cell"]')).toHaveLength(13)
    expect(wrapper.find('[data-testid="sort-readBps"]').text()).toBe('ReadMB/s, A, B, change')
    wrapper.unmount()
  })
  it('keep their columns without a comparison', () => {
    expect(rowsOf(frame, 10, false)[0]?.compared).toBeUndefined()
    expect(jobColumns().filter((column) => column.compared)).toEqual([])
    const inWidth = (comparing: 'short' | 'full'): unknown[] => [
      ...new Set(jobColumns(comparing).flatMap((column) => (column.compared ? column.width : []))),
    ]
    expect([inWidth('short'), inWidth('full')]).toEqual([[92], [128]])
  })
})

describe('rules', () => {
  const rule = (patch: Partial<RuleRow>): RuleRow => ({ rateMin: 80, rateMax: 80, ...patch }) as RuleRow
  it('show their change since A', () => {
    expect(sinceA(rule({}))).toBeNull()
    expect(sinceA(rule({ against: { there: false, rateMin: null, rateMax: null } }))?.text).toBe('new since A')
    expect(sinceA(rule({ against: { there: true, rateMin: 80, rateMax: 80 } }))?.kind).toBe('same')
    expect(sinceA(rule({ against: { there: true, rateMin: 100, rateMax: 120 } }))?.text).toBe(
      'A 100\u2013120 \u2192 B 80',
    )
  })
  it('that are gone are named, and counted where they are many', () => {
    const gone = Array.from({ length: 9 }, (_, i) => ({ name: `${HOSTILE}${i}`, conditions: `jobid={${i}}`, rate: 40 }))
    const wrapper = mount(GoneRules, { props: { gone } })
    expect(wrapper.text()).toContain('9 rules removed since A')
    expect(wrapper.text()).toContain('and 3 more')
    expect(wrapper.find('img').exists()).toBe(false)
    expect(wrapper.text()).not.toContain('\u202E')
    expect(mount(GoneRules, { props: { gone: [] } }).text()).toContain('No rules removed since A')
  })
})
