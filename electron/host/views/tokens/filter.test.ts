import { describe, expect, it } from 'vitest'
import type { TokensFrame } from '#core/api/tokens.ts'
import { noDataNode } from './empty.ts'
import { withClientFilter } from './filter.ts'

const clients: TokensFrame['clients'] = {
  key: ['c1', 'c2', '<b>x</b>'],
  name: ['c1', 'c2', '<b>x</b>'],
  jobId: ['ckpt.ana', '', 'scan.bob'],
  colour: [1, 0, 2],
  state: ['active', 'crashed', 'active'],
  reservation: [9000, 0, 500],
  limit: [null, 4000, 900],
  left: [0, 0, 500],
  held: [10, 0, 0],
  usedReserved: [9000, 0, 0],
  usedPool: [1200, 0, 0],
  yielded: [0, 0, 0],
  queued: [null, 0, 7],
  inFlight: [4, 0, 0],
  isThrottled: [false, true, false],
  isStarved: [false, false, true],
  missed: [0, 0, 3],
  iops: [10_000, null, 90],
  spark: [[], [], []],
  p99Us: [220, null, 1900],
  level: ['ok', 'bad', 'watch'],
  why: ['', 'crashed; its reservation decays', 'missed'],
}
const frame: TokensFrame = {
  seq: 1,
  sample: 4,
  atMs: 4000,
  windowMs: 60_000,
  nodes: ['dn0'],
  node: 'dn0',
  ...noDataNode('period'),
  clients,
}
const keys = (filter: string): readonly string[] | undefined => withClientFilter(frame, filter).filtered?.keys

describe('the filter of clients', () => {
  it.each([
    ['ckpt', ['c1']],
    ['client:c*', ['c1', 'c2']],
    ['<b>', ['<b>x</b>']],
    ['-job:ckpt', ['c2', '<b>x</b>']],
    ['used>10k', ['c1']],
    ['queued>0', ['<b>x</b>']],
    ['limit<=4k', ['c2', '<b>x</b>']],
    ['latency>1k is:starved', ['<b>x</b>']],
    ['is:missing', ['<b>x</b>']],
    ['is:best-effort', ['c2']],
    ['is:throttled', ['c2']],
    ['state:crash why:decays', ['c2']],
    ['-is:idle', ['c1']],
    ['nobody', []],
  ])('%s', (filter, expected) => expect(keys(filter)).toEqual(expected))

  it('leaves every client in the frame: the pool, a form and an inspector are of all', () => {
    const filtered = withClientFilter(frame, 'ckpt')
    expect(filtered.clients).toBe(frame.clients)
    expect(filtered.filtered).toEqual({ filter: 'ckpt', passing: 1, of: 3, keys: ['c1'] })
  })

  it('tells a fault, and is not there when it is empty', () => {
    expect(withClientFilter(frame, 'c1 used>lots')).toEqual({
      ...frame,
      filterError: { column: 4, message: 'lots is not a number such as 500, 5k or 1.5m' },
    })
    expect(withClientFilter(frame, ' ')).toEqual(frame)
  })
})
