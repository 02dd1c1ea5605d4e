import { mount, type VueWrapper } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { nextTick } from 'vue'
import type { JobFrame, JobsFrame } from '#core/api/frames.ts'
import { jobsFrame, showJobs } from '#tests/kits/renderer/views/jobs-table.ts'
import { useJobsTableStore } from '../../stores/jobs-table.ts'
import { useSelectionStore } from '../../stores/selection.ts'
import InspectorPairs from './InspectorPairs.vue'
import InspectorRecord from './InspectorRecord.vue'

beforeEach(() => {
  // The table is virtual: without a height it has no rows.
  vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(600)
  vi.spyOn(HTMLElement.prototype, 'clientWidth', 'get').mockReturnValue(1200)
  setActivePinia(createPinia())
})
afterEach(() => void vi.restoreAllMocks())

const frame = (more: Partial<JobsFrame> = {}): JobsFrame => ({
  ...jobsFrame(['1.hog.u1', '2.calm.u2', '3.late.u3', 'login.rsync'], {
    nodes: [1, 2, 4, null],
    record: [-47, 40, 7, 0],
  }),
  pairs: { lender: ['2.calm.u2', '3.late.u3'], borrower: ['1.hog.u1', '1.hog.u1'], tokens: [40, 7] },
  ...more,
})

describe('the table', () => {
  const tied = (wrapper: VueWrapper, tie: string): unknown[] =>
    wrapper.findAll(`.tie-${tie}`).map((row) => row.attributes('data-job'))

  it('marks the lenders of a debt under the pointer, and the borrowers of a loan', async () => {
    const wrapper = await showJobs(frame())
    const record = (id: string) => wrapper.find(`[data-job="${id}"] [data-col="record"]`)
    await record('1.hog.u1').trigger('mouseover')
    expect(tied(wrapper, 'lender')).toEqual(['2.calm.u2', '3.late.u3'])
    expect(tied(wrapper, 'borrower')).toEqual([])
    expect(record('1.hog.u1').attributes('title')).toBe('borrowed 40 from 2.calm.u2\nborrowed 7 from 3.late.u3')
    await record('2.calm.u2').trigger('mouseover')
    expect([tied(wrapper, 'lender'), tied(wrapper, 'borrower')]).toEqual([[], ['1.hog.u1']])
    await wrapper.find('[data-job="2.calm.u2"] [data-col="rpcs"]').trigger('mouseover')
    expect([tied(wrapper, 'lender'), tied(wrapper, 'borrower')]).toEqual([[], []])
    wrapper.unmount()
  })

  it('marks a job as unmapped, counted as one node', async () => {
    const wrapper = await showJobs(frame())
    const cell = wrapper.find('[data-job="login.rsync"] [data-col="nodes"]')
    expect(cell.text()).toBe('1?')
    expect(cell.attributes('title')).toContain('Nodes unknown')
    wrapper.unmount()
  })

  it.each([
    [0, '0', 'ok'],
    [-3, '\u22123', 'bad'],
  ])('says in its foot whether records of %i are even', async (record, text, level) => {
    const wrapper = await showJobs(frame({ totals: { ...frame().totals, record } }))
    const sum = wrapper.find('[data-testid="record-sum"]')
    expect(sum.text()).toContain(text)
    expect(sum.html()).toContain(level)
    wrapper.unmount()
  })
})

