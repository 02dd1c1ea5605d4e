import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, describe, expect, it } from 'vitest'
import type { LinkedFrame, LinkedKind } from '#core/api/linked.ts'
import { capOf, isIdle, isWritable, limitName, RATE_LEAST, ratePerClass } from './propose.ts'
import { useSelectionStore } from './selection.ts'
import { taggedFirst, useTagsStore } from './tags.ts'

beforeEach(() => setActivePinia(createPinia()))

const linked = (kind: LinkedKind, id: string, more: Partial<LinkedFrame> = {}): LinkedFrame => ({
  seq: 1,
  sample: 9,
  atMs: 9000,
  kind,
  id,
  isHere: true,
  jobs: 0,
  job: [],
  target: [],
  rule: [],
  user: [],
  node: [],
  client: [],
  resource: [],
  ...more,
})

describe('the selection', () => {
  it('is one thing of any kind, and a job only where a job is chosen', () => {
    const selection = useSelectionStore()
    selection.select('4690.python.u1021', { inspect: true })
    expect([selection.jobId, selection.inspectorOpen]).toEqual(['4690.python.u1021', true])
    selection.choose('target', 'OST0003')
    expect([selection.jobId, selection.inspectorOpen, selection.tied('target', 'OST0003')]).toEqual([
      null,
      false,
      'chosen',
    ])
    selection.jobId = null // a view lets go of a job: of nothing else
    expect(selection.selected?.id).toBe('OST0003')
    selection.clear()
    expect([selection.selected, selection.query]).toEqual([null, null])
  })

  it('marks entities linked by the host, and none of the previous selection', () => {
    const selection = useSelectionStore()
    selection.choose('target', 'OST0003')
    selection.apply(linked('target', 'OST0003', { job: ['a', 'b'], node: ['oss02'] }))
    expect([selection.tied('job', 'a'), selection.tied('node', 'oss02'), selection.tied('job', 'c')]).toEqual([
      'linked',
      'linked',
      null,
    ])
    selection.choose('user', 'ana')
    expect([selection.tied('job', 'a'), selection.tied('user', 'ana')]).toEqual([null, 'chosen'])
  })

  it('reports that it is not in the sample', () => {
    const selection = useSelectionStore()
    selection.select('gone')
    selection.apply(linked('job', 'gone', { isHere: false }))
    expect(selection.linked?.isHere).toBe(false)
  })
})

it('keeps tags by table, tagged rows first in their order', () => {
  const tags = useTagsStore()
  for (const id of ['c', 'b']) tags.toggle('jobs', id)
  const rows = ['a', 'b', 'c'].map((id) => ({ id }))
  expect(taggedFirst(rows, tags.of('jobs')).map(({ id }) => id)).toEqual(['b', 'c', 'a'])
  tags.toggle('jobs', 'b')
  expect([tags.of('jobs').has('b'), tags.of('rules').size, tags.count]).toEqual([false, 0, 1])
  tags.clear()
  expect(tags.count).toBe(0)
})

describe('a proposed cap', () => {
  const job = (rpcs: readonly (number | null)[], share: number | null = null, entitled: number | null = null) => ({
    series: { t: rpcs.map((_, i) => 1000 * i), rpcs: [...rpcs], record: [], allowed: [], demand: [], allocated: [] },
    firstSeenMs: 2000,
    share,
    entitled,
  })
  it('is the entitlement by nodes of the rate of its targets, else half of the mean rate of the window', () => {
    const window = { meanRpcs: 400, windowMs: 60_000 }
    expect(capOf(job([400], 0.4, 0.1), 60_000)).toBeNull()
    expect(capOf(job([0, 0, 300, null, 500], 0.4, 0.1), 60_000)).toEqual({ rpcs: 100, isEntitled: true, ...window })
    // Neither a burst nor a pause at the cursor decides, nor the time before the job began.
    for (const rpcs of [
      [0, 0, 790, 400, 10],
      [0, 0, 10, 400, 790],
    ])
      expect(capOf(job(rpcs), 60_000)).toEqual({ rpcs: 200, isEntitled: false, ...window })
  })
  it('is never below the least rate, and an idle job has none', () => {
    expect(capOf(job([0, 0, 6, 6, 6]), 60_000)).toMatchObject({ rpcs: RATE_LEAST, meanRpcs: 6 })
    expect([isIdle(6), isIdle(4.9), isIdle(0)]).toEqual([false, true, true])
  })
  it('is divided by the number of classes, and has a valid rule name', () => {
    expect([ratePerClass({ rpcs: 100 }, 8), ratePerClass({ rpcs: 20 }, 8)]).toEqual([13, RATE_LEAST])
    expect([limitName('4690.python.u1021'), isWritable('a b'), isWritable('a.b')]).toEqual(['cap_4690', false, true])
  })
})
