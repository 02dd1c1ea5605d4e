import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { evenPartitions, formatCpuDistances, formatCpuPartitions, parseCpuPartitions } from './cpu-partitions.ts'
import { formatDevices, parseDevices } from './devices.ts'
import { formatPoolState, parsePoolState } from './pool-state.ts'
import { formatServiceTimeouts, parseServiceTimeouts } from './service-timeouts.ts'

const READERS = {
  devices: parseDevices,
  'pool.state': parsePoolState,
  cpu_partition_table: parseCpuPartitions,
  timeouts: parseServiceTimeouts,
}

it.each(Object.entries(READERS))('%s names the lines that it cannot read, and never throws', (_, parse) => {
  expect(parse('nonsense\n\nmore').skipped.map((s) => s.line)).toEqual([1, 3])
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(parse(text).skipped.length).toBeLessThanOrEqual(text.split('\n').length)
    }),
  )
})

describe('pool.state', () => {
  const SERVER = `LDLM pool state (ldlm-pool-filter-testfs-OST0000_UUID-2):
  SLV: 1199699
  CLV: 0
  LVF: 100
  GSP: 1%
  GP:  50
  GR:  3
  CR:  4
  GS:  -1
  G:   42
  L:   81600
`

  it('of a server has two fields more than that of a client', () => {
    const { state, skipped } = parsePoolState(SERVER)
    expect(skipped).toEqual([])
    expect(state).toEqual({
      pool: 'ldlm-pool-filter-testfs-OST0000_UUID-2',
      slv: 1199699,
      clv: 0,
      lvf: 100,
      plan: { gsp: 1, gp: 50 },
      gr: 3,
      cr: 4,
      gs: -1,
      granted: 42,
      limit: 81600,
    })
    expect(formatPoolState(state!)).toBe(SERVER)
    const client = SERVER.replace(/ {2}GSP.*\n {2}GP.*\n/, '')
    expect(formatPoolState(parsePoolState(client).state!)).toBe(client)
  })

  it('without a field is invalid', () => {
    expect(parsePoolState(SERVER.replace(/ {2}L: .*\n/, '')).state).toBeUndefined()
    expect(parsePoolState(SERVER.slice(SERVER.indexOf('\n') + 1)).state).toBeUndefined()
  })
})

describe('devices', () => {
  const LIST = `  0 UP osd-ldiskfs testfs-OST0000-osd testfs-OST0000-osd_UUID 4
  1 UP mgc MGC192.168.1.5@tcp 8b7c2a4e-1111-2222-3333-444455556666 4
 12 IN osc testfs-OST0000-osc-ffff8803c9c0f000 8b7c2a4e-1111-2222-3333-444455556667 5
`

  it('are read and printed, with the NIDs of client devices and the reference of the reader where asked for', () => {
    const { devices, skipped } = parseDevices(LIST)
    expect(skipped).toEqual([])
    expect(devices[2]).toMatchObject({ index: 12, status: 'IN', type: 'osc', refs: 5, peer: undefined })
    expect(formatDevices(devices)).toBe(LIST)
    const known = devices.map((d) => (d.type === 'osc' ? { ...d, peer: '192.168.1.5@tcp' } : d))
    expect(formatDevices(known)).toBe(LIST)
    const withNids = LIST.replace(/5\n$/, '5 192.168.1.5@tcp\n')
    expect(formatDevices(known, { peers: true })).toBe(withNids)
    expect(parseDevices(withNids).devices).toEqual(known)
    expect(formatDevices(devices, { readers: 1 })).toBe(LIST.replace(/4$/gm, '5').replace(/5\n$/, '6\n'))
  })
})

describe('cpu_partition_table', () => {
  it('has one line for each CPT', () => {
    const text = '0\t: 0 1\n1\t: 2 3\n'
    expect(formatCpuPartitions(evenPartitions(2, 4))).toBe(text)
    expect(parseCpuPartitions(text)).toEqual({ partitions: evenPartitions(2, 4), skipped: [] })
    expect(evenPartitions(3, 2)).toEqual([[0], [1], [2]])
    expect(formatCpuDistances(2)).toBe('0\t: 0:10 1:10\n1\t: 0:10 1:10\n')
  })
})

describe('timeouts', () => {
  it('has one line for each CPT', () => {
    const text = '   service : cur   5  worst  31 (at 1763670000, 6486s ago)   1   0   1   0 \n'
    const { estimates, skipped } = parseServiceTimeouts(text)
    expect(skipped).toEqual([])
    expect(estimates).toEqual([
      { name: 'service', current: 5, worst: 31, worstAt: 1763670000, ago: 6486, quarters: [1, 0, 1, 0] },
    ])
    expect(formatServiceTimeouts(estimates)).toBe(text)
  })
})
