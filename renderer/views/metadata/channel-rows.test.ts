import { expect, it } from 'vitest'
import { channelRows, refillText, waitText } from './channel-rows.ts'
import { metadataFrame } from '#tests/kits/renderer/views/metadata-host.ts'

it('finds the rule of a row by its server and service, also if service prefixes or rule names are the same', () => {
  const rule = (service: string) => ({
    service,
    name: 'pl_1',
    rate: 9,
    job: 'a',
    scope: 'open',
    expressions: [{ join: '' as const, field: service, items: ['a'] }],
  })
  const channels = {
    ...metadataFrame().channels,
    key: ['mds01/mdt_readpage/pl_1', 'mds01/mdt/pl_1'],
    channel: ['pl_1', 'pl_1'],
  }
  const compiled = [rule('mds01 mdt'), rule('mds01 mdt_readpage')]
  const rows = channelRows(metadataFrame({ plane: 'mds', channels, compiled }))
  expect(rows.map((r) => r.service)).toEqual(['mds01 mdt_readpage', 'mds01 mdt'])
})

it('shows a dash for unknown values, and no use without a limit', () => {
  const base = metadataFrame()
  const channels = { ...base.channels, limit: [null, 0], measured: [5, 5], waited: [null, 1], waitMs: [null, 12_345] }
  const rows = channelRows({ ...base, channels })
  expect(rows.map((r) => [r.used, r.usedText, r.waitedText, r.wait])).toEqual([
    [null, '\u2013', '\u2013', '\u2013'],
    [null, '\u2013', '100\u202F%', '12.3 s'],
  ])
})

it('uses bytes for data channels', () => {
  const base = metadataFrame()
  const scope = base.channels.key.map((_, i) => (i === 0 ? 'read' : 'meta_op'))
  expect(channelRows({ ...base, channels: { ...base.channels, scope } }).map((r) => r.unit)).toEqual(
    base.channels.key.map((_, i) => (i === 0 ? 'B/s' : 'op/s')),
  )
})

it('formats waits and refill intervals', () => {
  expect([null, 0, 4.56, 12, 9_999, 10_000].map(waitText)).toEqual([
    '\u2013',
    '0.0 ms',
    '4.6 ms',
    '12 ms',
    '9\u202F999 ms',
    '10.0 s',
  ])
  expect([[10, 10], [10, null, 20], [null], []].map(refillText)).toEqual([
    'refill 10 ms',
    'refill 10\u201320 ms',
    '',
    '',
  ])
})
