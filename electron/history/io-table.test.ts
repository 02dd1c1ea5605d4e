import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { csvText } from './csv.ts'
import { History } from './history.ts'
import type { BrwRecord, TimeoutRecord } from './io-table.ts'
import type { JobFacts } from './records.ts'

const NOW = Date.UTC(2026, 0, 2)
const HOUR = 3_600_000
const TARGET = 't-OST0000'
const facts = (jobId: string): JobFacts => ({ jobId, user: '', account: '', nodes: null })
const brw = (more: Partial<BrwRecord> = {}): BrwRecord => ({
  target: TARGET,
  seconds: 60,
  bins: { sizeBytes: [[4096, 1, 2]], timeMs: [[8, 3, 0]] },
  ...more,
})
const timeout = (more: Partial<TimeoutRecord> = {}): TimeoutRecord => ({
  service: 'ost_io',
  cpt: 0,
  current: 5,
  worst: 31,
  worstAtS: 1_767_000_000,
  ...more,
})

let file: string
function open(): History {
  const opened = History.open(file, NOW)
  if (!opened.ok) throw new Error(`${opened.error.what}: ${opened.error.why}`)
  return opened.value
}
beforeEach(() => (file = join(tempFolder(), 'history.sqlite')))

describe('disk I/O and service estimates in the history', () => {
  it('are those of the cursor: the newest reading that is not older than asked, also after a restart', () => {
    const before = open()
    before.beginSource('LIVE', 'prod', '', NOW)
    before.recordBrw(NOW, 'oss01', [brw()])
    before.recordBrw(NOW + 60_000, 'oss01', [brw({ bins: { sizeBytes: [[1024, 7, 0]] } })])
    before.recordTimeouts(NOW, 'oss01', [timeout(), timeout({ cpt: 1, current: 1 })])
    before.recordTimeouts(NOW + 60_000, 'oss01', [timeout({ current: 9 })])
    before.close()
    const again = open()
    again.beginSource('LIVE', 'prod', '', NOW + HOUR)
    expect(again.brwAt(TARGET, 0, NOW + 59_999)).toEqual({ ...brw(), atMs: NOW })
    expect(again.brwAt(TARGET, 0, NOW + HOUR)?.bins).toEqual({ sizeBytes: [[1024, 7, 0]] })
    expect(again.brwAt(TARGET, NOW + 60_000, NOW + HOUR)).toBeUndefined()
    expect(again.brwAt('other', 0, NOW + HOUR)).toBeUndefined()
    expect(again.timeoutsAt('oss01', 0, NOW + 1).map((t) => [t.cpt, t.current])).toEqual([
      [0, 5],
      [1, 1],
    ])
    expect(again.timeoutsAt('oss01', 0, NOW + HOUR).map((t) => t.current)).toEqual([9])
    const reader = again.reader()
    expect([...reader.brwBetween(NOW, NOW + HOUR)].map((b) => [b.atMs, b.target])).toEqual([
      [NOW, TARGET],
      [NOW + 60_000, TARGET],
    ])
    expect([...reader.timeoutsBetween(NOW, NOW + 1)]).toHaveLength(2)
    again.close()
  })

  it('are written as CSV, a row a bin and a row a CPT', () => {
    const history = open()
    history.beginSource('LIVE', 'prod', '', NOW)
    history.recordBrw(NOW, 'oss01', [brw({ target: '=1+1' })])
    history.recordTimeouts(NOW, 'oss01', [timeout()])
    history.flush()
    const text = (what: 'disk' | 'timeouts'): string =>
      [...csvText(history.reader(), { fromMs: NOW, toMs: NOW + 1, what, tier: null, by: 'job' })]
        .map((p) => p.text)
        .join('')
    expect(text('disk')).toBe(
      "time,target,seconds,quantity,up_to,reads,writes\r\n2026-01-02T00:00:00.000Z,'=1+1,60,size_bytes,4096,1,2\r\n" +
        "2026-01-02T00:00:00.000Z,'=1+1,60,time_ms,8,3,0\r\n",
    )
    expect(text('timeouts')).toBe(
      'time,node,service,cpt,estimate_s,worst_s,worst_at\r\n' +
        '2026-01-02T00:00:00.000Z,oss01,ost_io,0,5,31,2025-12-29T09:20:00.000Z\r\n',
    )
    history.close()
  })

  it('are kept for a day', () => {
    const history = open()
    history.beginSource('LIVE', 'prod', '', NOW)
    history.recordBrw(NOW, 'oss01', [brw()])
    history.recordTimeouts(NOW, 'oss01', [timeout()])
    history.record(NOW + 23 * HOUR, [], [], facts)
    expect([history.count('brw_sample'), history.count('service_timeout')]).toEqual([1, 1])
    history.record(NOW + 25 * HOUR, [], [], facts)
    expect([history.count('brw_sample'), history.count('service_timeout')]).toEqual([0, 0])
    history.close()
  })

  it('treat untrusted names as data', () => {
    const history = open()
    history.beginSource('LIVE', 'prod', '', NOW)
    const target = "x'; DROP TABLE brw_sample; --"
    history.recordBrw(NOW, "oss'01", [brw({ target })])
    history.recordTimeouts(NOW, "oss'01", [timeout()])
    history.flush()
    expect(history.brwAt(target, 0, NOW)).toMatchObject({ target })
    expect(history.timeoutsAt("oss'01", 0, NOW)).toHaveLength(1)
    history.close()
  })
})