describe('open debts in the inspector', () => {
  const pairs = { other: ['a.x', 'b.y'], tokens: [-30, 12], sinceMs: [0, null], more: 0, rest: 0 }
  it('sum to the record, with a warning if not', () => {
    const even = mount(InspectorPairs, { props: { pairs, record: -18 } })
    expect(even.find('[data-testid="pairs-sum"]').text()).toBe('\u221218')
    expect(even.text()).toContain('matches balance')
    expect(even.findAll('[data-testid="pair"]').map((p) => p.text())).toEqual([
      'borrowed froma.x\u221230',
      'lent tob.y+12',
    ])
    expect(mount(InspectorPairs, { props: { pairs, record: -17 } }).text()).toContain('differs from balance')
  })
  it('include a sum of those not listed', () => {
    const other = Array.from({ length: 9 }, (_, i) => `j${i}.x`)
    const many = { other, tokens: other.map(() => 2), sinceMs: other.map(() => null), more: 5, rest: 7 }
    const wrapper = mount(InspectorPairs, { props: { pairs: many, record: 25 } })
    expect(wrapper.findAll('[data-testid="pair"]')).toHaveLength(6)
    expect(wrapper.text()).toContain('8 more')
    expect(wrapper.text()).toContain('+13')
    expect(wrapper.text()).toContain('matches balance')
  })
  it('distinguish unknown from none, and select a job by click', async () => {
    expect(mount(InspectorPairs, { props: { pairs: null, record: null } }).text()).toContain('No longer in memory')
    const none = { other: [], tokens: [], sinceMs: [], more: 0, rest: 0 }
    expect(mount(InspectorPairs, { props: { pairs: none, record: 0 } }).text()).toContain('No outstanding tokens')
    await mount(InspectorPairs, { props: { pairs, record: -18 } })
      .find('[data-testid="pair"]')
      .trigger('click')
    expect(useSelectionStore().jobId).toBe('a.x')
  })
})

describe('the record tab', () => {
  const job = {
    jobId: 'a',
    known: true,
    target: '',
    record: -18,
    share: 0.5,
    entitled: 0.25,
    rpcs: 1,
    ioBytes: null,
    user: '',
    nodes: null,
    serviceMs: null,
    firstSeenMs: null,
    atMs: 0,
    ops: [],
    sizes: [],
    series: { t: [1, 2], record: [0, -18], rpcs: [1, 1], allowed: [5, 5], demand: [2, 3], allocated: [1, 2] },
    pairs: { other: ['b.y'], tokens: [-18], sinceMs: [0], more: 0, rest: 0 },
    ledger: [
      { atMs: 1000, target: 'fs-OST0001', other: 'b.y', kind: 'borrowed', tokens: -20 },
      { atMs: 1000, target: 'fs-OST0001', other: 'b.y', kind: 'repaid', tokens: 2 },
    ],
    targets: { name: ['fs-OST0001'], node: ['n'], rpcs: [1], tokens: [1], record: [-18] },
  } as unknown as JobFrame
  const record = (f: JobFrame) => {
    const stubs = { LineChart: { props: ['lines'], template: '<i class="lines">{{ lines.map((l) => l.id) }}</i>' } }
    return mount(InspectorRecord, { props: { frame: f, chart: f }, global: { stubs } })
  }

  it('draws demand and allocation over served RPCs, and the rates allowed by rules without a controller', () => {
    expect(record(job).text()).toContain('allocated')
    expect(record(job).text()).toContain('"demand"')
    const { t, rpcs } = job.series
    const bare = { ...job, series: { ...job.series, t, rpcs, demand: [null, null], allocated: [null, null] } }
    expect(record(bare).text()).toContain('allowed')
    expect(record(bare).find('.legend').text()).not.toContain('demand')
  })

  it('lists lending and repayment, with the target while all are shown', () => {
    const lines = (f: JobFrame): string[] =>
      record(f)
        .findAll('.lg')
        .map((l) => l.text())
    expect(lines(job)).toEqual([expect.stringMatching(/from b\.y\s*OST0001/), expect.stringMatching(/repaid to b\.y/)])
    expect(lines({ ...job, target: 'fs-OST0001' }).join()).not.toContain('OST0001')
  })

  it('shares its choice of a target with the table', async () => {
    const wrapper = record(job)
    expect(wrapper.find('[aria-label^="Target:"]').text()).toBe('All targets')
    useJobsTableStore().target = 'fs-OST0001'
    await nextTick()
    expect(wrapper.find('[aria-label^="Target:"]').text()).toBe('fs-OST0001')
  })
})
