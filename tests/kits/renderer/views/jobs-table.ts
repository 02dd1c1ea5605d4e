/** Frames of the jobs table, and the mounted table. */
import { mount, type VueWrapper } from '@vue/test-utils'
import { expect, vi } from 'vitest'
import type { JobsFrame } from '#core/api/frames.ts'
import JobsTable from '#renderer/views/jobs/JobsTable.vue'

/** Frame of jobs with the same values, and more columns of the rows. */
export function jobsFrame(ids: readonly string[], rows: Partial<JobsFrame['rows']> = {}): JobsFrame {
  const same = <T>(value: T): T[] => ids.map(() => value)
  return {
    seq: 1,
    sample: 9,
    atMs: 0,
    windowMs: 1,
    targets: ['fs-OST0'],
    target: '',
    known: ids.length,
    shown: ids.length,
    offset: 0,
    rows: {
      jobId: [...ids],
      user: same(''),
      account: same(''),
      nodes: same(1),
      colour: same(0),
      rpcs: same(5),
      readBps: same(0),
      writeBps: same(0),
      mdops: same(0),
      ioBytes: same(null),
      topOp: same('write'),
      throttled: same(0),
      rule: same('default'),
      ruleRate: same(null),
      record: same(0),
      spark: same([]),
      ...rows,
    },
    pairs: null,
    totals: { nodes: 7, rpcs: 20, readBps: 0, writeBps: 0, mdops: 0, throttled: 0, rules: 0, record: 0 },
    facets: { account: [], rule: [], is: [] },
    stack: { t: [], series: [] },
    ledger: { t: [], lent: [], borrowed: [], intervalMs: 1 },
  }
}

/** Mounts the table and waits for its rows. */
export async function showJobs(frame: JobsFrame, more: { readonly isCompared?: boolean } = {}): Promise<VueWrapper> {
  const props = {
    frame,
    calm: frame,
    rowHeight: 32,
    paceMs: 0,
    sort: 'rpcs',
    descending: true,
    selected: null,
    ...more,
  } as const
  const wrapper = mount(JobsTable, { props, attachTo: document.body })
  await vi.waitFor(() => expect(wrapper.findAll('[data-job]')).toHaveLength(frame.rows.jobId.length))
  return wrapper
}
